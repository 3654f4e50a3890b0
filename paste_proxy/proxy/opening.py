"""What `serve` logs when it starts: what goes where, what may be run ahead, what is kept."""

import structlog
from yarl import URL

from paste_proxy.config import Config
from paste_proxy.errors import place_of
from paste_proxy.proxy.app import Parts
from paste_proxy.proxy.pacing.minding import addresses
from paste_proxy.proxy.pattern_rows import Portion
from paste_proxy.speculation.types import Mode

_log = structlog.get_logger(__name__)


def log_opening(config: Config, parts: Parts) -> None:
    """Log it, a line for each route; commands and queries, which may hold secrets, are left out."""
    for route in config.llm:
        ports = {"ports": list(route.ports)} if route.ports else {}
        gate = {"engine": route.engine} if route.engine else {"rate_limits": True} if route.rate_limits else {}
        _log.info("llm", path=route.path, upstream=route.upstream, **ports, **gate)
    for name, where in addresses(config).items():
        band = list(config.engines[name].band or ()) or "to be found"
        place = None if where is None else place_of(where)
        _log.info("engine", name=name, kind=config.engines[name].kind.value, load=place, band=band)
    for name, server in config.mcp.items():
        program = "a program" if server.workbench is None else f"our tools in {server.workbench}"
        upstream = program if server.url is None else str(URL(server.url).origin())
        _log.info("mcp", path=f"/mcp/{name}", upstream=upstream)
    for name, tool in config.tools.items():
        upstream = "a program" if tool.url is None else str(URL(tool.url).origin())
        _log.info("tool", name=name, upstream=upstream)
    mode = config.speculation.mode
    if mode is not Mode.OFF:
        rules, (_, patterns) = len(parts.snapshot.policies()), parts.snapshot.patterns(Portion(limit=0))
        _log.info("speculation", mode=mode.value, policies=list(config.policies), rules=rules)
        _log.info("prediction", pools=list(config.patterns), patterns=patterns)
        if config.speculator is not None:
            told = str(URL(config.speculator.base_url).with_user(None).origin())
            _log.info("speculator", is_told_what_the_llm_is_told=told, model=config.speculator.model)
    directory = config.recording.directory if mode is not Mode.OFF else None
    _log.info("recording", directory=None if directory is None else str(directory))
    if mode is Mode.SPECULATE and not config.policies:
        _log.warning("no_policies", meaning="no tool is ever run ahead")
