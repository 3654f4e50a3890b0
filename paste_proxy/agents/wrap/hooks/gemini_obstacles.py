"""Where gemini-cli lets every command of its shell through as it is, and nobody else has a say: known settings,
known options, known variables, and no more. Whatever is not known to leave commands alone stands in the way.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from paste_proxy.agents.wrap.client import User
from paste_proxy.agents.wrap.gemini_llm import Endpoint, env_file
from paste_proxy.agents.wrap.hooks.surroundings import filled, surrounding_obstacles
from paste_proxy.agents.wrap.settings_file import Settings, section

ADMINISTRATORS = Path("/etc/gemini-cli")
_YOLO = {"-y", "--yolo"}
_ALONE = {*_YOLO, "-d", "--debug"}
_PROMPT = {"-p", "--prompt"}
_VALUED = {*_PROMPT, "-m", "--model", "-o", "--output-format", "--session-id"}
_MODE = "--approval-mode"
_ANY: frozenset[str] | None = None
_SETTINGS: Mapping[str, frozenset[str] | None] = {
    "$schema": _ANY,
    "mcpServers": _ANY,
    "privacy": _ANY,
    "telemetry": _ANY,
    "ui": _ANY,
    "output": _ANY,
    "general": frozenset({"enableAutoUpdate", "enableAutoUpdateNotification", "preferredEditor", "vimMode"}),
    "model": frozenset({"name", "maxSessionTurns"}),
    "security": frozenset({"auth"}),
}
"""Known settings, and what is known under each."""
_VARIABLES = {"GEMINI_API_KEY", "GEMINI_MODEL", "GEMINI_CLI_HOME", "GEMINI_CLI_CUSTOM_HEADERS"}
_VARIABLES |= {"GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_NO_RELAUNCH"}
_FOR_THE_LLM = re.compile(r"GOOGLE_\w+")
_OWN_FOLDER = {"settings.json", ".env", "GEMINI.md"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What gemini-cli goes by in one run."""

    user: User
    arguments: tuple[str, ...]
    """What follows the program on the command line."""
    home: Path
    """The folder in which its own `.gemini` lies."""
    settings: Settings
    """All layers, merged."""
    llm: Endpoint | None

    @property
    def watched(self) -> tuple[Path, ...]:
        """Files and folders that say what it may do."""
        own, home = self.user.folder / ".gemini", self.home / ".gemini"
        return (own, own / "settings.json", own / "policies", home / "settings.json", home / "policies", ADMINISTRATORS)


def obstacle(layout: Layout) -> str:
    """Why no result can be put in place; empty where it can."""
    user = layout.user
    return next(
        chain(
            surrounding_obstacles(user.folder, user.env),
            _of_options(layout.arguments),
            _of_administrators(layout),
            _of_settings(layout.settings),
            _of_folders(user.folder, layout.home),
            _of_environment(user.env, env_file(user.folder, layout.home)),
        ),
        "",
    )


def _of_options(arguments: tuple[str, ...]) -> Iterator[str]:
    words, said = iter(arguments), set[str]()
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("-") and word not in _ALONE:
            if name not in (*_VALUED, _MODE):
                yield f"the option {name} is not known to leave commands alone"
            value = value if equals else next(words, "-")
            if name == _MODE and value != "yolo":
                yield f"{_MODE} is {value}"
        said.add(name)
    if not said & {*_YOLO, _MODE} or not said & _PROMPT:
        yield "it is not started with -p and --yolo, and so may ask before a command"


def _of_administrators(layout: Layout) -> Iterator[str]:
    if filled(ADMINISTRATORS):
        yield f"an administrator's settings are in {ADMINISTRATORS}"
    if layout.llm is None or layout.llm.variable == "CODE_ASSIST_ENDPOINT":
        yield "an administrator may set what an account may do; it is signed in by no key of its own"


def _of_settings(settings: Settings) -> Iterator[str]:
    for key, value in sorted(settings.items()):
        if key not in _SETTINGS:
            if value not in ({}, [], None):
                yield f"the setting {key} is not known to leave commands alone"
            continue
        known = _SETTINGS[key]
        for inner in sorted(section(settings, key)):
            if known is not None and inner not in known:
                yield f"the setting {key}.{inner} is not known to leave commands alone"


def _of_folders(folder: Path, home: Path) -> Iterator[str]:
    for kind in ("policies", "extensions", "agents", "skills"):
        if filled(home / ".gemini" / kind):
            yield f"{home / '.gemini' / kind} may say more about commands"
    if folder.resolve() == home.resolve():
        yield f"{folder} is no project's folder"
    own = folder / ".gemini"
    for entry in sorted(own.iterdir()) if own.is_dir() else ():
        if entry.name not in _OWN_FOLDER:
            yield f"{entry} is not known to leave commands alone"


def _of_environment(env: Mapping[str, str], more: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({**env, **more}):
        known = name in _VARIABLES or _FOR_THE_LLM.fullmatch(name)
        if not known and (name.startswith("GEMINI") or name in more):
            yield f"the variable {name} is not known to leave commands alone"
