"""`paste-proxy mcp` and `tools`: the pump between our own stdin and stdout and the server, and what it stands on."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, McpServer
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.forwarding import OpenGate
from paste_proxy.proxy.mcp.client_arguments import ClientArguments
from paste_proxy.proxy.mcp.pump import McpPump
from paste_proxy.proxy.mcp.speculators import over_stdio
from paste_proxy.proxy.mcp.standard_pipes import must_be_pipes, our_stdin, our_stdout
from paste_proxy.proxy.mcp.starting import start
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.proxy.ports import ToolGate
from paste_proxy.speculation.types import Mode
from paste_proxy.tools.mcp_child import whole_lines

if TYPE_CHECKING:
    from paste_proxy.staging.stages import Stages


def run_mcp(name: str, server: McpServer, config: Config) -> int:
    """Be that server, until it ends; its exit code (128 + N where signal N ended it).

    Args:
        name: its name in tool identities: `name/tool`.
        server: a `command`, or a folder for our own tools.

    Raises:
        InputFault: a file that the config names is wrong.
        UpstreamFault: its command cannot be started.
    """
    config = config.model_copy(update={"mcp": {**config.mcp, name: server}})
    sidecar = None if config.speculation.mode is Mode.OFF else Sidecar(config, SystemClock())
    code = asyncio.run(_serve(name, server, config, sidecar))
    return code if code >= 0 else 128 - code


async def _serve(name: str, server: McpServer, config: Config, sidecar: Sidecar | None) -> int:
    if sidecar is None:
        return await pump(name, server, OpenGate(), lambda place: None, warm=False, lists=False)
    warm = config.speculation.mode is Mode.SPECULATE and bool(config.policies)
    async with asynccontextmanager(sidecar.living)():
        lists = sidecar.policy.lets(name)
        return await pump(name, server, sidecar.hub, sidecar.tally.fault, sidecar.stages, warm=warm, lists=lists)


async def pump(
    name: str,
    server: McpServer,
    gate: ToolGate,
    fault: Callable[[str], None],
    stages: "Stages | None" = None,
    *,
    warm: bool,
    lists: bool,
) -> int:
    """Run the server between our stdin and stdout; its exit code.

    Raises:
        ClientFault: our stdin or stdout is no pipe.
        UpstreamFault: the server cannot be started.
    """
    must_be_pipes()
    child = await start(name, server, stages, inherit=True)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, child.signal, number)
    make = over_stdio(name, server, stages) if server.stateless else None
    client_arguments = ClientArguments(server.client_arguments)
    watch = McpWatch(gate, name, f"mcp:{name}:stdio", make, client_arguments, warm=warm, lists=lists)
    try:
        return await McpPump(child, watch, await our_stdout(), fault).run(whole_lines(await our_stdin()))
    except ConnectionError:
        # The client no longer reads what its server says.
        return await child.close()
    finally:
        watch.close()
        await watch.closed()
        await child.close()
        child.release()
