"""What `doctor` says of a config without asking anybody: its address, its routes, the files it names."""

import shutil
import socket
from collections.abc import Iterable, Iterator

from paste_proxy.config import Config, DispatchTool
from paste_proxy.errors import InputFault
from paste_proxy.mining.pool import Pool
from paste_proxy.proxy.budget_checkup import check_budgets
from paste_proxy.proxy.finding import Finding, Level, counted, writable
from paste_proxy.proxy.llm_route import LlmRoutes
from paste_proxy.proxy.memory_checkup import check_memory
from paste_proxy.proxy.named_files import read_patterns, read_policy
from paste_proxy.proxy.running import runs_there
from paste_proxy.proxy.server import check_host
from paste_proxy.speculation.policy import Policy, combine
from paste_proxy.speculation.rule_check import overshadowed

_NAMED = 5


def faulty(what: str, name: str, fault: InputFault) -> Finding:
    """What is wrong with a file; its name is not said twice."""
    place = fault.where.removeprefix(name).lstrip(": ")
    return Finding(Level.FAIL, what, f"{place}: {fault.found}" if place else fault.found, f"expected {fault.expected}")


def check_files(config: Config, *, allow_remote: bool = False) -> list[Finding]:
    """Everything that can be said without asking anybody. Reads files, and binds the ports for a moment.

    Args:
        allow_remote: whether a host that other machines can reach is meant.
    """
    policies, pools = [], []
    findings = [*_addresses(config, allow_remote=allow_remote), *_routes(config), *_recording(config)]
    findings += check_memory(config)
    for name in config.policies:
        try:
            policies.append(read_policy(name))
            findings.append(Finding(Level.OK, f"policy {name}", counted(len(policies[-1].rules), "rule")))
        except InputFault as fault:
            findings.append(faulty(f"policy {name}", name, fault))
    for name in config.patterns:
        try:
            pools.append(read_patterns(name))
            findings.append(Finding(Level.OK, f"patterns {name}", counted(len(pools[-1].patterns), "pattern")))
        except InputFault as fault:
            findings.append(faulty(f"patterns {name}", name, fault))
    policy = combine(policies)
    findings += [*check_budgets(config, policy), *_unstaged(policy), *_unruled(policy, pools)]
    return [*findings, *_commands(config, policy)]


def _addresses(config: Config, *, allow_remote: bool) -> Iterator[Finding]:
    try:
        check_host(config.host, allow_remote=allow_remote)
    except InputFault as fault:
        yield Finding(Level.FAIL, "address", fault.found, fault.expected)
        return
    own = _address(config.host, config.port, "stop what holds it, or set another `port`")
    runs = runs_there(config) if own.level is Level.FAIL else None
    yield Finding(Level.OK, "address", f"{config.host}:{config.port}: it runs there ({runs})") if runs else own
    for port in sorted({port for route in config.llm for port in route.ports}):
        beside = _address(config.host, port, "stop what holds it: the LLM's own server goes to another port")
        if not (runs and beside.level is Level.FAIL):
            yield beside


def _address(host: str, port: int, mend: str) -> Finding:
    try:
        _bind(host, port)
    except OSError as fault:
        return Finding(Level.FAIL, "address", f"{host}:{port} cannot be bound ({fault.strerror or fault})", mend)
    return Finding(Level.OK, "address", f"{host}:{port} can be bound")


def _bind(host: str, port: int) -> None:
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind(address)


def _routes(config: Config) -> Iterator[Finding]:
    try:
        LlmRoutes(config.llm, config.engines)
    except InputFault as fault:
        yield Finding(Level.FAIL, fault.where, fault.found, fault.expected)
    if not (config.llm or config.mcp or config.tools):
        yield Finding(Level.WARN, "config", "nothing to forward to", "add an [[llm]], [mcp.NAME] or [tools.NAME] table")
    elif not config.policies:
        yield Finding(Level.WARN, "policies", "none: no tool may be run ahead", 'policies = ["builtin:..."]')


def _recording(config: Config) -> Iterator[Finding]:
    if config.recording.directory is not None:
        yield writable("recording", config.recording.directory)


def _unstaged(policy: Policy) -> Iterator[Finding]:
    """Rules that stage, and never decide."""
    for rule, by in overshadowed(policy.rules):
        if rule.stage:
            found = f"{rule.place} stages nothing, since {by.place} takes all its calls: the first that fits decides"
            yield Finding(Level.WARN, "policies", found, "name the policy that stages before the other in `policies`")


def _unruled(policy: Policy, pools: Iterable[Pool]) -> Iterator[Finding]:
    predicted = {tool for pool in pools for tool in pool.foreseen}
    tools = sorted(tool for tool in predicted if not policy.of_tool(tool).named)
    if tools:
        named = ", ".join(tools[:_NAMED]) + (f" and {len(tools) - _NAMED} more" if len(tools) > _NAMED else "")
        mend = "add rules that name them, or leave it so and they are never run ahead"
        yield Finding(Level.WARN, "policies", f"patterns predict tools that no rule names: {named}", mend)


def _commands(config: Config, policy: Policy) -> Iterator[Finding]:
    for name, tool in config.tools.items():
        if tool.command:
            yield _command(name, tool, policy)


def _command(name: str, tool: DispatchTool, policy: Policy) -> Finding:
    if shutil.which(tool.command[0]) is None:
        return Finding(Level.FAIL, f"tool {name}", f"no program {tool.command[0]!r}", "install it or give its path")
    return ruled(policy, name, f"{tool.command[0]} is there")


def ruled(policy: Policy, tool: str, found: str) -> Finding:
    """What was found of a configured tool, and what the policy says about it."""
    standing = policy.of_tool(tool)
    if not standing.named:
        return Finding(Level.WARN, f"tool {tool}", f"{found}; no rule names it", "add one, or it is never run ahead")
    said = "may be run ahead" if standing.allowed else f"a {standing.rulings[0].effect.value}, never run ahead"
    return Finding(Level.OK, f"tool {tool}", f"{found}; {said}")
