"""A route on which no WebSocket may be opened."""

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.config import Config, LlmRoute
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import forwarding_only
from paste_proxy.proxy.http.refusal import ERROR_HEADER
from paste_proxy.proxy.server import app_runner
from tests.proxy.llm_world import answer, replying, upstream


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_websocket_is_refused_only_where_the_route_says_so(*, allowed: bool) -> None:
    async with upstream(replying(answer(b"", status=b"404 Not Found"))) as there:
        route = LlmRoute(path="/v1", upstream=there.url, websockets=allowed)
        config = Config(llm=(route,))
        runner = app_runner(build_app(config, forwarding_only(config)))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            async with aiohttp.ClientSession(f"http://127.0.0.1:{runner.addresses[0][1]}") as http:
                with pytest.raises(aiohttp.WSServerHandshakeError) as told:
                    await http.ws_connect("/v1/responses")
        finally:
            await runner.cleanup()
    assert told.value.status == (404 if allowed else 426)
    assert len(there.seen) == allowed
    headers = told.value.headers
    assert headers is not None
    assert headers.get(ERROR_HEADER) == (None if allowed else "plain_http_only")
