"""`POST /cache-tool-output/{response_id}`: whoever ran a tool early says what it gave for a call of that answer.

The paper's endpoint (speculative tool calling, Algorithm 5), for engines that have none: once every call of the answer
has its output, the engine is sent the request that will follow, so that it has read the outputs before the agent asks.
"""

import asyncio
from collections.abc import Callable, Mapping

from aiohttp import web

from paste_proxy.events.values import Json, dumps, loads
from paste_proxy.proxy.http.hosts import host_of, own_hosts
from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.hub.observed import OutputTold

_KEEP_ALIVE_S = 60.0
_LONGEST_S = 3_600.0
_MOST_BYTES = 4 * 2**20
_DECIDED_S = 5.0
_EXPECTED = "a JSON array of {name, params?, output, keep_alive?}: texts, an object, seconds"


def add_tool_output_route(
    app: web.Application, tell: Callable[[OutputTold], None], *, warms: bool, host: str = "127.0.0.1"
) -> None:
    """Serve it.

    Args:
        warms: whether any route is warmed up; if not, it says so.
        host: that the sidecar is bound to; programs of the user call it by a name of this machine, web pages do not.
    """
    is_own = own_hosts(host)

    async def take(request: web.Request) -> web.StreamResponse:
        if (origin := request.headers.get("Origin")) is not None:
            return refusal(403, "web_page", f"outputs are not taken from web pages (origin {origin})")
        if not is_own(host_of(request.headers.get("Host", ""))):
            return refusal(403, "other_host", "the sidecar does not go by the name in the Host header")
        if not warms:
            return refusal(404, "nothing_warmed", "no [[llm]] route has warm_up = true, so that outputs are of no use")
        try:
            entries = await _entries(request)
        except ValueError as fault:
            return refusal(400, "no_tool_outputs", f"{fault}; expected {_EXPECTED}")
        told = [_told(request.match_info["response_id"], entry) for entry in entries]
        for one in told:
            tell(one)
        if told:
            await asyncio.wait([one.done for one in told], timeout=_DECIDED_S)
        kept = sum(one.done.done() and one.done.result() for one in told)
        return web.Response(body=dumps({"cached": kept}), content_type="application/json")

    app.router.add_post("/cache-tool-output/{response_id}", take)


async def _entries(request: web.Request) -> list[Mapping[str, Json]]:
    """Raises ValueError, saying what was found."""
    body = b""
    while piece := await request.content.readany():
        body += piece
        if len(body) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes")
    try:
        read = loads(body)
    except ValueError as fault:
        raise ValueError(f"no JSON ({fault})") from fault
    if not isinstance(read, list):
        raise ValueError("no array")
    return [_checked(number, entry) for number, entry in enumerate(read)]


def _checked(number: int, entry: Json) -> Mapping[str, Json]:
    if not isinstance(entry, dict):
        raise ValueError(f"entry {number} is no object")
    for name in ("name", "output"):
        if not isinstance(entry.get(name), str):
            raise ValueError(f"entry {number} has no text as {name}")
    if not isinstance(entry.get("params", {}), dict):
        raise ValueError(f"entry {number} has params that are no object")
    keep = entry.get("keep_alive", _KEEP_ALIVE_S)
    if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 < keep <= _LONGEST_S:
        raise ValueError(f"entry {number} has a keep_alive that is no number of seconds up to {_LONGEST_S:g}")
    return entry


def _told(response_id: str, entry: Mapping[str, Json]) -> OutputTold:
    params, keep = entry.get("params"), entry.get("keep_alive", _KEEP_ALIVE_S)
    return OutputTold(
        response_id=response_id,
        name=str(entry["name"]),
        arguments=params if isinstance(params, dict) else None,
        output=str(entry["output"]),
        keep_alive_s=float(keep) if isinstance(keep, int | float) else _KEEP_ALIVE_S,
        done=asyncio.get_running_loop().create_future(),
    )
