"""Where qwen-code finds its LLM, and how its settings are turned to another place.

A model provider of the settings that lists the model in use decides; else an option, the environment, the
settings. Providers of other models are turned too, since the user may go over to them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from paste_proxy.agents.wrap.settings_file import Settings, section, text
from paste_proxy.events.values import Json

_BASE = {"openai": "OPENAI_BASE_URL", "openai-responses": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
"""Ways to sign in by whose endpoint can be turned, and the variable that names it."""
_VENDOR = {"OPENAI_BASE_URL": "https://api.openai.com/v1", "ANTHROPIC_BASE_URL": "https://api.anthropic.com"}
_DASHSCOPE = ("aliyuncs.com", "alibaba-inc.com", "aliyun-inc.com", "alicloudapi.com")
_PLAIN = ("api.openai.com", "api.anthropic.com", "127.0.0.1", "localhost", "::1")
_FIRST = "/llm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The model in use."""

    variable: str
    """The environment variable that names its endpoint, where no provider does."""
    upstream: str
    provided: bool
    """Whether a model provider lists it; settings for all models then do not count for it."""


def model_in_use(settings: Settings, env: Mapping[str, str], command: Sequence[str]) -> Model | None:
    """None: the client signs in in a way that cannot be turned, or has yet to ask how."""
    way = option(command, "--auth-type") or text(settings, "security", "auth", "selectedType") or _from(env)
    variable = _BASE.get(way)
    if variable is None:
        return None
    names = ("OPENAI_MODEL", "QWEN_MODEL") if way == "openai" else (variable.replace("BASE_URL", "MODEL"),)
    asked = option(command, "--model") or option(command, "-m") or text(settings, "model", "name")
    name = asked or next((env[key] for key in names if env.get(key)), "")
    listed = [entry for entry in providers(settings) if name and entry.get("id") == name]
    chosen = text(settings, "model", "baseUrl")
    entry = next((entry for entry in listed if entry.get("baseUrl") == chosen), listed[0] if listed else {})
    given = text(entry, "baseUrl") or option(command, "--openai-base-url") or env.get(variable)
    upstream = given or text(settings, "security", "auth", "baseUrl") or _VENDOR[variable]
    return Model(variable=variable, upstream=upstream, provided=bool(listed))


def providers(settings: Settings) -> list[Settings]:
    """All entries of all model providers."""
    lists = section(settings, "modelProviders").values()
    return [entry for entries in lists if isinstance(entries, list) for entry in entries if isinstance(entry, dict)]


def paths(settings: Settings, model: Model | None) -> dict[str, str]:
    """By endpoint its path on the sidecar; that of the model in use is first."""
    bases = [text(entry, "baseUrl") for entry in providers(settings)]
    known = dict.fromkeys(base for base in [model.upstream if model else "", *bases] if base.startswith("http"))
    return {base: _FIRST if number == 1 else f"{_FIRST}-{number}" for number, base in enumerate(known, 1)}


def turned_providers(settings: Settings, places: Mapping[str, str], headers: Mapping[str, Json]) -> Settings:
    """`modelProviders` with every endpoint in its new place, and these headers on every model.

    Args:
        places: endpoint -> its new URL.
    """

    def turn(entry: Json) -> Json:
        base = text(entry, "baseUrl")
        if not isinstance(entry, dict) or (base and base not in places):
            return entry
        generation = {**section(entry, "generationConfig")}
        generation["customHeaders"] = {**section(generation, "customHeaders"), **headers}
        return {**entry, **({"baseUrl": places[base]} if base else {}), "generationConfig": generation}

    return {
        name: [turn(entry) for entry in entries] if isinstance(entries, list) else entries
        for name, entries in section(settings, "modelProviders").items()
    }


def is_dashscope(upstream: str) -> bool:
    """Whether it is one of the hosts for which the client marks what to cache; a variable can name another."""
    return (urlsplit(upstream).hostname or "").endswith(_DASHSCOPE)


def is_plain(upstream: str) -> bool:
    """Whether the client treats the endpoint like any other of its protocol."""
    return (urlsplit(upstream).hostname or "") in _PLAIN


def option(command: Sequence[str], name: str) -> str:
    """The value of an option of the command; empty if it is not there."""
    for word, following in zip(command, [*command[1:], ""], strict=True):
        if word == "--":
            break
        if word == name:
            return following
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""


def _from(env: Mapping[str, str]) -> str:
    if env.get("OPENAI_API_KEY") and (env.get("OPENAI_MODEL") or env.get("QWEN_MODEL")) and env.get("OPENAI_BASE_URL"):
        return "openai"
    if env.get("ANTHROPIC_API_KEY") and env.get("ANTHROPIC_MODEL") and env.get("ANTHROPIC_BASE_URL"):
        return "anthropic"
    return ""
