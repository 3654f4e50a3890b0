"""What a span was: an LLM call, a tool's run or an agent's, in the words of any of the conventions."""

from dataclasses import dataclass, field
from enum import StrEnum

from paste_proxy.events.values import Json, loads
from paste_proxy.importers.otel_content import Said, answered, heard
from paste_proxy.importers.otel_span import Span
from paste_proxy.wire.loose import mapping, string

_KINDS = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "llm.request.type")
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_NAMES = ("gen_ai.tool.name", "tool.name", "traceloop.entity.name")
_CALL_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "input.value", "traceloop.entity.input")
_RESULTS = ("gen_ai.tool.call.result", "output.value", "traceloop.entity.output")
_WRAPPED = ("kwargs", "inputs", "input", "outputs", "output")
"""What OpenLLMetry puts around a tool's input and output."""


class Kind(StrEnum):
    """What a span stands for."""

    LLM = "llm"
    TOOL = "tool"
    AGENT = "agent"
    OTHER = "other"


_OPERATIONS = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "llm", "completion"), Kind.LLM),
    **dict.fromkeys(("execute_tool", "tool"), Kind.TOOL),
    **dict.fromkeys(("invoke_agent", "agent"), Kind.AGENT),
}


def kind_of(span: Span) -> Kind:
    """What a span stands for, by the convention it follows."""
    told = (string(span.attributes.get(name)).lower() for name in _KINDS if name in span.attributes)
    return next((_OPERATIONS[word] for word in told if word in _OPERATIONS), Kind.OTHER)


@dataclass(slots=True, kw_only=True)
class Doing:
    """An LLM call or a tool's run. Times are seconds since the epoch."""

    kind: Kind
    trace: str
    id: str
    source: str
    start: float | None
    end: float | None
    failed: bool
    model: str = ""
    heard: list[Said] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    tool: str = ""
    call_id: str = ""
    arguments: Json = None
    """None where they were not recorded."""
    result: Json = None

    @classmethod
    def of(cls, span: Span, kind: Kind, source: str) -> "Doing":
        """What an LLM's or a tool's span tells."""
        doing = cls(
            kind=kind,
            trace=span.trace,
            id=span.id,
            source=source,
            start=span.start,
            end=span.end,
            failed=span.failed,
        )
        if kind is Kind.LLM:
            doing.model = string(_first(span, _MODELS))
            doing.heard, doing.said = heard(span), answered(span)
        else:
            doing.tool, doing.call_id = string(_first(span, _NAMES)) or span.name, string(_first(span, _CALL_IDS))
            doing.arguments = _inside(span, _ARGUMENTS)
            doing.result = _inside(span, _RESULTS)
        return doing


def _first(span: Span, names: tuple[str, ...]) -> Json:
    return next((span.attributes[name] for name in names if span.attributes.get(name) is not None), None)


def _inside(span: Span, names: tuple[str, ...]) -> Json:
    value = _first(span, names)
    if span.attributes.get(names[-1]) is not value or not isinstance(value, str):
        return value
    try:
        held = loads(value)
    except ValueError:
        return value
    return next((mapping(held)[name] for name in _WRAPPED if name in mapping(held)), held)
