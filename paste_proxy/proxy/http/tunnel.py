"""WebSocket upgrades on an LLM route: both handshakes, then frames to and fro, uninterpreted."""

import asyncio

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError, web
from yarl import URL

from paste_proxy.proxy.http.headers import request_headers
from paste_proxy.proxy.http.refusal import refusal
from paste_proxy.proxy.outages import Outages

_HANDSHAKE = frozenset(
    {"sec-websocket-accept", "sec-websocket-extensions", "sec-websocket-key", "sec-websocket-protocol"}
    | {"sec-websocket-version", "content-length"}
)


def is_websocket(request: web.Request) -> bool:
    """Whether the client asks for the upgrade."""
    return request.headers.get("Upgrade", "").lower() == "websocket"


async def tunnel(request: web.Request, session: ClientSession, target: str, outages: Outages) -> web.StreamResponse:
    """Connect to the upstream first, so that its refusal is the client's; then pump until either side ends."""
    protocols = tuple(
        name.strip() for name in request.headers.get("Sec-WebSocket-Protocol", "").split(",") if name.strip()
    )
    headers = [pair for pair in request_headers(request.raw_headers) if pair[0].lower() not in _HANDSHAKE]
    try:
        upstream = await session.ws_connect(
            URL(target, encoded=True), protocols=protocols, headers=headers, max_msg_size=0, autoping=False
        )
    except WSServerHandshakeError as refused:
        return refusal(
            refused.status, "upgrade_refused", f"the upstream refused the WebSocket upgrade: {refused.message}"
        )
    except (ClientError, OSError) as fault:
        origin = URL(target, encoded=True).origin()
        outages.warn(str(origin), f"cannot be reached: {fault}")
        return refusal(502, "upstream_unreachable", f"{origin} cannot be reached: {fault}")
    async with upstream:
        chosen = (upstream.protocol,) if upstream.protocol else ()
        client = web.WebSocketResponse(protocols=chosen, max_msg_size=0, autoping=False)
        await client.prepare(request)
        await _pump_both(client, upstream)
        return client


_Socket = web.WebSocketResponse | ClientWebSocketResponse


async def _pump_both(client: web.WebSocketResponse, upstream: ClientWebSocketResponse) -> None:
    pumps = {asyncio.create_task(_pump(client, upstream)), asyncio.create_task(_pump(upstream, client))}
    try:
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _pump(source: _Socket, target: _Socket) -> None:
    while True:
        message = await source.receive()
        match message.type:
            case WSMsgType.TEXT:
                await target.send_str(message.data)
            case WSMsgType.BINARY:
                await target.send_bytes(message.data)
            case WSMsgType.PING:
                await target.ping(message.data)
            case WSMsgType.PONG:
                await target.pong(message.data)
            case WSMsgType.CLOSE:
                await target.close(code=message.data, message=(message.extra or "").encode())
                return
            case _:
                await target.close(code=1011)
                return
