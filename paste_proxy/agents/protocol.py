"""What an agent's process and the sidecar say to each other over `/paste/v1/dispatch`.

Each message is one WebSocket text frame holding a JSON object whose `type` names it; unknown fields are
ignored. The agent says `hello`, the sidecar `welcome` or `refusal`; then both speak freely, and each side
handles the other's messages in order.

Who numbers what: the agent numbers its calls, the sidecar its jobs; both are unique on a connection.

    agent                                   sidecar
    offer (session, tools)            ->             may send jobs of these tools from now on
    call (n, tool, arguments)         ->
                                      <-   run (job, tool, arguments)      at any time: run this ahead
                                      <-   cancel (job)
    ended (job, status, preview)      ->             its value stays with the agent
                                      <-   drop (job)                      its value is not wanted any more
                                      <-   wait (n, job)   perhaps, then   the decision may take as long as job
                                      <-   alone (n)              or       run the call yourself
                                      <-   use (n, job)                    job's value is the call's
    done (n, status, preview)         ->             after alone, or whenever the agent ran the call anyway
    leave (session)                   ->             nothing of the session is wanted any more

A call whose arguments are null is one that cannot be served (it runs already, or its arguments are not
JSON); the sidecar must know of it, since it may write. Where the agent gets no decision in time it runs
the call and says `done`, whatever the decision is going to be.
"""

import json
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from paste_proxy.events.result import Status
from paste_proxy.events.values import Json, loads

VERSION = 1
PATH = "/paste/v1/dispatch"
MESSAGE_BYTES = 4 * 2**20
"""The largest message either side accepts."""
ARGUMENTS_CHARS = 2**20
"""Longer arguments are sent as null."""
PREVIEW_CHARS = 2**17
"""Longer previews are cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The agent's first message."""

    version: int
    type: Literal["hello"] = "hello"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """All tools of a session that the agent can run ahead."""

    session: str
    tools: tuple[str, ...]
    type: Literal["offer"] = "offer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """A session is over in this process."""

    session: str
    type: Literal["leave"] = "leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An authoritative call; `arguments` None: count it, it cannot be served."""

    call: int
    session: str
    tool: str
    arguments: dict[str, Any] | None
    call_id: str | None = None
    ahead: bool = True
    """Whether anything may be run ahead for its session from now on."""
    type: Literal["call"] = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The agent ran a call. Status None: broken off."""

    call: int
    status: Status | None
    preview: str = ""
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A job ended. Status None: it could not be run."""

    job: int
    status: Status | None
    preview: str = ""
    type: Literal["ended"] = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Welcome:
    """The sidecar's first message."""

    version: int
    type: Literal["welcome"] = "welcome"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The sidecar cannot speak with this agent; the connection ends."""

    reason: str
    type: Literal["refusal"] = "refusal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Run a job ahead."""

    job: int
    session: str
    tool: str
    arguments: dict[str, Any]
    type: Literal["run"] = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Stop a job."""

    job: int
    type: Literal["cancel"] = "cancel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A job's value can be let go."""

    job: int
    type: Literal["drop"] = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The decision about a call may take as long as this job runs."""

    call: int
    job: int
    type: Literal["wait"] = "wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """Run the call as if there were no sidecar."""

    call: int
    type: Literal["alone"] = "alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The job's value, or its exception, is the call's."""

    call: int
    job: int
    outcome: Literal["reused", "promoted"]
    type: Literal["use"] = "use"


_M = TypeVar("_M")

FromAgent: TypeAlias = Hello | Offer | Leave | Call | Done | Ended
FromSidecar: TypeAlias = Welcome | Refusal | Run | Cancel | Drop | Wait | Alone | Use

_FROM_AGENT: TypeAdapter[FromAgent] = TypeAdapter(Annotated[FromAgent, Field(discriminator="type")])
_FROM_SIDECAR: TypeAdapter[FromSidecar] = TypeAdapter(Annotated[FromSidecar, Field(discriminator="type")])


def encode(message: FromAgent | FromSidecar) -> str:
    """The text of a message. Lone surrogates, which no text frame can carry, become `?`."""
    value = {field.name: getattr(message, field.name) for field in fields(message)}
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def read_from_agent(text: str) -> FromAgent:
    """A message of an agent.

    Raises:
        ValueError: it is none.
    """
    return _read(_FROM_AGENT, text)


def read_from_sidecar(text: str) -> FromSidecar:
    """A message of the sidecar.

    Raises:
        ValueError: it is none.
    """
    return _read(_FROM_SIDECAR, text)


def _read(adapter: TypeAdapter[_M], text: str) -> _M:
    value: Json = loads(text)
    try:
        return adapter.validate_python(value)
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "message"
        raise ValueError(f"not a message of this protocol: {where}: {first['msg']}") from fault
