"""What `doctor` finds out by asking: whether upstreams and tools answer, and what the policy makes of MCP servers."""

import asyncio
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from yarl import URL

from paste_proxy.config import Config, LlmRoute, McpServer
from paste_proxy.errors import InputFault, place_of
from paste_proxy.proxy.checkup import ruled
from paste_proxy.proxy.engine_checkup import check_engines
from paste_proxy.proxy.finding import Finding, Level, counted
from paste_proxy.proxy.llm_route import is_itself
from paste_proxy.proxy.mcp.probe import probe
from paste_proxy.proxy.named_files import read_policy
from paste_proxy.speculation.hints import Hints
from paste_proxy.speculation.policy import Policy, combine

_REACH_S = 5.0


async def check_endpoints(config: Config) -> list[Finding]:
    """Whether each upstream, MCP server and tool URL answers."""
    policy = await asyncio.to_thread(_readable, config)
    looks = [
        *(_llm(route, config) for route in config.llm),
        *(_mcp(name, server, policy) for name, server in config.mcp.items()),
        *(_tool(name, tool.url, policy) for name, tool in config.tools.items() if tool.url is not None),
    ]
    return [*_once(await asyncio.gather(*looks)), *await check_engines(config)]


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Those of which one fault is said together: several routes may lead to one upstream."""
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        same = (finding.level, finding.found, finding.mend) if finding.level is Level.FAIL else (finding.what,)
        alike.setdefault(same, []).append(finding)
    for group in alike.values():
        yield replace(group[0], what=", ".join(dict.fromkeys(finding.what for finding in group)))


def _readable(config: Config) -> Policy:
    policies = []
    for name in config.policies:
        with suppress(InputFault):
            policies.append(read_policy(name))
    return combine(policies)


async def _llm(route: LlmRoute, config: Config) -> Finding:
    what, url, place = f"llm {route.path}", URL(route.upstream), place_of(route.upstream)
    ports = {config.port, *(port for one in config.llm for port in one.ports)}
    if any(is_itself(route.upstream, config.host, port) for port in ports):
        return Finding(Level.FAIL, what, f"{place} is this sidecar itself", "name the LLM's own address")
    fault = await _reached(url)
    if fault is not None:
        return Finding(Level.FAIL, what, _words(url, fault), _advice(fault, "upstream"))
    version = route.path.rstrip("/").rpartition("/")[2]
    if version.startswith("v") and not url.path.rstrip("/").endswith(version):
        found = f"{route.path}/x goes to {place.rstrip('/')}/x, without /{version}"
        return Finding(Level.WARN, what, found, f"write {place.rstrip('/')}/{version} if that is not meant")
    return Finding(Level.OK, what, f"{url.origin()} reached")


async def _tool(name: str, address: str, policy: Policy) -> Finding:
    url = URL(address)
    fault = await _reached(url)
    if fault is not None:
        return Finding(Level.FAIL, f"tool {name}", _words(url, fault), _advice(fault, "url"))
    return ruled(policy, name, f"{url.origin()} reached")


async def _mcp(name: str, server: McpServer, policy: Policy) -> Finding:
    what = f"mcp {name}"
    fault = await _reached(URL(server.url)) if server.url is not None else None
    if server.url is not None and fault is not None:
        return Finding(Level.FAIL, what, _words(URL(server.url), fault), _advice(fault, "url"))
    tools = await probe(name, server)
    if isinstance(tools, str):
        mend = (
            "run its `command` by hand, or correct it" if server.url is None else "correct `url`: it is no MCP server"
        )
        return Finding(Level.FAIL, what, tools, mend)
    for tool in tools:
        policy.annotated(f"{name}/{tool.name}", Hints(tool.read_only, tool.open_world))
    standings = [policy.of_tool(f"{name}/{tool.name}") for tool in tools]
    ahead = sum(standing.allowed for standing in standings)
    unnamed = sum(not standing.named for standing in standings)
    found = (
        f"{counted(len(tools), 'tool')}: {ahead} may be run ahead, "
        f"{len(tools) - ahead - unnamed} may not, {unnamed} named by no rule"
    )
    if not server.stateless:
        return Finding(
            Level.WARN, what, f"{found}; stateless = false", "none is ever run ahead; say so only if it is so"
        )
    if not ahead:
        return Finding(Level.WARN, what, f"{found}; so none ever is", _rules_for(name, policy))
    return Finding(Level.OK, what, found)


def _rules_for(name: str, policy: Policy) -> str:
    """How a server comes by rules."""
    globs = sorted({glob.server for rule in policy.rules for glob in rule.tools if glob.server})
    if globs and not any(rule.of_server(name) for rule in policy.rules):
        return f"the policies speak of servers named {', '.join(globs)}: rename this one, or add rules for it"
    return "add rules that name its reads"


async def _reached(url: URL) -> OSError | None:
    """Connect, with TLS where the URL says so; gives what went wrong."""
    secure = ssl.create_default_context() if url.scheme == "https" else None
    try:
        async with asyncio.timeout(_REACH_S):
            _, writer = await asyncio.open_connection(url.host, url.port, ssl=secure)
    except OSError as fault:  # a timeout and a TLS fault are two of them
        return fault
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return None


def _words(url: URL, fault: OSError) -> str:
    if isinstance(fault, TimeoutError):
        return f"{url.origin()} does not answer within {_REACH_S:.0f} s"
    return f"{url.origin()} cannot be reached ({fault.strerror or fault})"


def _advice(fault: OSError, key: str) -> str:
    match fault:
        case ssl.SSLCertVerificationError():
            return f"this machine does not trust its certificate: install its authority, or correct `{key}`"
        case ssl.SSLError():
            return f"it does not speak TLS there: write http:// in `{key}`, or name its TLS port"
        case socket.gaierror():
            return f"correct the host in `{key}`"
        case _:
            return f"start it, or correct `{key}`"
