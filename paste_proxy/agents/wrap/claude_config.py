"""What Claude Code reads before it starts: settings, MCP servers of every scope, and its command line.

Settings lie over one another: the user's, the project's, the project's local ones, those given with
`--settings`, and the administrator's on top. Of two servers with one name the local scope's wins over the
project's, that over the user's, and one given with `--mcp-config` over all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyjson5

from paste_proxy.agents.wrap.client import User
from paste_proxy.agents.wrap.settings_file import Settings, merged, read_settings, section
from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json

MANAGED = Path("/etc/claude-code")
"""The administrator's folder."""


@dataclass(frozen=True)
class ClaudeConfig:
    """One user's configuration for one command."""

    user: User
    arguments: tuple[str, ...]
    """What follows the program on the command line."""

    @cached_property
    def home(self) -> Path:
        """The folder of logins, transcripts and the user's settings."""
        return Path(self.user.env.get("CLAUDE_CONFIG_DIR") or self.user.home / ".claude")

    @cached_property
    def given(self) -> Settings:
        """What `--settings` says."""
        values = [value for value, _ in option_values(self.arguments, "--settings")]
        return self._object(values[-1], "--settings") if values else {}

    @cached_property
    def managed(self) -> Settings:
        """The administrator's settings."""
        return read_settings(MANAGED / "managed-settings.json")

    @cached_property
    def layers(self) -> tuple[Settings, ...]:
        """All settings, lowest first."""
        own = self.user.folder / ".claude"
        names = (self.home / "settings.json", own / "settings.json", own / "settings.local.json")
        return (*map(read_settings, names), self.given, self.managed)

    @cached_property
    def env(self) -> dict[str, str]:
        """The environment as the settings have it."""
        said = section(merged(self.layers), "env")
        return {**self.user.env, **{name: str(value) for name, value in said.items()}}

    def listed(self, key: str) -> set[str]:
        """The names in a list of that key, of the project's entry and of every layer of settings."""
        lists = [layer.get(key) for layer in (self._project, *self.layers)]
        return {name for names in lists if isinstance(names, list) for name in names if isinstance(name, str)}

    @cached_property
    def dynamic(self) -> Settings:
        """The servers given with `--mcp-config`."""
        values = [value for value, _ in option_values(self.arguments, "--mcp-config", many=True)]
        return merged(section(self._object(value, "--mcp-config"), "mcpServers") for value in values)

    @cached_property
    def servers(self) -> Settings:
        """The servers that take effect, but for plugins'; those of the project only if they are approved."""
        if "--strict-mcp-config" in self.arguments:
            return self.dynamic
        found = {**section(self._global, "mcpServers"), **self._approved, **section(self._project, "mcpServers")}
        off = self.listed("disabledMcpServers")
        return {**{name: entry for name, entry in found.items() if name not in off}, **self.dynamic}

    @cached_property
    def _approved(self) -> Settings:
        found: Settings = {}
        for place in (*reversed(self.user.folder.parents), self.user.folder):
            found.update(section(read_settings(place / ".mcp.json"), "mcpServers"))
        allowed, denied = self.listed("enabledMcpjsonServers"), self.listed("disabledMcpjsonServers")
        everything = (
            {"-p", "--print"} & set(self.arguments)
            or self._project.get("enableAllProjectMcpServers") is True
            or any(layer.get("enableAllProjectMcpServers") is True for layer in self.layers)
        )
        return {name: entry for name, entry in found.items() if name not in denied and (everything or name in allowed)}

    @cached_property
    def _global(self) -> Settings:
        return read_settings(Path(self.user.env.get("CLAUDE_CONFIG_DIR") or self.user.home) / ".claude.json")

    @cached_property
    def _project(self) -> Settings:
        folder = self.user.folder
        root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
        return section(self._global, "projects", str(root))

    def _object(self, value: str, where: str) -> Settings:
        """An object given as JSON or as the name of a file that holds it."""
        if not value.lstrip().startswith("{"):
            return read_settings(self.user.folder / value)
        try:
            found: Json = pyjson5.decode(value)
        except pyjson5.Json5Exception as fault:
            raise InputFault(where, f"cannot be read ({fault})", "a JSON object or a file that holds one") from fault
        return found if isinstance(found, dict) else {}


def option_values(arguments: Sequence[str], name: str, *, many: bool = False) -> Iterator[tuple[str, range]]:
    """Every value given to an option, and the words that say it.

    Args:
        many: the option takes every word up to the next option.
    """
    at = 0
    while at < len(arguments) and arguments[at] != "--":
        word, start = arguments[at], at
        at += 1
        if word.startswith(name + "="):
            yield word.removeprefix(name + "="), range(start, at)
        elif word == name:
            while at < len(arguments) and not arguments[at].startswith("-"):
                at += 1
                yield arguments[at - 1], range(start, at)
                if not many:
                    break


def without(arguments: Sequence[str], name: str, *, many: bool = False) -> tuple[str, ...]:
    """The arguments but for an option and its values."""
    gone = {place for _, words in option_values(arguments, name, many=many) for place in words}
    return tuple(word for place, word in enumerate(arguments) if place not in gone)
