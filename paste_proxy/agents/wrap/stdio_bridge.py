"""A stdio MCP server that is one behind a sidecar's address; run as a program: `stdio_bridge.py URL [NAME=VALUE]...`.

For clients that can be told of another program, but not of an address in its place. NAME=VALUE are headers.
Messages pass as they are; a session of streamable HTTP is kept beside them. No request goes unanswered: when the
sidecar is gone each that is open gets an error, and this ends, as a server does that has died; when the client
closes its end, open ones are waited for. Standard library only, so that `python -I -S` starts it at once.
"""

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

_SESSION = "Mcp-Session-Id"
_ACCEPTED = "application/json, text/event-stream"
_NO_ANSWER = -32000
_REACH_S = 5.0
_GONE = (
    "paste-proxy: the sidecar ended before this was answered; a call may have been carried out, so look before you "
    "make it again; start the agent anew to have this server back"
)
_CUT = (
    "paste-proxy: the answer ended without a response; a call may have been carried out, so look before you repeat it"
)


class Bridge:
    """Between our stdin and stdout and an MCP endpoint."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        parts = urlsplit(url)
        self._host, self._port, self._path = parts.hostname or "", parts.port, parts.path
        self._headers = {"Accept": _ACCEPTED, **headers}
        self._stdout = threading.RLock()
        self._gone = threading.Event()
        self._open: dict[str, Any] = {}
        """Ids of requests without a response, by their JSON text."""

    def run(self) -> int:
        """Pass messages on until stdin ends; 0, or 1 where the endpoint was gone before."""
        reading = threading.Thread(target=self._read, daemon=True)
        reading.start()
        while (reading.is_alive() or self._open) and not self._gone.wait(0.1):
            pass
        if self._gone.is_set():
            self._try(lambda: self._refuse(list(self._open), _GONE))
        elif _SESSION in self._headers:
            self._try(lambda: self._ask("DELETE").read())
        return int(self._gone.is_set())

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            messages = _read_objects(line)
            asked = {
                _key(message["id"]): message["id"] for message in messages if "method" in message and "id" in message
            }
            self._open.update(asked)
            if any(message.get("method") == "initialize" for message in messages):
                self._introduce(line, list(asked))
            elif asked:
                threading.Thread(target=self._post, args=(line, list(asked)), daemon=True).start()
            elif line.strip():
                self._take_back(messages)
                self._post(line, [])

    def _introduce(self, line: bytes, asked: list[str]) -> None:
        """Everything after it belongs to the session that it opens."""
        self._headers.pop(_SESSION, None)
        self._post(line, asked)
        if _SESSION in self._headers:
            threading.Thread(target=self._try, args=(self._listen,), daemon=True).start()

    def _post(self, line: bytes, asked: list[str]) -> None:
        """Send a message and pass on what is answered; `asked` are the requests in it."""

        def post() -> None:
            response = self._ask("POST", line)
            if session := response.getheader(_SESSION):
                self._headers[_SESSION] = session
            self._pass_on(response)
            if any(key in self._open for key in asked):
                socket.create_connection((self._host, self._port or 80), _REACH_S).close()
                self._refuse(asked, _CUT)

        self._try(post)

    def _take_back(self, messages: list[dict[str, Any]]) -> None:
        """What the client has cancelled needs no response."""
        for message in messages:
            params = message.get("params")
            if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
                self._open.pop(_key(params.get("requestId")), None)

    def _refuse(self, asked: list[str], why: str) -> None:
        with self._stdout:
            for key in asked:
                if key in self._open:
                    error = {"code": _NO_ANSWER, "message": why}
                    self._write(json.dumps({"jsonrpc": "2.0", "id": self._open[key], "error": error}).encode())

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
            for answer in _read_objects(message):
                if "method" not in answer:
                    self._open.pop(_key(answer.get("id")), None)

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


def _read_objects(line: bytes) -> list[dict[str, Any]]:
    """The message on a line, or those of a batch."""
    try:
        read = json.loads(line)
    except ValueError:
        return []
    return [message for message in (read if isinstance(read, list) else [read]) if isinstance(message, dict)]


def _key(message_id: object) -> str:
    return json.dumps(message_id)


if __name__ == "__main__":
    code = Bridge(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])).run()
    os._exit(code)  # a thread that waits for stdin cannot be joined, and every line written was flushed
