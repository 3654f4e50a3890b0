"""Codex's configuration as it takes effect: its layers, lowest first, merged table by table.

The layers are `config.toml` in `CODEX_HOME`, a profile, the `.codex/config.toml` of a trusted project,
and what the command line says with `-c`.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paste_proxy.agents.wrap.client import User
from paste_proxy.errors import InputFault
from paste_proxy.events.toml import read_toml

Table = dict[str, Any]

_NOT_FOR_PROJECTS = ("model_provider", "model_providers", "openai_base_url", "projects")
"""What Codex does not take from a project's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option with a value on a command line."""

    at: int
    words: int
    """How many words it takes up."""
    value: str


def options(arguments: Sequence[str], short: str, long: str) -> Iterator[Option]:
    """Every `-c VALUE`, `-cVALUE`, `--config VALUE` and `--config=VALUE` up to a `--`."""
    at = 0
    while at < len(arguments) and arguments[at] != "--":
        word = arguments[at]
        if word in (short, long) and at + 1 < len(arguments):
            yield Option(at=at, words=2, value=arguments[at + 1])
            at += 1
        elif word.startswith(long + "="):
            yield Option(at=at, words=1, value=word.removeprefix(long + "="))
        elif word.startswith(short) and not word.startswith("--") and word != short:
            yield Option(at=at, words=1, value=word.removeprefix(short).removeprefix("="))
        at += 1


def codex_home(user: User) -> Path:
    """The folder of its configuration, login and transcripts."""
    return Path(user.env.get("CODEX_HOME") or user.home / ".codex")


def effective(user: User, arguments: Sequence[str]) -> Table:
    """The configuration that Codex would run with.

    Raises:
        InputFault: a file is no TOML.
    """
    home = codex_home(user)
    config = _read(home / "config.toml")
    profiles = [option.value for option in options(arguments, "-p", "--profile")]
    profile = profiles[-1] if profiles else config.get("profile")
    if isinstance(profile, str):
        _merge(config, _table(_table(config, "profiles"), profile))
        _merge(config, _read(home / f"{profile}.config.toml"))
    for layer in _of_projects(config, _folder(user, arguments)):
        _merge(config, layer)
    for option in options(arguments, "-c", "--config"):
        key, _, value = option.value.partition("=")
        _merge(config, _nested(key.strip().split("."), _value(value)))
    return config


def _of_projects(config: Table, folder: Path) -> list[Table]:
    """The layers of the projects that the folder lies in, outermost first."""
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    projects = _table(config, "projects")
    if not any(_table(projects, str(place)).get("trust_level") == "trusted" for place in (folder, root)):
        return []
    places = [place for place in (folder, *folder.parents) if place == root or root in place.parents]
    layers = [_read(place / ".codex" / "config.toml") for place in reversed(places)]
    return [{key: value for key, value in layer.items() if key not in _NOT_FOR_PROJECTS} for layer in layers]


def _folder(user: User, arguments: Sequence[str]) -> Path:
    given = [option.value for option in options(arguments, "-C", "--cd")]
    return (user.folder / given[-1]).resolve() if given else user.folder


def _read(path: Path) -> Table:
    try:
        return read_toml(path.read_text("utf-8"), str(path), "a TOML file, as Codex reads it")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as fault:
        raise InputFault(str(path), f"cannot be read ({fault})", "a TOML file, as Codex reads it") from fault


def _table(tree: Mapping[str, Any], key: str) -> Table:
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


def _nested(keys: Sequence[str], value: object) -> Table:
    return {keys[0]: value if len(keys) == 1 else _nested(keys[1:], value)}


def _value(text: str) -> object:
    with suppress(tomllib.TOMLDecodeError):
        return tomllib.loads(f"value = {text}")["value"]
    return text.strip().strip("\"'")


def _merge(under: Table, over: Table) -> None:
    for key, value in over.items():
        below = under.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            _merge(below, value)
        else:
            under[key] = value
