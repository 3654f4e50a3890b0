# ruff: noqa: UP031, C901 - JSON written by hand reads best with %s
"""A small stdio MCP server that does what the official ones cannot be made to do; run as a program.

With the argument `modern` it knows only the stateless protocol of 2026-07-28, else only the older ones.
It writes its JSON in its own way (key order, white space), so that a re-serialised answer shows.
"""

import json
import sys
from typing import Any

MODERN = "modern" in sys.argv
TOOLS = ("echo", "count", "big", "progress", "fail", "die", "hang", "roots", "notify", "release")
count = 0
roots_wanted_by: Any = None
hanging: list[Any] = []


def write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(number: Any, result: str) -> None:
    write('{"result": ' + result + ',  "jsonrpc":"2.0", "id":' + json.dumps(number) + "}")


def content(text: str, *, error: bool = False) -> str:
    extra = ', "resultType":"complete"' if MODERN else ""
    flag = "true" if error else "false"
    return '{"isError": %s, "content":[ {"type":"text","text":%s} ]%s}' % (flag, json.dumps(text), extra)


def call(number: Any, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    global count, roots_wanted_by
    match name:
        case "echo":
            answer(number, content(arguments.get("text", "")))
        case "count":
            count += 1
            answer(number, content(str(count)))
        case "big":
            answer(number, content("x" * arguments["size"]))
        case "progress":
            token = json.dumps(meta.get("progressToken"))
            for step in range(3):
                write(
                    '{"jsonrpc":"2.0","method":"notifications/progress",'
                    f'"params":{{"progressToken":{token},"progress":{step}.0,"total":3}}}}'
                )
            answer(number, content("made progress"))
        case "fail":
            answer(number, content("no luck", error=True))
        case "die":
            sys.stderr.write("about to die\nfor a reason\n")
            sys.stderr.flush()
            sys.exit(arguments.get("code", 7))
        case "hang":
            hanging.append(number)
        case "release":
            while hanging:
                answer(hanging.pop(), content("released"))
            answer(number, content("done"))
        case "roots":
            roots_wanted_by = number
            write('{"jsonrpc":"2.0", "id":"srv-1", "method":"roots/list"}')
        case "notify":
            write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
            answer(number, content("told"))
        case _:
            write('{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Unknown tool"}}' % json.dumps(number))


def request(number: Any, method: str, params: dict[str, Any]) -> None:
    match method:
        case "initialize" if not MODERN:
            version = params["protocolVersion"]
            answer(
                number,
                '{"protocolVersion":"%s","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}'
                % version,
            )
        case "server/discover" if MODERN:
            answer(number, '{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}')
        case "tools/list":
            listed = ",".join('{"name":"%s","inputSchema":{"type":"object"}}' % name for name in TOOLS)
            answer(number, '{"tools":[' + listed + "]}")
        case "tools/call":
            call(number, params["name"], params.get("arguments") or {}, params.get("_meta") or {})
        case "ping":
            answer(number, "{}")
        case _:
            write('{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}' % json.dumps(number))


def main() -> None:
    for line in sys.stdin:
        read = json.loads(line)
        for message in read if isinstance(read, list) else [read]:
            take(message)


def take(message: dict[str, Any]) -> None:
    if "method" in message and "id" in message:
        request(message["id"], message["method"], message.get("params") or {})
    elif message.get("method") == "notifications/cancelled":
        gone = message["params"]["requestId"]
        if gone in hanging:
            hanging.remove(gone)
            sys.stderr.write(f"cancelled {gone}\n")
            sys.stderr.flush()
    elif message.get("id") == "srv-1":
        answer(roots_wanted_by, content(json.dumps(message.get("result", message.get("error")))))


if __name__ == "__main__":
    main()
