"""OpenTelemetry spans out of exports: OTLP as JSON, and the spans that SDKs print, one a line.

OTLP keeps attributes as a list of keys and typed values, and 64-bit numbers as text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from paste_proxy.events.values import Json
from paste_proxy.importers.epoch import epoch_seconds
from paste_proxy.wire.loose import listing, mapping, string

_SCALARS = ("stringValue", "boolValue", "doubleValue", "bytesValue")
_DEEPEST = 40
"""Levels of nested attribute values that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span. Times are seconds since the epoch."""

    trace: str
    id: str
    parent: str
    name: str
    start: float | None
    end: float | None
    failed: bool
    attributes: dict[str, Json]
    events: tuple[tuple[str, dict[str, Json]], ...] = field(default=())
    """Name and attributes of what was noted during the span, or logged under its id."""


def spans_of(record: dict[str, Json]) -> Iterator[Span]:
    """The spans of one line or document. A log record under a span comes as a span of that id with one event."""
    for resource in map(mapping, listing(record.get("resourceSpans") or record.get("resource_spans"))):
        for scope in map(mapping, listing(resource.get("scopeSpans") or resource.get("scope_spans"))):
            yield from (_span(mapping(span)) for span in listing(scope.get("spans")))
    for resource in map(mapping, listing(record.get("resourceLogs"))):
        for scope in map(mapping, listing(resource.get("scopeLogs"))):
            yield from (_log(mapping(log)) for log in listing(scope.get("logRecords")))
    if is_span(record):
        yield _span(record)


def is_span(record: dict[str, Json]) -> bool:
    """Whether a record is a span by itself."""
    context = mapping(record.get("context"))
    named = any(name in held for held in (record, context) for name in ("traceId", "trace_id"))
    return named and "name" in record and "attributes" in record


def _span(record: dict[str, Json]) -> Span:
    context = mapping(record.get("context")) or record
    status = mapping(record.get("status"))
    events = [mapping(event) for event in listing(record.get("events"))]
    return Span(
        trace=_either(context, "traceId", "trace_id"),
        id=_either(context, "spanId", "span_id"),
        parent=_either(record, "parentSpanId", "parent_id", "parent_span_id"),
        name=string(record.get("name")),
        start=_time(record, "startTimeUnixNano", "start_time", "start_time_unix_nano"),
        end=_time(record, "endTimeUnixNano", "end_time", "end_time_unix_nano"),
        failed=status.get("code") in (2, "STATUS_CODE_ERROR") or status.get("status_code") in ("ERROR", 2),
        attributes=_attributes(record.get("attributes")),
        events=tuple((string(event.get("name")), _attributes(event.get("attributes"))) for event in events),
    )


def _log(record: dict[str, Json]) -> Span:
    attributes = _attributes(record.get("attributes"))
    name = string(record.get("eventName")) or string(attributes.get("event.name"))
    body = mapping(_value(record.get("body"), 0))
    at = _time(record, "timeUnixNano", "observedTimeUnixNano")
    trace, span = string(record.get("traceId")), string(record.get("spanId"))
    events = ((name, {**body, **attributes}),)
    return Span(
        trace=trace, id=span, parent="", name=name, start=at, end=at, failed=False, attributes={}, events=events
    )


def _either(held: dict[str, Json], *names: str) -> str:
    found = next((string(held.get(name)) for name in names if string(held.get(name))), "")
    return found.removeprefix("0x")


def _time(held: dict[str, Json], *names: str) -> float | None:
    return next((ts for name in names if (ts := epoch_seconds(held.get(name))) is not None), None)


def _attributes(told: Json) -> dict[str, Json]:
    if isinstance(told, dict):
        return told
    pairs = (mapping(pair) for pair in listing(told))
    return {string(pair.get("key")): _value(pair.get("value"), 0) for pair in pairs}


def _value(told: Json, depth: int) -> Json:
    """An OTLP value; beyond the deepest level nothing is read."""
    held = mapping(told)
    if not held or depth > _DEEPEST:
        return None
    if "intValue" in held:
        number = held["intValue"]
        digits = isinstance(number, str) and number.removeprefix("-").isascii() and number.removeprefix("-").isdigit()
        return int(number) if isinstance(number, str) and digits and len(number) <= 20 else number
    if "arrayValue" in held:
        return [_value(inner, depth + 1) for inner in listing(mapping(held["arrayValue"]).get("values"))]
    if "kvlistValue" in held:
        pairs = (mapping(pair) for pair in listing(mapping(held["kvlistValue"]).get("values")))
        return {string(pair.get("key")): _value(pair.get("value"), depth + 1) for pair in pairs}
    return next((held[name] for name in _SCALARS if name in held), None)
