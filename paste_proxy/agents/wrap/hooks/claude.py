"""Settings that give Claude Code the hook, where with it everything else stays as it is.

A hook's new command is what permissions are checked against, and what other hooks of the user's are shown
afterwards; so there must be no rule about Bash but one that allows all of it, and no hook about tools.
"""

import re
import shlex
import sys
from pathlib import Path

from paste_proxy.agents.wrap.claude_config import ClaudeConfig, option_values
from paste_proxy.agents.wrap.client import Behind
from paste_proxy.agents.wrap.hooks import in_place
from paste_proxy.agents.wrap.settings_file import Settings, at, section

_TOOL_HOOKS = {"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"}
_ALL_OF_BASH = ("Bash", "Bash(*)")
_WAIT_S = 70
_OF_SHELL = re.compile(r"PATH|LANG|LC_.*|TZ|LS_COLORS|GREP_.*|BASH.*|SHELL|CLAUDE_CODE_SHELL.*|COLUMNS|TMPDIR")
"""Variables that settings may set and that show in what commands write."""


def hooks(config: ClaudeConfig, behind: Behind, place: Path) -> Settings:
    """What goes under `hooks`; empty where a result cannot be put in place without changing anything else."""
    if any(_TOOL_HOOKS & section(layer, "hooks").keys() for layer in config.layers) or _restricted(config):
        return {}
    if any(at(layer, "sandbox", "enabled") for layer in config.layers):
        return {}
    if any(_OF_SHELL.fullmatch(name) for layer in config.layers for name in section(layer, "env")):
        return {}
    allowed = "yes" if _rules(config, "allow", "--allowedTools", "--allowed-tools") & set(_ALL_OF_BASH) else "no"
    words = (behind.url, behind.session, str(config.user.folder), str(place), allowed)
    command = shlex.join([sys.executable, "-I", "-S", in_place.__file__, *words])
    hook: Settings = {"type": "command", "command": command, "timeout": _WAIT_S}
    return {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}


def _restricted(config: ClaudeConfig) -> bool:
    """Whether some commands are forbidden or to be asked about."""
    rules = _rules(config, "deny", "--disallowedTools", "--disallowed-tools") | _rules(config, "ask")
    return any(rule.startswith("Bash") for rule in rules)


def _rules(config: ClaudeConfig, kind: str, *options: str) -> set[str]:
    lists = [at(layer, "permissions", kind) for layer in config.layers]
    said = {rule for rules in lists if isinstance(rules, list) for rule in rules if isinstance(rule, str)}
    for option in options:
        for value, _ in option_values(config.arguments, option, many=True):
            said |= {rule.strip() for rule in re.split(r"[,\s]+(?![^(]*\))", value)}
    return said
