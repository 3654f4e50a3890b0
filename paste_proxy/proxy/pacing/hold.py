"""A turn that stands before a gate until it is admitted, and how its client is told that it lives meanwhile.

Nothing is said for `hold_s`. After that a client that asked for an event stream gets one, with bytes in it that its
reader passes over; from then on the answer's status and headers are ours, and what the upstream would have refused with
is told in the stream. Whatever breaks here, the turn goes.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

from aiohttp import web

from paste_proxy.proxy.http.begun import Begun
from paste_proxy.proxy.http.headers import request_headers
from paste_proxy.proxy.http.observation import Observation
from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.http.relay import Relay
from paste_proxy.proxy.ports import Again, Waiting
from paste_proxy.turns.types import Admit, TurnAway
from paste_proxy.wire.holding import keep_alive, refused_in_stream, streamed
from paste_proxy.wire.xargs import with_xargs

_KEYS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_BEATS_S = 5.0
"""Between two signs of life."""
_KEY_BYTES = 6
_WARMED_BYTES = 8 * 2**20
"""A larger request is not kept to go on from."""
_GRACE_S = 30.0
"""What decides would have decided long ago: the turn goes."""


@dataclass(frozen=True, slots=True)
class Gating:
    """How turns of a route are held.

    Args:
        gate: the engine that they go to; None: what they wait for are the limits of their key.
        how: of `LlmRoute.hold`.
        longest_s: no turn waits longer, whatever breaks.
        tells: whether the engine's own scheduler is told what each turn is worth.
        warm_up, tool_cache: of the route.
        proxy: the HTTP proxy on the way there.
    """

    gate: str | None
    route: str
    how: str
    hold_s: float
    longest_s: float
    tells: bool = False
    warm_up: bool = False
    tool_cache: bool = False
    proxy: str | None = None

    def name(self, request: web.Request) -> str:
        """The gate of a request. Keys are told apart, and none is kept."""
        if self.gate is not None:
            return self.gate
        said = [*(request.headers.get(header, "") for header in _KEYS), request.query.get("key", "")]
        limited = blake2b("\0".join(said).encode("utf-8", "surrogateescape"), digest_size=_KEY_BYTES)
        return f"{self.route} {limited.hexdigest()}"


async def forward_held(
    request: web.Request, target: str, wire: str, gating: Gating, relay: Relay, seen: Observation, *, keep: int
) -> web.StreamResponse:
    """Send the request once it is admitted, and pass the answer on.

    Args:
        keep: bytes of a request that is held; a larger one is sent as it comes.
    """
    body, whole = await _taken(request, keep)
    if not whole:
        return await relay.forward(request, target, seen, head=body)
    waiting = Waiting(
        gate=gating.name(request),
        bytes=len(body),
        tells=gating.tells,
        entry=asyncio.get_running_loop().create_future(),
        patience_s=gating.hold_s if gating.how == "refuse" else None,
    )
    plain_chat = wire == "openai_chat" and "Content-Encoding" not in request.headers
    if (gating.warm_up or gating.tool_cache) and plain_chat and len(body) <= _WARMED_BYTES:
        waiting.again = Again(
            target=target,
            headers=tuple(request_headers(request.raw_headers)),
            proxy=gating.proxy,
            body=body,
            warm_up=gating.warm_up,
            tool_cache=gating.tool_cache,
        )
    begun: Begun | None = None
    sent = False
    try:
        seen.asks((body,), waiting)
        if not waiting.entry.done():
            begun = await _held(request, wire, gating, waiting)
        entry = waiting.entry.result() if waiting.entry.done() else Admit(turn=0, waited_s=gating.longest_s, late=True)
        if isinstance(entry, TurnAway):
            return _turned_away(entry, gating)
        sent = True
        if gating.tells and plain_chat:
            body = with_xargs(body, waiting.worth) or body
        return await relay.forward(request, target, seen, body=body, begun=begun)
    finally:
        if not sent:
            waiting.entry.cancel()
            seen.closed(clean=False)


async def _taken(request: web.Request, keep: int) -> tuple[bytes, bool]:
    """The body, or its beginning, and whether that is all of it."""
    pieces, size = [], 0
    while piece := await request.content.readany():
        pieces.append(piece)
        size += len(piece)
        if size > keep:
            return b"".join(pieces), False
    return b"".join(pieces), True


async def _held(request: web.Request, wire: str, gating: Gating, waiting: Waiting) -> Begun | None:
    """Wait until it is decided; what of an answer was begun meanwhile."""
    longest_s = gating.longest_s + _GRACE_S
    beat = keep_alive(wire) if gating.how == "keep-alive" else None
    if beat is None or not await _waits(waiting, gating.hold_s) or not waiting.stream:
        if not waiting.entry.done():
            await _waits(waiting, longest_s)
        return None
    begun = Begun(partial(streamed, wire), partial(refused_in_stream, wire))
    await begun.prepare(request)
    loop = asyncio.get_running_loop()
    until = loop.time() + longest_s
    while loop.time() < until:
        await begun.write(beat)
        if not await _waits(waiting, _BEATS_S):
            break
    return begun


async def _waits(waiting: Waiting, seconds: float) -> bool:
    """Whether it is still not decided after so long."""
    await asyncio.wait((waiting.entry,), timeout=seconds)
    return not waiting.entry.done()


def _turned_away(entry: TurnAway, gating: Gating) -> web.Response:
    wait_s = max(1, round(entry.retry_after_s))
    code, why = "engine_full", "the engine has no room for this turn now"
    if gating.gate is None:
        code, why = "key_limited", "the limits of its key leave nothing for this turn now"
    response = refusal(429, code, f"{why}; come again in {wait_s} s")
    response.headers["Retry-After"] = str(wait_s)
    return response
