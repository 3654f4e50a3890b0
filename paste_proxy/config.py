"""The configuration tree and the only home of defaults.

A config is a TOML file. Relative paths in it are relative to the file. `builtin:NAME` names a policy
or pattern file that the package carries.
"""

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, model_validator

from paste_proxy.config_fault import config_fault
from paste_proxy.config_values import (
    LONGEST_S,
    Money,
    PlainName,
    Port,
    PositiveInt,
    Seconds,
    ToolName,
    Turns,
    UrlPath,
    WebAddress,
)
from paste_proxy.engines.kinds import EngineKind
from paste_proxy.errors import InputFault
from paste_proxy.events.toml import read_toml
from paste_proxy.speculation.preparation import Preparation
from paste_proxy.speculation.types import Destination, Mode
from paste_proxy.text_file import read_text
from paste_proxy.tools.loopback import is_loopback

_OURS = {"messages", "model", "n", "stream", "tools"}
"""Parameters of a request to the speculator that are not for the config to say."""


class Section(BaseModel):
    """A table of the config; an unknown key is an error, not a silent typo."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LlmRoute(Section):
    """An LLM endpoint: requests below `path` go to `upstream`, byte for byte."""

    path: UrlPath
    upstream: WebAddress
    wire: Literal[
        "auto", "openai_chat", "openai_responses", "anthropic_messages", "gemini", "tagged_text", "hermes_text"
    ] = "auto"
    """The protocol spoken; `auto`: what the path of each request says. Calls in the text of Chat Completions:
    `tagged_text` for an agent that runs the first of a turn, `hermes_text` for one that runs all."""
    proxy: WebAddress | None = None
    """An HTTP proxy on the way to `upstream`. Those that the environment names are not used."""
    websockets: StrictBool = True
    """Whether a WebSocket is tunnelled. What passes through one is not seen; a client that would as soon ask
    over plain HTTP does so where it is refused."""
    ports: tuple[Port, ...] = ()
    """Ports of its own, where nothing but the routes that name them is served; for an agent that has its LLM's
    port written into it. None: the sidecar's port."""
    engine: PlainName | None = None
    """One of `engines`, which the turns of this route go to: each waits until there is room for it. None: turns are
    forwarded as they come."""
    rate_limits: StrictBool = False
    """Whether turns wait so that all of one key together keep to the limits that the upstream's answers tell of."""
    hold: Literal["keep-alive", "silent", "refuse"] | None = None
    """What becomes of a turn that waits longer than `hold_s`: its stream is kept alive, where one was asked for and its
    protocol can; nothing is said; or it is refused with status 429 and the time to come again. None: it is kept alive
    before an engine; for the limits of a key nothing is said, so that a refusal of the upstream's reaches the client as
    one that it tries again after."""
    hold_s: Seconds = 5.0
    warm_up: StrictBool = False
    """Whether the engine is sent the next request of a session, for one token, as soon as it is known and before the
    agent sends it: Chat Completions of an engine that keeps what it has read."""
    tool_cache: StrictBool = False
    """Whether the engine is given the outputs of tools that were run ahead (`POST /cache-tool-output/ID`) while it
    writes; on a hit it goes on with them in the same answer, which the agent must be made for."""
    tell_engine: StrictBool = False
    """Whether the engine's own scheduler is told what each turn is worth: `vllm_xargs` is added to requests of Chat
    Completions that have none. It is the one thing that is ever changed in a request."""

    @model_validator(mode="after")
    def _one_gate(self) -> "LlmRoute":
        if self.engine is not None and self.rate_limits:
            raise ValueError("engine or rate_limits: an engine of one's own has no limits of a key")
        for name in ("tell_engine", "warm_up", "tool_cache"):
            if getattr(self, name) and self.engine is None:
                raise ValueError(f"engine beside {name}: it is for an engine of one's own")
            if getattr(self, name) and self.wire not in ("auto", "openai_chat"):
                raise ValueError(f'{name} on a route of Chat Completions (wire = "openai_chat" or "auto")')
        return self


class Engine(Section):
    """An LLM engine that turns enter as it has room (`[[llm]] engine = NAME`)."""

    kind: EngineKind = EngineKind.OTHER
    metrics: WebAddress | None = None
    """Where it tells its load. None: where an engine of that kind does, at the upstream of the first route to it."""
    band: tuple[Turns, Turns] | None = None
    """P_low and P_high, in turns of average length. None: found from what the engine gives."""
    controller: Literal["knee", "aimd"] = "knee"
    """How the band is found: where the engine gives most tokens a second, or by what its cache has room for."""
    gamma: Annotated[float, Field(strict=True, ge=0, le=100)] | None = None
    """Weight of contexts in the pressure, against the number of turns. None: it is learned."""
    longest_s: Seconds = 120.0
    """No turn of a session under way waits longer."""
    begins_s: Seconds = 600.0
    """Nor does the first turn of a session."""

    @model_validator(mode="after")
    def _sound(self) -> "Engine":
        if self.band is not None and self.band[0] > self.band[1]:
            raise ValueError("band = [P_low, P_high] with P_low not above P_high")
        if self.band is not None and self.controller != "knee":
            raise ValueError("band or controller: one that is set is not found")
        if self.metrics is not None and self.kind is EngineKind.OTHER:
            raise ValueError("kind beside metrics: it says how they are to be read")
        return self


class McpServer(Section):
    """An MCP server behind `/mcp/NAME`: a streamable-HTTP `url`, a stdio `command`, or our own tools for a folder."""

    url: WebAddress | None = None
    command: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: Path | None = None
    stateless: StrictBool = True
    """Whether a call's answer does not depend on the MCP session it is made in; if it does, its tools
    are never run speculatively, since that happens in a session of its own."""
    habits: StrictBool | None = None
    """Whether what one session asks of it may be offered to another as a habit. None: so it is where the sidecar runs
    the server itself, alike for every client; behind a `url` each client may be another user."""
    proxy: WebAddress | None = None
    """An HTTP proxy on the way to `url`. Those that the environment names are not used."""
    idle_call_s: Annotated[float, Field(strict=True, ge=0, le=LONGEST_S)] = 600.0
    """Behind `/mcp/NAME`, a call whose answer brings not one byte for so long ends in an error; 0: never."""
    client_arguments: tuple[str, ...] = ("wait_for_previous",)
    """Arguments that some clients add for themselves: calls that differ in them alone are the same where the
    tool takes no notice of them."""
    mark_speculative: StrictBool = False
    """Whether a call that is run ahead tells the server so. One that the agent asks for while it runs
    becomes the agent's own and is not sent again: the server knows it as speculative."""
    processes: PositiveInt = 64
    """Of a `command`: client sessions with a process each; beyond it the one unused longest is ended."""
    workbench: Path | None = None
    """The folder that our own tools read, list, glob, grep, edit, write and run work in; `env` is for what they run."""
    read_only: StrictBool = False
    """Whether a `workbench` is without edit, write and run."""

    @model_validator(mode="after")
    def _one_transport(self) -> "McpServer":
        if bool(self.url) + bool(self.command) + (self.workbench is not None) != 1:
            raise ValueError("one of url, command and workbench")
        if self.habits and not self.stateless:
            raise ValueError("habits beside stateless = false: what depends on the session is no other's")
        if self.read_only and self.workbench is None:
            raise ValueError("read_only beside a workbench: other servers' tools are named by policies")
        return self

    @property
    def alike(self) -> bool:
        """Whether it is the same to every session."""
        return self.stateless and (self.url is None if self.habits is None else self.habits)


class DispatchTool(Section):
    """A tool the sidecar runs itself: arguments are POSTed to `url`, or given to `command` on stdin."""

    url: WebAddress | None = None
    command: tuple[str, ...] = ()
    timeout_s: Seconds = 600.0

    @model_validator(mode="after")
    def _one_way(self) -> "DispatchTool":
        if bool(self.url) == bool(self.command):
            raise ValueError("either url or command")
        return self


class Limits(Section):
    """Bounds of memory; beyond one the sidecar stops observing, never forwarding."""

    observed_request_bytes: PositiveInt = 32 * 2**20
    observed_answer_bytes: PositiveInt = 8 * 2**20
    inline_parse_bytes: PositiveInt = 128 * 2**10
    """Larger request bodies are parsed in a worker process, off the event loop."""
    sessions: PositiveInt = 2_000
    session_idle_s: Seconds = 3_600.0
    window_events: PositiveInt = 64
    inbox_events: PositiveInt = 10_000


class Speculating(Section):
    """How much may be run ahead."""

    mode: Mode = Mode.OBSERVE
    slots: PositiveInt = 16
    """Speculative jobs at once, in all."""
    candidates: PositiveInt = 8
    """Candidates taken from one prediction."""
    min_confidence: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.23
    min_benefit_s: Annotated[float, Field(strict=True, ge=0, le=LONGEST_S)] = 0.02
    """Least expected saving, confidence times hidden seconds, that is worth a job."""
    ttl_s: Seconds = 120.0
    """A result unasked for this long is discarded; a policy rule may set its own."""
    result_bytes: PositiveInt = 4 * 2**20
    held_bytes: PositiveInt = 64 * 2**20
    held_results: PositiveInt = 256
    destinations: tuple[Destination, ...] = tuple(Destination)
    """Who may learn of a call that is run ahead; a rule without a `destination` counts as `third-party`."""
    prepare: tuple[Preparation, ...] = (Preparation.CONNECTION, Preparation.SESSION)
    """How it is got ready for calls that are likely and not run ahead, where their rule does not say."""
    prepare_confidence: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.1
    """Least probability that a call is asked for, for which it is got ready."""


class Budget(Section):
    """What all calls run ahead may cost; those of single tools: policies. The agent's own calls are never bounded."""

    calls_per_minute: PositiveInt | None = None
    calls_per_day: PositiveInt | None = None
    """A day is the calendar's, here and below."""
    money_per_session: Money | None = None
    """In the currency of the `cost` that policies' rules give."""
    money_per_day: Money | None = None
    bytes_per_day: PositiveInt | None = None
    """Of results."""
    cpu_s_per_day: Seconds | None = None
    """Of commands run ahead in a view."""
    wasted_s_per_minute: Seconds | None = None
    """Run for nothing; beyond it nothing more is run ahead, but for calls that an LLM has written to their end, until
    that has calmed."""


class Capacity(Section):
    """Slots of one server, for those that cannot take everything at once."""

    total: PositiveInt | None = None
    """Calls at once, authoritative ones included; further ones queue in order. None: no limit."""
    speculative: PositiveInt = 4


class Recording(Section):
    """The event log."""

    directory: Path | None = None
    """None: nothing is recorded."""
    payloads: Literal["full", "signatures"] = "full"
    segment_bytes: PositiveInt = 16 * 2**20
    keep_days: PositiveInt = 30
    keep_bytes: PositiveInt = 2**30
    queue_events: PositiveInt = 20_000


class Learning(Section):
    """What the sidecar's own sessions teach it."""

    enabled: StrictBool = True
    """Whether predictions are corrected by what sessions really ask for, and habits are learned."""
    general: StrictBool = True
    """Whether tools that no pool knows are predicted too: repeats, the next item of a list, habits."""
    directory: Path | None = None
    """Where it is kept. None: beside the recording's directory, `-memory` added to its name; without one, until
    the sidecar ends."""
    workspace: Path | None = None
    """The folder that the sessions work in, which has a memory of its own. None: the working directory."""


class Staging(Section):
    """Commands of a `workbench` that are run ahead in a copy-on-write view, where a policy's rule says `stage`."""

    enabled: StrictBool = True
    directory: Path | None = None
    """A private folder where views keep their changes. None: one on the file system of the workspace."""
    stages: PositiveInt = 4
    """Commands in views at once, those included that have ended and are held back."""
    disk_bytes: PositiveInt = 8 * 2**30
    """Of all of them; each has an equal share."""
    output_bytes: PositiveInt = 16 * 2**20
    """A command that writes more is not committed."""
    age_s: Seconds = 60.0
    """From a command's start; later it is not committed."""
    outside: tuple[Path, ...] = (Path("/tmp"), Path("/var/tmp"), Path("~/.cache"), Path("~/.npm"))  # noqa: S108
    """Folders beside the workspace where what a command changed is committed, too, `~` being the user's own; what
    changes anything else is run when it is asked for."""


class ModelSpeculator(Section):
    """A small LLM that is asked what the agent's LLM will call next, at any OpenAI-compatible endpoint.

    It is told what the agent's LLM is told: instructions, messages, tools and results. So there is none unless
    it is configured, and one on another machine must be said to be there.
    """

    base_url: WebAddress
    model: str
    remote: StrictBool = False
    """Whether `base_url` may be another machine."""
    api_key_env: str | None = None
    """The environment variable with its key."""
    proxy: WebAddress | None = None
    parameters: dict[str, Any] = {"max_tokens": 512}
    """Sent with every request: temperature and the like."""
    samples: Annotated[int, Field(strict=True, gt=0, le=16)] = 3
    """For one turn at most; how many it is worth is learned."""
    agree: PositiveInt = 2
    """So many samples of one mind are enough, and the rest are stopped."""
    timeout_s: Seconds = 15.0
    concurrent: PositiveInt = 8
    """Samples at once, of all sessions."""
    calls_per_minute: PositiveInt = 240
    session_tokens: PositiveInt = 2_000_000
    day_tokens: PositiveInt = 50_000_000
    """In 24 hours from the first sample; a restart begins anew."""
    input_price: Money = 0.0
    """Of a million tokens, in any currency; all amounts are in the same."""
    output_price: Money = 0.0
    session_cost: Money | None = None
    day_cost: Money | None = None
    second_worth: Annotated[float, Field(strict=True, gt=0, le=1e6)] = 0.001
    """What a second less for the agent is worth; a sample that costs more than it may save is not asked for."""
    prompt_chars: Annotated[int, Field(strict=True, ge=2_000, le=10_000_000)] = 64_000
    """Of a longer request it is told the opening and the latest messages; long texts are cut."""
    shows: Literal["ruled", "all"] = "ruled"
    """Tools that it is told of: those that a policy's rule names and does not switch off, or all."""
    without_tools: tuple[str, ...] = ()
    """Globs of tools that it is never told of: neither the tool nor its calls and results."""
    without_sessions: tuple[str, ...] = ()
    """Globs of sessions, by name, of which it is told nothing."""

    @model_validator(mode="after")
    def _sound(self) -> "ModelSpeculator":
        host = urlsplit(self.base_url).hostname or ""
        if not self.remote and not is_loopback(host):
            raise ValueError(
                "remote = true beside a base_url on another machine: what the agent's LLM is told goes there"
            )
        if ours := _OURS & self.parameters.keys():
            raise ValueError(f"parameters without {', '.join(sorted(ours))}, which the sidecar sets")
        return self


class Config(Section):
    """Everything `paste-proxy serve` needs to know."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(strict=True, ge=0, le=65535)] = 8377
    llm: tuple[LlmRoute, ...] = ()
    engines: dict[PlainName, Engine] = {}
    mcp: dict[PlainName, McpServer] = {}
    tools: dict[ToolName, DispatchTool] = {}
    session_headers: tuple[str, ...] = ("x-paste-session", "x-claude-code-session-id", "session-id")
    policies: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    speculation: Speculating = Speculating()
    budget: Budget = Budget()
    capacity: dict[str, Capacity] = {}
    """By server name; the empty name is the configured tools'."""
    speculator: ModelSpeculator | None = None
    recording: Recording = Recording()
    learning: Learning = Learning()
    staging: Staging = Staging()
    limits: Limits = Limits()
    drain_s: Seconds = 30.0


def load_config(path: Path) -> Config:
    """Read and check a config file.

    Raises:
        InputFault: the file cannot be read, is not TOML, or has a wrong key or value.
    """
    text = read_text(path, "a TOML file")
    try:
        config = Config.model_validate(read_toml(text, str(path), "a TOML file"))
    except ValidationError as fault:
        raise config_fault(Config, str(path), fault) from fault
    except RecursionError as fault:
        raise InputFault(str(path), "is nested too deeply", "the keys of a config") from fault
    return _resolve(config, path)


def _resolve(config: Config, file: Path) -> Config:
    base = file.parent

    def there(name: str) -> str:
        return name if name.startswith("builtin:") else str(base / name)

    recording = config.recording
    if recording.directory is not None:
        recording = recording.model_copy(update={"directory": base / recording.directory})
    places = {name: path for name in ("directory", "workspace") if (path := getattr(config.learning, name)) is not None}
    learning = config.learning.model_copy(update={name: base / path for name, path in places.items()})
    staging = config.staging
    if staging.directory is not None:
        staging = staging.model_copy(update={"directory": base / staging.directory})
    outside = tuple(path if path.parts[:1] == ("~",) else base / path for path in staging.outside)
    return config.model_copy(
        update={
            "learning": learning,
            "staging": staging.model_copy(update={"outside": outside}),
            "mcp": {
                name: _settled(f"{file}: mcp.{name}.workbench", server, base) for name, server in config.mcp.items()
            },
            "policies": tuple(there(name) for name in config.policies),
            "patterns": tuple(there(name) for name in config.patterns),
            "recording": recording,
        }
    )


def _settled(where: str, server: McpServer, base: Path) -> McpServer:
    if server.workbench is None:
        return server
    folder = (base / server.workbench).resolve()
    if not folder.is_dir():
        raise InputFault(where, f"{folder} is no folder", "the folder that the tools are to work in")
    return server.model_copy(update={"workbench": folder})
