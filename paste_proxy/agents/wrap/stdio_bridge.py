"""A stdio MCP server that is one behind a sidecar's address; run as a program: `stdio_bridge.py URL [NAME=VALUE]...`.

For clients that can be told of another program, but not of an address in its place. NAME=VALUE are headers.
Messages pass as they are; a session of streamable HTTP is kept beside them. When the sidecar is gone this
ends, as a server does that has died. Standard library only, so that `python -I -S` starts it at once.
"""

import json
import os
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

_SESSION = "Mcp-Session-Id"
_ACCEPTED = "application/json, text/event-stream"


class Bridge:
    """Between our stdin and stdout and an MCP endpoint."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        parts = urlsplit(url)
        self._host, self._port, self._path = parts.hostname or "", parts.port, parts.path
        self._headers = {"Accept": _ACCEPTED, **headers}
        self._stdout = threading.Lock()
        self._gone = threading.Event()

    def run(self) -> int:
        """Pass messages on until stdin ends; 0, or 1 where the endpoint was gone before."""
        reading = threading.Thread(target=self._read, daemon=True)
        reading.start()
        self._gone_or_over(reading)
        if _SESSION in self._headers and not self._gone.is_set():
            self._try(lambda: self._ask("DELETE").read())
        return int(self._gone.is_set())

    def _gone_or_over(self, reading: threading.Thread) -> None:
        while reading.is_alive() and not self._gone.is_set():
            reading.join(0.1)

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            message = _read_object(line)
            if message.get("method") == "initialize":
                self._open(line)
            elif "method" in message and "id" in message:
                threading.Thread(target=self._try, args=(lambda line=line: self._post(line),), daemon=True).start()
            else:
                self._try(lambda line=line: self._post(line))

    def _open(self, line: bytes) -> None:
        """Everything after it belongs to the session that it opens."""
        self._headers.pop(_SESSION, None)

        def opened() -> None:
            response = self._ask("POST", line)
            session = response.getheader(_SESSION)
            if session:
                self._headers[_SESSION] = session
            self._pass_on(response)
            if session:
                threading.Thread(target=self._try, args=(self._listen,), daemon=True).start()

        self._try(opened)

    def _post(self, line: bytes) -> None:
        self._pass_on(self._ask("POST", line))

    def _listen(self) -> None:
        """What the server says of its own accord."""
        response = self._ask("GET")
        if response.status == 200:
            self._pass_on(response)

    def _ask(self, method: str, body: bytes | None = None) -> HTTPResponse:
        connection = HTTPConnection(self._host, self._port)
        content = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, self._path, body, {**self._headers, **content})
        return connection.getresponse()

    def _pass_on(self, response: HTTPResponse) -> None:
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            for data in _events(response):
                self._write(data)
        elif body := response.read():
            self._write(body)

    def _write(self, message: bytes) -> None:
        with self._stdout:
            sys.stdout.buffer.write(message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
            sys.stdout.buffer.flush()

    def _try(self, act: Any) -> None:
        try:
            act()
        except (OSError, HTTPException):
            self._gone.set()


def _events(response: HTTPResponse) -> Iterator[bytes]:
    """The data of every event of a stream."""
    data: list[bytes] = []
    for line in response:
        field = line.rstrip(b"\r\n")
        if field.startswith(b"data:"):
            data.append(field[5:].removeprefix(b" "))
        elif not field and data:
            yield b"\n".join(data)
            data.clear()


def _read_object(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


if __name__ == "__main__":
    code = Bridge(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])).run()
    os._exit(code)  # a thread that waits for stdin cannot be joined, and every line written was flushed
