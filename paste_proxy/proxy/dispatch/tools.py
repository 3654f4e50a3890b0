"""The tools that the config names, as one backend."""

from collections.abc import Iterable, Mapping

import aiohttp

from paste_proxy.config import Config, DispatchTool
from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.tools.backend import Backend, Preparable, Preparing
from paste_proxy.tools.command import CommandBackend
from paste_proxy.tools.http import HttpBackend


class ConfiguredTools:
    """Sends each invocation to its tool's own backend."""

    def __init__(self, backends: Mapping[str, Backend]) -> None:
        self._backends = backends

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        """The tool's answer.

        Raises:
            UpstreamFault: no such tool, or it could not be run.
        """
        backend = self._backends.get(invocation.tool)
        if backend is None:
            raise UpstreamFault(f"no tool {invocation.tool!r} is configured")
        return await backend.run(invocation, speculative=speculative)

    def needs(self, invocation: Invocation) -> Iterable[Preparable]:
        """What a call's tool needs."""
        backend = self._backends.get(invocation.tool)
        return backend.needs(invocation) if isinstance(backend, Preparing) else ()

    async def close(self) -> None:
        """Close every tool."""
        for backend in self._backends.values():
            await backend.close()


def configured_tools(config: Config, session: aiohttp.ClientSession) -> ConfiguredTools:
    """Backends for `config.tools`."""
    limit = config.speculation.result_bytes
    return ConfiguredTools({name: _backend(tool, session, limit) for name, tool in config.tools.items()})


def _backend(tool: DispatchTool, session: aiohttp.ClientSession, speculative_bytes: int) -> Backend:
    if tool.url is not None:
        return HttpBackend(session, tool.url, timeout_s=tool.timeout_s, speculative_bytes=speculative_bytes)
    return CommandBackend(tool.command, timeout_s=tool.timeout_s)
