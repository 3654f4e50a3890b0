"""What an LLM wire tells us, the same for every protocol."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from paste_proxy.events.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCall:
    """A complete tool call as the LLM wrote it; the name is still the wire's spelling."""

    order: int
    """Position among the calls of its turn, from 0."""
    call_id: str
    name: str
    """As the wire spells it; a namespace that the wire keeps apart stands before it, with `__` between."""
    arguments: dict[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPart:
    """A tool call that the LLM is still writing, as far as it has come."""

    order: int
    """As for the `SeenCall` that it becomes."""
    name: str
    arguments: dict[str, Json]
    """Those whose values can change no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenOutput:
    """A tool result as the agent sent it back."""

    call_id: str
    output: Json
    failed: bool = False
    """The wire says that the call failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a request's history. What a wire sends as one message with several results is several."""

    role: str
    text: str
    digest: bytes
    """16 bytes over what identifies the message's content, equal for the turn we streamed and its echo."""
    calls: tuple[SeenCall, ...] = ()
    output: SeenOutput | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest:
    """What a request to an LLM says."""

    model: str
    stream: bool
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    """Names of the tools offered, as the wire spells them."""
    offered: tuple[Json, ...] = ()
    """What the request says of them, in the wire's own form; see `chat_tools`."""
    session_hint: str | None = None
    """A session id found in the body, by the client's own convention."""
    previous: str | None = None
    """Id of the answer that this request goes on from, where the wire has such; `messages` are only the new ones."""
    utility: bool = False
    """A side question of the client (a title, a classification, a nested search), no turn of the agent's task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """An LLM answer came to its end."""

    text: str
    calls: tuple[SeenCall, ...]
    complete: bool
    """False: cut, ended for length, or a call that does not parse."""
    finish: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    digest: bytes = b""
    """Digest that the next request's echo of this turn will have."""
    response_id: str = ""
    """The answer's own id, by which a later request may name it."""
    unread: bool = False
    """It may hold calls that were not given, and that the agent may make all the same."""


Seen: TypeAlias = SeenCall | TurnEnd


class AnswerReader(Protocol):
    """Reads one LLM answer, streamed or whole. Raises nothing."""

    def feed(self, chunk: bytes) -> list[SeenCall]:
        """Take the next bytes of the body; give the calls sealed by them."""

    @property
    def response_id(self) -> str:
        """Its own id, empty until it has said so."""

    def under_way(self) -> list[SeenPart]:
        """The calls being written of which more is known than when this was asked last."""

    def close(self, *, clean: bool) -> TurnEnd:
        """The body ended; `clean` is False if the connection broke before its end."""


class Wire(Protocol):
    """One LLM protocol."""

    def read_request(self, body: bytes, *, target: str) -> LlmRequest | None:
        """The request, or None if the body is none of this protocol.

        Args:
            target: the raw request target, path and query.
        """

    def reader(self, *, content_type: str) -> AnswerReader:
        """A reader for an answer of that content type (JSON or event stream)."""
