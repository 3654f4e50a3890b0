"""gemini-cli: the LLM by environment, MCP servers by user settings in a home that stands in for the user's.

Settings of the working folder lie over the user's, and those of the system over both; the client reads them
where they are, and takes those of the system only from folders of root's. The servers they name stay out of it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from paste_proxy.agents.wrap.client import SESSION_HEADER, Behind, Found, Prepared, User
from paste_proxy.agents.wrap.gemini_llm import Endpoint, endpoint, env_file
from paste_proxy.agents.wrap.home import Mirror, mirror
from paste_proxy.agents.wrap.hooks.gemini import hooks
from paste_proxy.agents.wrap.hooks.gemini_obstacles import Layout, obstacle
from paste_proxy.agents.wrap.program import program_at
from paste_proxy.agents.wrap.servers import expansion, read_servers, turned
from paste_proxy.agents.wrap.settings_back import Rewritten
from paste_proxy.agents.wrap.settings_file import Settings, merged, read_if_good, read_settings, section
from paste_proxy.config import LlmRoute
from paste_proxy.events.values import dumps

_SYSTEM = Path("/etc/gemini-cli/settings.json")
_HEADERS = "GEMINI_CLI_CUSTOM_HEADERS"
_HOME = "GEMINI_CLI_HOME"
_SIGN_IN = ("security", "auth", "selectedType")
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|KEY|AUTH|CREDENTIAL|CREDS|PRIVATE|CERT", re.IGNORECASE)


class GeminiCli:
    """`gemini`, of the npm package @google/gemini-cli."""

    name = "gemini-cli"

    def recognises(self, command: tuple[str, ...]) -> bool:
        """By its name, its package, or its script."""
        return _program(command) is not None

    def find(self, user: User) -> Found:
        """The endpoint of the way it signs in, and the servers of all its settings."""
        layers = _Layers(user)
        llm = endpoint(layers.whole, layers.env)
        routes = (LlmRoute(path="/llm", upstream=llm.upstream),) if llm else ()
        notes = () if routes else ("how it signs in is not set up yet, so its LLM stays out of the sidecar's sight",)
        servers, left = read_servers(layers.own_servers(), expand=expansion(user.env), folder=user.folder)
        return Found(
            routes=routes,
            servers=servers,
            notes=(*notes, *left, *_over_notes(layers), *_extension_notes(layers.home)),
            server_env={**_for_servers(layers.env), "GEMINI_CLI": "1"},
            obstacle=obstacle(_layout(user, layers)),
        )

    def prepare(self, user: User, found: Found, behind: Behind, home: Path) -> Prepared:
        """The environment, and a home if there is something to be set that only settings can."""
        layers = _Layers(user)
        llm = endpoint(layers.whole, layers.env)
        env = {**user.env, _HEADERS: _tagged(layers.env.get(_HEADERS, ""), behind.session)}
        if llm:
            env[llm.variable] = f"{behind.url}/llm"
        hooked = hooks(_layout(user, layers), behind, home) if behind.substitute else {}
        if not (found.servers or hooked or (llm and llm.sign_in)):
            return Prepared(command=user.command, env=env)
        mirrored, rewritten = _stand_in(layers, home, {**_settings(layers, found, behind, llm), **hooked})
        env[_HOME] = str(home)
        return Prepared(command=user.command, env=env, mirrors=(mirrored,), rewritten=(rewritten,))


def _program(command: tuple[str, ...]) -> int | None:
    return program_at(command, names=("gemini", "gemini-cli"), packages=("@google/gemini-cli",))


class _Layers:
    """The client's settings as they lie over one another."""

    def __init__(self, user: User) -> None:
        self.home = Path(user.env.get(_HOME) or user.home)
        system = Path(user.env.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or _SYSTEM)
        self.user = read_settings(self.home / ".gemini/settings.json")
        over = merged((read_settings(user.folder / ".gemini/settings.json"), read_settings(system)))
        self.over = section(over, "mcpServers")
        """The entries under `mcpServers` that nothing can be laid over."""
        self.whole = merged((self.user, over))
        self.env: Mapping[str, str] = {**env_file(user.folder, self.home), **user.env}

    def own_servers(self) -> Settings:
        """The user's entries that are in force: one hides another of its name as a whole."""
        entries = section(self.user, "mcpServers")
        return {name: entry for name, entry in entries.items() if name not in self.over}


def _layout(user: User, layers: _Layers) -> Layout:
    at = _program(user.command)
    return Layout(
        user=user,
        arguments=user.command[at + 1 :] if at is not None else (),
        home=layers.home,
        settings=layers.whole,
        llm=endpoint(layers.whole, layers.env),
    )


def _settings(layers: _Layers, found: Found, behind: Behind, llm: Endpoint | None) -> Settings:
    own = section(layers.user, "mcpServers")
    servers = {name: turned(own[name], name, behind, key="httpUrl") for name in found.servers}
    settings = {**layers.user, "mcpServers": {**own, **servers}}
    if llm and llm.sign_in:
        security, auth, selected = _SIGN_IN
        settings = merged((settings, {security: {auth: {selected: llm.sign_in}}}))
    return settings


def _stand_in(layers: _Layers, home: Path, settings: Settings) -> tuple[Mirror, Rewritten]:
    """A home with the client's folders and files in it, and these settings."""
    source, place = layers.home, home / ".gemini/settings.json"
    folder = mirror(source / ".gemini", place.parent, own=(place.name,))
    place.touch(mode=0o600)
    place.write_bytes(dumps(settings))
    rewritten = Rewritten(
        source=source / ".gemini/settings.json",
        place=place,
        original=layers.user,
        written=settings,
        free=(_SIGN_IN,),
    )
    for name in (".agents", ".env"):
        if (source / name).exists():
            (home / name).symlink_to((source / name).absolute())
    return folder, rewritten


def _tagged(headers: str, session: str) -> str:
    return ", ".join(filter(None, (headers.strip(), f"{SESSION_HEADER}: {session}")))


def _for_servers(env: Mapping[str, str]) -> dict[str, str]:
    """What the client lets its stdio servers see of the environment."""
    return {name: value for name, value in env.items() if name.startswith("GEMINI_CLI_") or not _SECRET.search(name)}


def _over_notes(layers: _Layers) -> list[str]:
    why = "it is in settings of this folder or of the system, over which none can be laid; in your own it could be"
    return [f"MCP server {name!r} stays out of the sidecar: {why}" for name in layers.over]


def _extension_notes(home: Path) -> list[str]:
    folder = home / ".gemini/extensions"
    names = [
        extension.name
        for extension in (sorted(folder.iterdir()) if folder.is_dir() else ())
        if section(read_if_good(extension / "gemini-extension.json"), "mcpServers")
    ]
    return [f"MCP servers of the extension {name!r} stay out of the sidecar" for name in names]
