"""A caller that wants a result only if it was run ahead, since it can run the tool itself."""

import sys
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.config import Config, DispatchTool
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.dispatch.route import READY_HEADER, add_dispatch_routes
from paste_proxy.testing import FakeGate
from tests.proxy.dispatch.test_route import listening


@pytest.mark.parametrize("ready", [True, False])
async def test_what_was_run_ahead_is_given_and_nothing_is_run_for_it(tmp_path: Path, *, ready: bool) -> None:
    seen = ToolResult(body=b"seen", content_type="text/plain")
    gate = FakeGate({Invocation("look", {}).key: seen} if ready else {})
    ran = tmp_path / "ran"
    tool = DispatchTool(command=(sys.executable, "-c", f"open({str(ran)!r}, 'w')"))
    app = web.Application()
    add_dispatch_routes(app, Config(tools={"look": tool}), gate)
    async with (
        listening(app, told_of_disconnects=False) as url,
        aiohttp.ClientSession() as http,
        http.post(f"{url}/paste/v1/sessions/s/tools/look", data=b"{}", headers={READY_HEADER: "1"}) as said,
    ):
        assert (said.status, await said.read()) == ((200, b"seen") if ready else (204, b""))
    assert not ran.exists()
    assert gate.over == ({} if ready else {1: None})
