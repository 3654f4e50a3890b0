"""JSON-RPC 2.0 messages with their parts as raw bytes: an id is given back exactly as it came."""

from dataclasses import dataclass
from typing import TypeAlias

from paste_proxy.events.values import dumps
from paste_proxy.wire.jsonspans import elements, members
from paste_proxy.wire.loose import read


@dataclass(frozen=True, slots=True)
class Request:
    """Asks for an answer."""

    id_raw: bytes
    method: str
    params_raw: bytes | None


@dataclass(frozen=True, slots=True)
class Notification:
    """Tells something."""

    method: str
    params_raw: bytes | None


@dataclass(frozen=True, slots=True)
class Response:
    """Answers: exactly one of result and error is there."""

    id_raw: bytes
    result_raw: bytes | None
    error_raw: bytes | None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No JSON-RPC message."""

    reason: str


Single: TypeAlias = Request | Notification | Response | Unreadable


@dataclass(frozen=True, slots=True)
class Batch:
    """Several messages in one array, in their order."""

    messages: tuple[Single, ...]


RpcMessage: TypeAlias = Single | Batch


def read_message(raw: bytes) -> RpcMessage:
    """The message in these bytes; raises nothing."""
    if raw.lstrip(b" \t\r\n")[:1] != b"[":
        return _single(raw)
    parts = elements(raw)
    if not parts:
        return Unreadable("a batch that is empty or not whole")
    return Batch(tuple(_single(part) for part in parts))


def respond(id_raw: bytes, result_raw: bytes) -> bytes:
    """A response with this result, byte for byte."""
    return b'{"jsonrpc":"2.0","id":' + id_raw + b',"result":' + result_raw + b"}"


def refuse(id_raw: bytes, code: int, message: str) -> bytes:
    """A response that is an error."""
    error = dumps({"code": code, "message": message})
    return b'{"jsonrpc":"2.0","id":' + id_raw + b',"error":' + error + b"}"


def on_one_line(raw: bytes) -> bytes:
    """The same JSON for a stdio transport, where a line is a message: line ends between tokens become spaces."""
    return raw.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"


def _single(raw: bytes) -> Single:
    parts = members(raw)
    if parts is None:
        return Unreadable("not one whole JSON object")
    id_raw, params_raw = parts.get("id"), parts.get("params")
    if "method" in parts:
        method = read(parts["method"])
        if not isinstance(method, str):
            return Unreadable("the method is not a string")
        return Notification(method, params_raw) if id_raw is None else Request(id_raw, method, params_raw)
    result, error = parts.get("result"), parts.get("error")
    if result is not None and error == b"null":
        error = None
    if id_raw is None or (result is None) == (error is None):
        return Unreadable("neither a method, nor an id with one of result and error")
    return Response(id_raw, result, error)
