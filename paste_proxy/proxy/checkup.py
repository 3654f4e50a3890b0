"""What `doctor` looks at: the files a config names, and the endpoints it points to."""

import asyncio
import shutil
import ssl
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from yarl import URL

from paste_proxy.config import Config, DispatchTool, LlmRoute
from paste_proxy.errors import InputFault
from paste_proxy.mining.pool import Pool
from paste_proxy.proxy.http.hosts import is_loopback
from paste_proxy.proxy.llm_route import LlmRoutes, is_itself
from paste_proxy.proxy.mcp.probe import probe
from paste_proxy.proxy.named_files import read_patterns, read_policy
from paste_proxy.speculation.policy import Policy, combine

_REACH_S = 5.0
_NAMED = 5


class Level(StrEnum):
    """How a check came out; only `FAIL` means that something will not work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    level: Level
    what: str
    """The thing looked at: `llm /v1`, `mcp files`, `policy builtin:x`."""
    found: str
    mend: str = ""
    """What to do about it."""


def check_files(config: Config) -> list[Finding]:
    """Everything that can be said without the network. Reads files."""
    policies, pools = [], []
    findings = [*_bind(config), *_routes(config), *_recording(config)]
    for name in config.policies:
        try:
            policies.append(read_policy(name))
            findings.append(Finding(Level.OK, f"policy {name}", f"{len(policies[-1].rules)} rules"))
        except InputFault as fault:
            findings.append(Finding(Level.FAIL, f"policy {name}", fault.found, f"at {fault.where}: {fault.expected}"))
    for name in config.patterns:
        try:
            pools.append(read_patterns(name))
            findings.append(Finding(Level.OK, f"patterns {name}", f"{len(pools[-1].patterns)} patterns"))
        except InputFault as fault:
            findings.append(Finding(Level.FAIL, f"patterns {name}", fault.found, f"at {fault.where}: {fault.expected}"))
    return [*findings, *_unruled(combine(policies), pools), *_commands(config)]


async def check_endpoints(config: Config) -> list[Finding]:
    """Whether each upstream, MCP server and tool URL answers."""
    looks = [
        *(_llm(route, config) for route in config.llm),
        *(_mcp(name, config) for name in config.mcp),
        *(_tool(name, tool.url) for name, tool in config.tools.items() if tool.url is not None),
    ]
    return list(await asyncio.gather(*looks))


# --- files ----------------------------------------------------------------------------------------


def _bind(config: Config) -> Iterator[Finding]:
    if not is_loopback(config.host):
        mend = "bind 127.0.0.1, or start with --allow-remote if everyone who reaches it may use it"
        yield Finding(Level.WARN, "host", f"{config.host} can be reached by other machines", mend)


def _routes(config: Config) -> Iterator[Finding]:
    try:
        LlmRoutes(config.llm)
    except InputFault as fault:
        yield Finding(Level.FAIL, fault.where, fault.found, fault.expected)
    if not (config.llm or config.mcp or config.tools):
        yield Finding(Level.WARN, "config", "nothing to forward to", "add an [[llm]], [mcp.NAME] or [tools.NAME] table")
    if config.llm and not config.policies:
        yield Finding(Level.WARN, "policies", "none: no tool may be run ahead", 'policies = ["builtin:..."]')


def _recording(config: Config) -> Iterator[Finding]:
    directory = config.recording.directory
    if directory is None:
        return
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe_file = directory / ".paste-proxy-doctor"
        probe_file.touch(mode=0o600)
        probe_file.unlink()
        yield Finding(Level.OK, "recording", f"{directory} can be written")
    except OSError as fault:
        yield Finding(Level.FAIL, "recording", f"{directory}: {fault.strerror}", "name a folder that can be written")


def _unruled(policy: Policy, pools: Iterable[Pool]) -> Iterator[Finding]:
    tools = sorted({tool for pool in pools for tool in pool.tools if policy.rule_for(tool).rule is None})
    if tools:
        named = ", ".join(tools[:_NAMED]) + (f" and {len(tools) - _NAMED} more" if len(tools) > _NAMED else "")
        mend = "add rules that name them, or leave it so and they are never run ahead"
        yield Finding(Level.WARN, "policies", f"patterns predict tools that no rule names: {named}", mend)


def _commands(config: Config) -> Iterator[Finding]:
    for name, tool in config.tools.items():
        if tool.command:
            yield _command(name, tool)


def _command(name: str, tool: DispatchTool) -> Finding:
    if shutil.which(tool.command[0]) is None:
        return Finding(Level.FAIL, f"tool {name}", f"no program {tool.command[0]!r}", "install it or give its path")
    return Finding(Level.OK, f"tool {name}", f"{tool.command[0]} is there")


# --- endpoints ------------------------------------------------------------------------------------


async def _llm(route: LlmRoute, config: Config) -> Finding:
    what, url = f"llm {route.path}", URL(route.upstream)
    if is_itself(route.upstream, config.host, config.port):
        return Finding(Level.FAIL, what, f"{route.upstream} is this sidecar itself", "name the LLM's own address")
    fault = await _reached(url)
    if fault is not None:
        return Finding(Level.FAIL, what, fault, "start it, or correct `upstream`")
    version = route.path.rstrip("/").rpartition("/")[2]
    if version.startswith("v") and not url.path.rstrip("/").endswith(version):
        found = f"{route.path}/x goes to {route.upstream.rstrip('/')}/x, without /{version}"
        return Finding(Level.WARN, what, found, f"write {route.upstream.rstrip('/')}/{version} if that is not meant")
    return Finding(Level.OK, what, f"{url.origin()} reached")


async def _tool(name: str, url: str) -> Finding:
    fault = await _reached(URL(url))
    if fault is not None:
        return Finding(Level.FAIL, f"tool {name}", fault, "start it, or correct `url`")
    return Finding(Level.OK, f"tool {name}", f"{URL(url).origin()} reached")


async def _mcp(name: str, config: Config) -> Finding:
    answer = await probe(name, config.mcp[name])
    if isinstance(answer, str):
        return Finding(Level.FAIL, f"mcp {name}", answer, "run its command by hand, or correct `command` or `url`")
    return Finding(Level.OK, f"mcp {name}", f"{len(answer)} tools")


async def _reached(url: URL) -> str | None:
    """Connect, with TLS where the URL says so; gives what went wrong."""
    secure = ssl.create_default_context() if url.scheme == "https" else None
    try:
        async with asyncio.timeout(_REACH_S):
            _, writer = await asyncio.open_connection(url.host, url.port, ssl=secure)
    except TimeoutError:
        return f"{url.origin()} does not answer within {_REACH_S:.0f} s"
    except (OSError, ssl.SSLError) as fault:
        return f"{url.origin()} cannot be reached ({fault.strerror or fault})"
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return None
