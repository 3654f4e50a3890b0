"""Where Claude Code lets every command of its shell through as it is, and nobody else has a say: known settings,
known options, known variables, and no more. Whatever is not known to leave commands alone stands in the way.
"""

import re
from collections.abc import Iterator
from itertools import chain

from paste_proxy.agents.wrap import claude_config
from paste_proxy.agents.wrap.claude_config import ClaudeConfig, option_values
from paste_proxy.agents.wrap.hooks.surroundings import filled, surrounding_obstacles
from paste_proxy.agents.wrap.settings_file import Settings, at, read_if_good, section

_ALONE = {"-p", "--print", "--verbose", "--include-partial-messages", "--strict-mcp-config"}
_ALONE |= {"--no-session-persistence", "--dangerously-skip-permissions"}
_VALUED = {"--output-format", "--model", "--fallback-model", "--effort", "--max-turns", "--max-budget-usd"}
_VALUED |= {"--session-id", "--settings", "--system-prompt", "--append-system-prompt", "--json-schema"}
_ALLOWED = ("--allowedTools", "--allowed-tools")
_MANY = {*_ALLOWED, "--mcp-config"}
_BYPASS = "--dangerously-skip-permissions"
_SETTINGS = {"$schema", "model", "theme", "language", "cleanupPeriodDays", "includeCoAuthoredBy", "attribution"}
_SETTINGS |= {"apiKeyHelper", "alwaysThinkingEnabled", "effortLevel", "autoUpdatesChannel"}
_SETTINGS |= {"enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers"}
_LOOKED_INTO = {"env", "permissions"}
_MODES = (None, "default", "acceptEdits")
_ALL_OF_BASH = {"Bash", "Bash(*)"}
_VARIABLES = re.compile(
    r"ANTHROPIC_\w+|CLAUDE_CONFIG_DIR|CLAUDE_CODE_(?:OAUTH_TOKEN|MAX_OUTPUT_TOKENS|ENABLE_TELEMETRY"
    r"|DISABLE_NONESSENTIAL_TRAFFIC|DISABLE_TERMINAL_TITLE)|DISABLE_(?:AUTOUPDATER|TELEMETRY|ERROR_REPORTING"
    r"|BUG_COMMAND|COST_WARNINGS)|MAX_THINKING_TOKENS|API_TIMEOUT_MS|OTEL_\w+|(?:HTTPS?|NO)_PROXY"
)
_OF_CLAUDE = re.compile(r"_?CLAUDE.*|AI_AGENT")
_OWN_FOLDER = {"settings.json", "settings.local.json", "CLAUDE.md"}


def obstacle(config: ClaudeConfig) -> str:
    """Why no result can be put in place; empty where it can.

    Raises:
        InputFault: a settings file cannot be read; Claude Code does not start with it either.
    """
    return next(
        chain(
            surrounding_obstacles(config.user.folder, config.user.env),
            _of_options(config),
            _of_administrators(config),
            _of_settings(config),
            _of_folders(config),
            _of_environment(config),
            _of_leave(config),
        ),
        "",
    )


def modes(config: ClaudeConfig) -> tuple[str, ...]:
    """The permission modes in which all of Bash may run unasked."""
    if _given(config) & _ALL_OF_BASH:
        return ("default", "acceptEdits", "bypassPermissions")
    return ("bypassPermissions",) if _BYPASS in config.arguments else ()


def _given(config: ClaudeConfig) -> set[str]:
    lists = [at(layer, "permissions", "allow") for layer in config.layers]
    said = {rule for rules in lists if isinstance(rules, list) for rule in rules if isinstance(rule, str)}
    for option in _ALLOWED:
        for value, _ in option_values(config.arguments, option, many=True):
            said |= {rule.strip() for rule in re.split(r"[,\s]+(?![^(]*\))", value)}
    return said


def _of_options(config: ClaudeConfig) -> Iterator[str]:
    words = iter(config.arguments)
    for word in words:
        name, equals, _ = word.partition("=")
        if word == "--":
            return
        if not word.startswith("-") or word in _ALONE or name in _MANY or (equals and name in _VALUED):
            continue
        if word not in _VALUED or next(words, "-").startswith("-"):
            yield f"the option {name} is not known to leave commands alone"


def _of_administrators(config: ClaudeConfig) -> Iterator[str]:
    for place in (claude_config.MANAGED, config.home / "remote-settings.json"):
        if filled(place):
            yield f"an administrator's settings are in {place}"


def _of_settings(config: ClaudeConfig) -> Iterator[str]:
    if len(list(option_values(config.arguments, "--settings"))) > 1:
        yield "--settings is given more than once"
    for layer in config.layers:
        for key in sorted(layer.keys() - _SETTINGS - _LOOKED_INTO):
            if layer[key] not in ({}, [], None):
                yield f"the setting {key} is not known to leave commands alone"
        yield from _of_permissions(section(layer, "permissions"))
        for name in section(layer, "env"):
            if not _VARIABLES.fullmatch(name):
                yield f"settings set the variable {name}, which is not known to leave commands alone"


def _of_permissions(permissions: Settings) -> Iterator[str]:
    for key in sorted(permissions.keys() - {"allow", "defaultMode"}):
        if permissions[key] not in ([], None):
            yield f"there are rules under permissions.{key}"
    if permissions.get("defaultMode") not in _MODES:
        yield f"permissions.defaultMode is {permissions['defaultMode']}"


def _of_folders(config: ClaudeConfig) -> Iterator[str]:
    folder = config.user.folder
    for kind in ("agents", "skills", "commands"):
        if filled(config.home / kind):
            yield f"{config.home / kind} may hold hooks"
    if section(read_if_good(config.home / "plugins/installed_plugins.json"), "plugins"):
        yield "plugins are installed, which may have hooks"
    if (folder / ".git").is_file():
        yield f"{folder} is a worktree, whose settings may be another's"
    if (folder / ".claude").resolve() == config.home.resolve():
        yield f"{folder} is no project's folder"
    for place in (folder, *folder.parents):
        own = place / ".claude"
        if own.resolve() == config.home.resolve() or not own.is_dir():
            continue
        for entry in sorted(own.iterdir()):
            if place != folder or entry.name not in _OWN_FOLDER:
                yield f"{entry} is not known to leave commands alone"


def _of_environment(config: ClaudeConfig) -> Iterator[str]:
    for name in sorted(config.user.env):
        if _OF_CLAUDE.fullmatch(name) and not _VARIABLES.fullmatch(name):
            yield f"the variable {name} is not known to leave commands alone"


def _of_leave(config: ClaudeConfig) -> Iterator[str]:
    if not {"-p", "--print"} & set(config.arguments):
        yield "it is not headless (-p), so that rules may be added as it runs"
    if not modes(config):
        yield "Bash as a whole is not allowed (--allowedTools Bash)"
