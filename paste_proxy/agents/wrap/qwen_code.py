"""qwen-code: all by system settings, which lie over the user's and the project's, in a file of the run's own.

The user's home stays the client's home.
"""

from collections.abc import Mapping
from pathlib import Path

from paste_proxy.agents.wrap.client import SESSION_HEADER, Behind, Found, Prepared, User
from paste_proxy.agents.wrap.program import program_at
from paste_proxy.agents.wrap.qwen_llm import (
    is_dashscope,
    is_plain,
    model_in_use,
    option,
    paths,
    turned_providers,
)
from paste_proxy.agents.wrap.servers import expansion, read_servers, turned
from paste_proxy.agents.wrap.settings_file import (
    Settings,
    merged,
    read_env_file,
    read_if_good,
    read_settings,
    section,
    text,
)
from paste_proxy.config import LlmRoute
from paste_proxy.errors import place_of
from paste_proxy.events.values import Json, dumps

_SYSTEM = Path("/etc/qwen-code/settings.json")
_SETTINGS, _DEFAULTS = "QWEN_CODE_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
_NO_LLM = "its way to sign in is none that can be turned, so its LLM stays out of the sidecar's sight"
_GATED = "it is the project's, and the client asks you to approve it as it stands there"
_BY_HOST = "goes by its LLM's host in small things, such as what it marks for caching; for {} it does not now"


class QwenCode:
    """`qwen`, of the npm package @qwen-code/qwen-code."""

    name = "qwen-code"

    def recognises(self, command: tuple[str, ...]) -> bool:
        """By its name, its package, or its script."""
        return program_at(command, names=("qwen", "qwen-code"), packages=("@qwen-code/qwen-code",)) is not None

    def find(self, user: User) -> Found:
        """The endpoints of the model in use and of all providers, and the servers of all its settings."""
        layers = _Layers(user)
        model = model_in_use(layers.whole, layers.env, user.command)
        found = paths(layers.whole, model)
        notes = [] if model else [_NO_LLM]
        if model and not is_plain(model.upstream) and not is_dashscope(model.upstream):
            notes.append(f"{self.name} {_BY_HOST.format(place_of(model.upstream))}")
        gated = layers.gated()
        servers, left = read_servers(
            {name: entry for name, entry in layers.servers().items() if name not in gated},
            expand=expansion(layers.env, defaults=False),
            folder=user.folder,
            plain_url="sse",
        )
        notes += [f"MCP server {name!r} stays out of the sidecar: {_GATED}" for name in gated]
        routes = tuple(LlmRoute(path=path, upstream=base) for base, path in found.items())
        return Found(routes=routes, servers=servers, notes=(*notes, *left), server_env=layers.env)

    def prepare(self, user: User, found: Found, behind: Behind, home: Path) -> Prepared:
        """System settings with everything turned, and the environment that names them."""
        layers = _Layers(user)
        model = model_in_use(layers.whole, layers.env, user.command)
        places = {route.upstream: f"{behind.url}{route.path}" for route in found.routes}
        path = home / "settings.json"
        path.write_bytes(dumps(_system_settings(layers, found, behind, places)))
        path.chmod(0o600)
        env = {**user.env, _SETTINGS: str(path), _DEFAULTS: str(layers.defaults)}
        command = user.command
        if model:
            env[model.variable] = places[model.upstream]
            command = _with_option(command, "--openai-base-url", places[model.upstream])
            if is_dashscope(model.upstream):
                env["DASHSCOPE_PROXY_BASE_URL"] = places[model.upstream]
        return Prepared(command=command, env=env)


class _Layers:
    """The client's settings as they lie over one another."""

    def __init__(self, user: User) -> None:
        folder = Path(user.env.get("QWEN_HOME") or user.home / ".qwen")
        self.command = user.command
        system = Path(user.env.get(_SETTINGS) or _SYSTEM)
        self.defaults = Path(user.env.get(_DEFAULTS) or system.with_name("system-defaults.json"))
        self.system = read_settings(system)
        mine = read_settings(folder / "settings.json")
        project = read_if_good(user.folder / ".qwen/settings.json") if user.folder != user.home else {}
        shared = read_if_good(user.folder / ".mcp.json")
        below = (read_settings(self.defaults), mine, project, self.system)
        self.whole = merged(below)
        for layer in below:
            if providers := section(layer, "modelProviders"):
                self.whole["modelProviders"] = providers
        self._own = section(mine, "mcpServers")
        self._project = {**_claude_form(section(shared, "mcpServers")), **section(project, "mcpServers")}
        files = (_nearest_env_file(user.folder, user.home), folder / ".env", user.home / ".env")
        env = {key: value for key, value in section(self.whole, "env").items() if isinstance(value, str)}
        for file in reversed(files):
            env.update(read_env_file(file) if file else {})
        self.env: Mapping[str, str] = {**env, **{key: value for key, value in user.env.items() if value}}

    def servers(self) -> Settings:
        """The entries in force; one hides another of its name as a whole."""
        return {**self._own, **self._project, **section(self.system, "mcpServers")}

    def gated(self) -> list[str]:
        """Servers that the client starts only once the user has approved them."""
        if {"--yolo", "-y"} & set(self.command) or option(self.command, "--approval-mode") == "yolo":
            return []
        return [name for name in self._project if name not in section(self.system, "mcpServers")]


def _system_settings(layers: _Layers, found: Found, behind: Behind, places: Mapping[str, str]) -> Settings:
    entries = layers.servers()
    servers: Settings = {name: turned(entries[name], name, behind, key="httpUrl") for name in found.servers}
    tag: Settings = {SESSION_HEADER: behind.session}
    settings: Settings = {"mcpServers": servers}
    if providers := turned_providers(layers.whole, places, tag):
        settings["modelProviders"] = providers
    model = model_in_use(layers.whole, layers.env, layers.command)
    if model and not model.provided:
        settings["model"] = {"generationConfig": {"customHeaders": tag}}
    if (chosen := text(layers.whole, "model", "baseUrl")) in places:
        settings = merged((settings, {"model": {"baseUrl": places[chosen]}}))
    return merged((layers.system, settings))


def _claude_form(entries: Settings) -> Settings:
    """A shared `.mcp.json` names streamable HTTP by `url` and type; in settings it is `httpUrl`."""

    def form(entry: Json) -> Json:
        if isinstance(entry, dict) and entry.get("type") == "http" and isinstance(entry.get("url"), str):
            rest = {key: value for key, value in entry.items() if key not in ("type", "url")}
            return {**rest, "httpUrl": entry["url"]}
        return entry

    return {name: form(entry) for name, entry in entries.items()}


def _nearest_env_file(folder: Path, home: Path) -> Path | None:
    for place in (folder, *folder.parents):
        if place == home:
            break
        for path in (place / ".qwen/.env", place / ".env"):
            if path.is_file():
                return path
    return None


def _with_option(command: tuple[str, ...], name: str, value: str) -> tuple[str, ...]:
    """The command with an option's value replaced, where it has the option."""
    words = list(command)
    for number, word in enumerate(command):
        if word == name and number + 1 < len(words):
            words[number + 1] = value
        elif word.startswith(f"{name}="):
            words[number] = f"{name}={value}"
    return tuple(words)
