"""Claude Code's PreToolUse hook for Bash; run as a program: `claude_pre.py URL SESSION FOLDER PLACE ALLOWED`.

Where the sidecar has the command's result, the command becomes one that shows it, and Claude Code puts it into
its own form. In every other case nothing is said and the command runs as always. PLACE is a private folder for
results; ALLOWED says that Bash needs no permission, so that changing the command cannot change what is asked.
Standard library only, so that `python -I -S` starts it at once.
"""

import json
import os
import socket
import sys

_TOOL = "read_shell"
_PLAIN = {"command", "description"}
_WAIT_S = 60.0


def main(url: str, session: str, folder: str, place: str, allowed: str) -> None:
    """Answer the hook's question on stdin."""
    asked = json.load(sys.stdin)
    given = asked.get("tool_input") or {}
    free = allowed == "yes" or asked.get("permission_mode") == "bypassPermissions"
    if not free or set(given) - _PLAIN or os.path.realpath(asked.get("cwd", "")) != os.path.realpath(folder):
        return
    result = ready(url, session, {"command": given["command"]}, asked.get("tool_use_id", ""))
    if result is None:
        return
    path = os.path.join(place, f"result-{os.getpid()}")  # noqa: PTH118 - pathlib takes longer to load than this runs
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
        file.write(result)
    said = {"hookEventName": "PreToolUse", "updatedInput": {**given, "command": f"cat '{path}' | cat"}}
    json.dump({"hookSpecificOutput": said}, sys.stdout)


def ready(url: str, session: str, arguments: dict[str, str], call_id: str) -> bytes | None:
    """A result that was run ahead, or is being; None where there is none.

    Raises:
        OSError: the sidecar cannot be reached.
    """
    host, _, port = url.removeprefix("http://").partition(":")
    body = json.dumps(arguments).encode()
    head = (
        f"POST /paste/v1/sessions/{session}/tools/{_TOOL} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n"
        f"x-paste-only-ready: 1\r\nx-paste-call-id: {call_id}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=_WAIT_S) as connection:
        connection.sendall(head.encode() + body)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    said, _, result = answer.partition(b"\r\n\r\n")
    lengths = [line.partition(b":")[2] for line in said.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    whole = said.startswith(b"HTTP/1.1 200 ") and lengths == [b" %d" % len(result)]
    return result if whole else None


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, KeyError, TypeError):
        sys.exit(0)  # the command runs as always
