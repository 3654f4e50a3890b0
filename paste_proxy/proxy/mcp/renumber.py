"""Ids made unique, so that clients of the stateless era can share one stdio server, and put back again.

Only the id, the progress token and a subscription's id change; every other value keeps its bytes.
"""

import json

from paste_proxy.wire.jsonrpc import Request
from paste_proxy.wire.jsonspans import members

_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def progress_token(request: Request) -> bytes | None:
    """The raw token under which a request wants to hear of progress."""
    params = members(request.params_raw or b"") or {}
    return (members(params.get("_meta", b"")) or {}).get("progressToken")


def renumbered(raw: bytes, number: bytes) -> bytes:
    """A request with this id, and with it as its progress token if it has one."""
    message = members(raw) or {}
    message["id"] = number
    params = members(message.get("params", b"")) or {}
    meta = members(params.get("_meta", b"")) or {}
    if "progressToken" in meta:
        meta["progressToken"] = number
        params["_meta"] = _object(meta)
        message["params"] = _object(params)
    return _object(message)


def put_back(raw: bytes, number: bytes, id_raw: bytes, token: bytes | None) -> bytes:
    """A server's message with the client's own id, progress token and subscription id."""
    message = members(raw) or {}
    if message.get("id") == number:
        message["id"] = id_raw
    params = members(message.get("params", b"")) or {}
    meta = members(params.get("_meta", b"")) or {}
    if token is not None and params.get("progressToken") == number:
        params["progressToken"] = token
    elif meta.get(_SUBSCRIPTION) == number:
        meta[_SUBSCRIPTION] = id_raw
        params["_meta"] = _object(meta)
    else:
        return _object(message)
    message["params"] = _object(params)
    return _object(message)


def subscription(params_raw: bytes | None) -> bytes | None:
    """The raw id of the subscription that a notification belongs to."""
    params = members(params_raw or b"") or {}
    return (members(params.get("_meta", b"")) or {}).get(_SUBSCRIPTION)


def _object(parts: dict[str, bytes]) -> bytes:
    return b"{" + b",".join(json.dumps(name).encode() + b":" + raw for name, raw in parts.items()) + b"}"
