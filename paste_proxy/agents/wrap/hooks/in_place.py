"""The hook of a client's shell; run as a program: `in_place.py URL SESSION FOLDER PLACE MODES SINCE WATCHED...`.

Where the sidecar has a command's result, the command becomes one that shows it, and the client puts it into
its own form. In every other case nothing is said and the command runs as always. PLACE is a private folder for
results. MODES are the client's permission modes, by commas, in which the shell needs no permission, so that changing
the command cannot change what is asked; empty where there are no modes. Once a WATCHED file has changed after SINCE
that is not known any more. Standard library only, so that `python -I -S` starts it at once.

Claude Code's PreToolUse changes a command unnoticed. gemini-cli's BeforeTool does not, it adds a remark to the
result; so there the command becomes one that does nothing, and AfterTool has another follow whose result,
without a remark, takes the place of the first one's.
"""

import json
import os
import socket
import sys
import time

_TOOL = "read_shell"
_PLAIN = {"command", "description", "wait_for_previous"}
_WAIT_S = 60.0
_SHOWN_S = 60.0
"""A result is shown at once; as old as this it has been."""
_MOST_RESULTS = 32
_MOST_BYTES = 32 << 20


def main(url: str, session: str, folder: str, place: str, modes: str, since: str, *watched: str) -> None:
    """Answer the hook's question on stdin."""
    asked = json.load(sys.stdin)
    event, given = asked["hook_event_name"], asked["tool_input"]
    if event == "AfterTool":
        _say(event, _follow(given["command"], place))
        return
    free = not modes or asked.get("permission_mode") in modes.split(",")
    at_home = os.path.realpath(asked["cwd"]) == os.path.realpath(folder)
    if not (free and at_home) or set(given) - _PLAIN or asked.get("original_request_name"):
        return
    if any(_changed(path) > float(since) for path in watched):
        return
    only = "any" if event == "PreToolUse" else "alone"
    result = ready(url, session, {"command": given["command"]}, asked.get("tool_use_id", ""), only)
    if result is None or not _room(place, len(result)):
        return
    path = _result(place) + str(os.getpid())
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
        file.write(result)
    if event == "PreToolUse":
        _say(event, {"updatedInput": {**given, "command": f"cat '{path}' | cat"}})
    else:
        _say(event, {"tool_input": {**given, "command": f": '{path}'"}})


def _result(place: str) -> str:
    """How the names of results begin."""
    return os.path.join(place, "result-")  # noqa: PTH118 - pathlib takes longer to load than this runs


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_ctime  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return 0.0


def _room(place: str, size: int) -> bool:
    """Whether there may be one more result; those that have been shown are removed."""
    now, left = time.time(), []
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.path.startswith(_result(place)):
                found = entry.stat()
                if now - found.st_mtime > _SHOWN_S:
                    os.unlink(entry.path)  # noqa: PTH108
                else:
                    left.append(found.st_size)
    return len(left) < _MOST_RESULTS and sum(left) + size <= _MOST_BYTES


def _follow(command: str, place: str) -> dict[str, object]:
    """What is to follow a command that BeforeTool has put in place; nothing after any other.

    After that one its result has been shown, and is removed.
    """
    shown = f"cat '{_result(place)}"
    if command.startswith(shown) and (name := command.removeprefix(shown).removesuffix("'")).isdigit():
        os.unlink(_result(place) + name)  # noqa: PTH108
    if not command.startswith(f": '{_result(place)}"):
        return {}
    args = {"command": f"cat {command.removeprefix(': ')}"}
    return {"tailToolCallRequest": {"name": "run_shell_command", "args": args}}


def _say(event: str, said: dict[str, object]) -> None:
    if said:
        json.dump({"hookSpecificOutput": {"hookEventName": event, **said}}, sys.stdout)


def ready(url: str, session: str, arguments: dict[str, str], call_id: str, only: str) -> bytes | None:
    """A result that was run ahead, or is being; None where there is none.

    Args:
        only: `alone` where it is of use only to a call that is its turn's only one.

    Raises:
        OSError: the sidecar cannot be reached.
    """
    host, _, port = url.removeprefix("http://").partition(":")
    body = json.dumps(arguments).encode()
    named = f"x-paste-call-id: {call_id}\r\n" if call_id else ""
    head = (
        f"POST /paste/v1/sessions/{session}/tools/{_TOOL} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n"
        f"x-paste-only-ready: {only}\r\n{named}Content-Length: {len(body)}\r\n\r\n"
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
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        sys.exit(0)  # the command runs as always
