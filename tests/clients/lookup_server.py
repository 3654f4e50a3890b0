"""A small read-only MCP server with one slow tool: over stdio as a program, over HTTP inside a test.

Of every run of its tool it writes a line to a file, so that runs can be counted from outside. Standard
library only, so that it starts at once.
"""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

SLOW_S = 0.4
LOOKUP = {
    "name": "lookup",
    "description": "Looks a topic up.",
    "inputSchema": {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


def answer(message: dict[str, Any], name: str, runs: Path) -> dict[str, Any] | None:
    """The response to a JSON-RPC message; None for a notification. Runs of the tool take their time."""
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        return None
    match method:
        case "initialize":
            result: dict[str, Any] = {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": name, "version": "1"},
            }
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": [LOOKUP]}
        case "tools/call":
            arguments = params.get("arguments") or {}
            _run(arguments, runs)
            result = {"content": [{"type": "text", "text": f"{name} knows of {arguments.get('topic')}: it is fine."}]}
        case _:
            error = {"code": -32601, "message": f"no {method}"}
            return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _run(arguments: dict[str, Any], runs: Path) -> None:
    with runs.open("a", encoding="utf-8") as file:
        file.write(json.dumps(arguments, sort_keys=True) + "\n")
    time.sleep(SLOW_S)


def main() -> None:
    """Serve stdio, requests side by side: `lookup_server.py NAME RUNS`."""
    name, runs = sys.argv[1], Path(sys.argv[2])
    lock = threading.Lock()

    def reply(message: dict[str, Any]) -> None:
        said = answer(message, name, runs)
        if said is not None:
            with lock:
                sys.stdout.write(json.dumps(said) + "\n")
                sys.stdout.flush()

    threads = []
    for line in sys.stdin:
        if line.strip():
            threads.append(threading.Thread(target=reply, args=(json.loads(line),)))
            threads[-1].start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
