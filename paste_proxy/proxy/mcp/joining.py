"""Be the MCP server that a running sidecar has under a name; without one, be the server itself."""

import asyncio
import re
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from aiohttp import ClientError, ClientSession, ClientTimeout

from paste_proxy.errors import InputFault, UpstreamFault
from paste_proxy.events.values import Json
from paste_proxy.proxy.mcp.joined import JoinedServer
from paste_proxy.proxy.mcp.joined_session import JoinedSession, sent_tracing
from paste_proxy.proxy.mcp.standard_pipes import must_be_pipes, our_stdin, our_stdout
from paste_proxy.tools.become import become
from paste_proxy.tools.mcp_child import whole_lines
from paste_proxy.wire.loose import mapping, read

_REACH_S = 5.0


def run_joined(name: str, command: Sequence[str], sidecar: str) -> int:
    """Be `/mcp/NAME` of the sidecar at this address until our stdin ends; the exit code.

    Where nothing answers at the address this process becomes `command`, and one line on stderr says so.

    Raises:
        InputFault: the address is none over HTTP, what answers is no sidecar, or it has no such server.
        UpstreamFault: the command cannot be started.
        ClientFault: our stdin or stdout is no pipe.
    """
    base = sidecar.rstrip("/")
    if not re.match(r"https?://[^/]", base):
        raise InputFault("--sidecar", sidecar, "a URL with http://, such as http://127.0.0.1:8377")
    found = asyncio.run(_index(base))
    if found is None:
        sys.stderr.write(f"paste-proxy: no sidecar answers at {base}; {command[0]} runs without one\n")
        sys.stderr.flush()
        _become(command)
    paths = mapping(found.get("paths"))
    if "paste_proxy" not in found:
        raise InputFault("--sidecar", f"{sidecar}, which is not a paste-proxy", "the address that `serve` prints")
    if f"/mcp/{name}" not in paths:
        known = ", ".join(sorted(path.removeprefix("/mcp/") for path in paths if path.startswith("/mcp/"))) or "none"
        raise InputFault(
            "--sidecar",
            f"no MCP server {name!r} in the config of {base} (there: {known})",
            f"a section [mcp.{name}] there, or --server with the name of one",
        )
    must_be_pipes()
    return asyncio.run(_serve(f"{base}/mcp/{name}"))


async def _index(base: str) -> dict[str, Json] | None:
    """What is to be found at the address; None where nothing answers."""
    try:
        async with (
            ClientSession(trust_env=False, timeout=ClientTimeout(total=_REACH_S)) as http,
            http.get(f"{base}/paste/v1/", allow_redirects=False) as answer,
        ):
            return mapping(read(await answer.read()))
    except (ClientError, OSError, TimeoutError):
        return None


async def _serve(url: str) -> int:
    timeout = ClientTimeout(total=None, sock_connect=_REACH_S)
    async with ClientSession(trust_env=False, timeout=timeout, trace_configs=[sent_tracing()]) as http:
        server = JoinedServer(JoinedSession(http, url), await our_stdout())
        serving = asyncio.create_task(server.run(whole_lines(await our_stdin())))
        ended_by: list[int] = []

        def end(number: int) -> None:
            ended_by.append(number)
            serving.cancel()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
        await asyncio.wait([serving])
        if not serving.cancelled() and (fault := serving.exception()) and not isinstance(fault, ConnectionError):
            raise fault
    return 128 + ended_by[0] if ended_by else 0


def _become(command: Sequence[str]) -> NoReturn:
    try:
        become(command)
    except OSError as fault:
        raise UpstreamFault(f"MCP server cannot be started with {list(command)}: {fault}") from fault
