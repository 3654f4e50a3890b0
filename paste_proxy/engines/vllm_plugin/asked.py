"""The body of `POST /cache-tool-output/{response_id}`: `[{"name", "params"?, "output", "keep_alive"?}]`."""

from math import isfinite
from typing import Any

from paste_proxy.engines.vllm_plugin.entries import Entry
from paste_proxy.errors import ClientFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import loads

_LONGEST_KEPT_S = 3_600.0


def entries_of(body: bytes, now: float, keep_alive_s: float) -> list[Entry]:
    """The entries that a body holds; one that stands alone, as in the paper, is a list of one.

    Raises:
        ClientFault: it is no such list; nothing of it is to be kept.
    """
    try:
        value = loads(body)
    except ValueError as fault:
        raise ClientFault(f"the body is not JSON: {fault}") from fault
    listed = value if isinstance(value, list) else [value]
    return [_entry(one, place, now, keep_alive_s) for place, one in enumerate(listed)]


def response_key(response_id: str) -> str:
    """What a response is known by: `X-Request-Id` as the client chose it, and `chatcmpl-` before it in the answer."""
    return response_id.removeprefix("chatcmpl-")


def _entry(value: Any, place: int, now: float, keep_alive_s: float) -> Entry:
    if not isinstance(value, dict):
        raise ClientFault(f"entry {place} is no object")
    name, params, output = value.get("name"), value.get("params"), value.get("output")
    if not isinstance(name, str) or not name:
        raise ClientFault(f"entry {place}: name is not the name of a tool")
    if not isinstance(output, str):
        raise ClientFault(f"entry {place}: output is not a text")
    if params is not None:
        try:
            Invocation(name, params)
        except ValueError as fault:
            raise ClientFault(f"entry {place}: params: {fault}") from fault
    kept_s = value.get("keep_alive", keep_alive_s)
    if isinstance(kept_s, bool) or not isinstance(kept_s, int | float) or not isfinite(kept_s) or kept_s < 0:
        raise ClientFault(f"entry {place}: keep_alive is not a number of seconds")
    return Entry(name=name, params=params, output=output, until=now + min(kept_s, _LONGEST_KEPT_S))
