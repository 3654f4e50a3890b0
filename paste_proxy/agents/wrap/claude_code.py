"""Claude Code, turned by `--settings` and `--mcp-config` on its command line, which outrank its files.

Its own folder is left where it is: the key under which it keeps its login depends on that folder's name, and
a login that is a link is refused.
"""

import sys
from pathlib import Path
from urllib.parse import urlsplit

from paste_proxy.agents.wrap.claude_config import MANAGED, ClaudeConfig, without
from paste_proxy.agents.wrap.client import SESSION_HEADER, Behind, Found, Prepared, User
from paste_proxy.agents.wrap.hooks.claude import hooks
from paste_proxy.agents.wrap.hooks.claude_obstacles import obstacle
from paste_proxy.agents.wrap.program import program_at
from paste_proxy.agents.wrap.servers import expansion, read_servers, turned
from paste_proxy.agents.wrap.settings_file import Settings, merged, read_settings, section
from paste_proxy.config import LlmRoute
from paste_proxy.events.values import Json, dumps

_PATH = "/anthropic"
_ANTHROPIC = "https://api.anthropic.com"
_ADDRESS = "ANTHROPIC_BASE_URL"
_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
_FIRST_PARTY = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL"
"""Said where requests go on to Anthropic itself, or Claude Code would leave things out that it does there."""
_CLOUDS = {
    f"CLAUDE_CODE_USE_{name}": name.replace("_", " ").title()
    for name in ("BEDROCK", "VERTEX", "FOUNDRY", "MANTLE", "ANTHROPIC_AWS", "ANTHROPIC_GOOGLE_CLOUD", "GATEWAY")
}


class ClaudeCode:
    """Anthropic's Claude Code."""

    name = "claude-code"

    def recognises(self, command: tuple[str, ...]) -> bool:
        """Whether the command starts Claude Code."""
        return _program(command) is not None

    def find(self, user: User) -> Found:
        """Read what Claude Code would read.

        Raises:
            InputFault: a file that it reads is no JSON object.
        """
        config = _config(user)
        routes, llm_notes = _routes(config)
        stands = obstacle(config)
        if why := _administered(config):
            return Found(routes=routes, notes=(*llm_notes, why), obstacle=stands)
        signed_in = _signed_in(config.home)
        entries = {
            name: _marked(entry) if name in signed_in or _may_be_signed_in(entry) else entry
            for name, entry in config.servers.items()
        }
        servers, notes = read_servers(entries, expand=expansion(config.env, bare=False), folder=user.folder)
        return Found(routes=routes, servers=servers, notes=(*llm_notes, *notes), obstacle=stands)

    def prepare(self, user: User, found: Found, behind: Behind, home: Path) -> Prepared:
        """Write settings and servers into `home` and name them on the command line."""
        config, at = _config(user), _program(user.command)
        assert at is not None
        arguments, more = config.arguments, []
        said = _turned_env(config, behind) if found.routes else {}
        settings: Settings = {"env": dict(said)} if said else {}
        if behind.substitute:
            settings["hooks"] = hooks(config, behind, home)
        if settings:
            arguments = without(arguments, "--settings")
            more.append(f"--settings={_written(home / 'settings.json', merged((config.given, settings)))}")
        if found.servers:
            arguments = without(arguments, "--mcp-config", many=True)
            servers = {name: turned(config.servers[name], name, behind, key="url") for name in found.servers}
            there: Settings = {"mcpServers": {**config.dynamic, **servers}}
            more.append(f"--mcp-config={_written(home / 'mcp.json', there)}")
        return Prepared(command=(*user.command[: at + 1], *more, *arguments), env={**user.env, **said})


def _program(command: tuple[str, ...]) -> int | None:
    packages = ("@anthropic-ai/claude-code", "@anthropic-ai/claude-code-linux-x64")
    return program_at(command, names=("claude",), packages=packages)


def _config(user: User) -> ClaudeConfig:
    at = _program(user.command)
    return ClaudeConfig(user, user.command[at + 1 :] if at is not None else ())


def _routes(config: ClaudeConfig) -> tuple[tuple[LlmRoute, ...], tuple[str, ...]]:
    """The endpoint, or why it stays out of sight."""
    env = config.env
    cloud = next((cloud for name, cloud in _CLOUDS.items() if env.get(name, "0").lower() not in ("", "0", "false")), "")
    if cloud:
        return (), (f"the LLM is asked directly: requests to {cloud} are signed for its own address",)
    if _ADDRESS in section(config.managed, "env"):
        return (), (f"the LLM is asked directly: an administrator has set {_ADDRESS}",)
    return (LlmRoute(path=_PATH, upstream=env.get(_ADDRESS) or _ANTHROPIC),), ()


def _administered(config: ClaudeConfig) -> str:
    """Why no MCP server can be turned; empty if they can."""
    if (MANAGED / "managed-mcp.json").exists() or {"allowedMcpServers", "deniedMcpServers"} & config.managed.keys():
        return "MCP servers stay out of the sidecar: an administrator says which there are"
    return ""


def _signed_in(home: Path) -> set[str]:
    """Servers that Claude Code itself has signed in to: its token is for their own address."""
    found = section(read_settings(home / ".credentials.json"), "mcpOAuth").values()
    names = (one.get("serverName") for one in found if isinstance(one, dict))
    return {name for name in names if isinstance(name, str)}


def _may_be_signed_in(entry: Json) -> bool:
    """Whether a keychain that nobody can look into may hold a token for it."""
    return sys.platform == "darwin" and isinstance(entry, dict) and "url" in entry and "headers" not in entry


def _marked(entry: Json) -> Json:
    return {**entry, "oauth": True} if isinstance(entry, dict) else entry


def _turned_env(config: ClaudeConfig, behind: Behind) -> dict[str, str]:
    tag = f"{SESSION_HEADER}: {behind.session}"
    headers = config.env.get(_HEADERS, "").strip()
    said = {_ADDRESS: behind.url + _PATH, _HEADERS: f"{headers}\n{tag}" if headers else tag}
    upstream = config.env.get(_ADDRESS) or _ANTHROPIC
    if urlsplit(upstream).hostname == urlsplit(_ANTHROPIC).hostname:
        said[_FIRST_PARTY] = "1"
    return said


def _written(path: Path, tree: Json) -> Path:
    path.write_bytes(dumps(tree))
    path.chmod(0o600)
    return path
