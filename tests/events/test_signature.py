"""Signatures keep control flow and leave out what varies."""

from pathlib import Path

import pytest
from hypothesis import given

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.signature import signature
from paste_proxy.events.types import (
    CallSealed,
    Event,
    LlmTurn,
    Outcome,
    Speculation,
    ToolCall,
    ToolOutput,
    TurnStarted,
    UserMessage,
)
from paste_proxy.events.values import Json
from paste_proxy.importers.neutral import read_sessions
from tests.events.strategies import events, values

CALL = Invocation("web/search", {"query": "cats"})


def output(value: Json, status: Status = Status.OK) -> ToolOutput:
    return ToolOutput(session="s", ts=1.0, call_id="c", tool="web/search", output=value, status=status)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (UserMessage(session="s", ts=None, text="book me a flight"), "user"),
        (LlmTurn(session="s", ts=None, text="I will look"), "llm"),
        (LlmTurn(session="s", ts=None, text=" \n"), None),
        (LlmTurn(session="s", ts=None, text="I wi", complete=False), None),
        (ToolCall(session="s", ts=None, call_id="c", invocation=CALL), "call:web/search"),
        (TurnStarted(session="s", ts=None, turn=0, model="m"), None),
        (CallSealed(session="s", ts=None, turn=0, order=0, call_id="c", invocation=CALL), None),
        (
            Speculation(
                session="s",
                ts=None,
                invocation=CALL,
                source="p",
                confidence=1,
                outcome=Outcome.REUSED,
                ran_s=0,
                saved_s=0,
            ),
            None,
        ),
    ],
)
def test_each_kind_of_event_has_its_word(event: Event, expected: str | None) -> None:
    assert signature(event) == expected


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (None, "empty"),
        ("", "empty"),
        (" \n ", "empty"),
        ([], "empty"),
        ({}, "empty"),
        ("{}", "empty"),
        (0, "number"),
        (2.5, "number"),
        (False, "bool"),
        ({"a": 1}, "object"),
        ('{"a": 1}', "object"),
        ([1], "list.one"),
        ([1, 2], "list.few"),
        (list(range(9)), "list.few"),
        (list(range(10)), "list.many"),
        ("done", "line"),
        ("done\n", "line"),
        ("one\ntwo", "text"),
        ("[not json", "line"),
        ("word " * 1000, "long"),
        ("see https://a.example/x", "url.one"),
        ("https://a.example https://b.example", "url.many"),
        ('{"a": "' + "x" * 60_000 + '"}', "object"),
        ("[" + "1," * 60_000 + "1]", "list.many"),
        ({"content": [{"type": "text", "text": "done"}]}, "line"),
        ({"content": [{"type": "text", "text": '[{"id": 1}]'}], "isError": False}, "list.one"),
        ([{"type": "text", "text": "a\nb"}], "text"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "object"),
    ],
)
def test_an_output_has_a_coarse_shape(value: Json, shape: str) -> None:
    assert signature(output(value)) == f"output:ok:{shape}:web/search"


@pytest.mark.parametrize(
    "event",
    [
        output("no such user", Status.ERROR),
        output("Error: no such user"),
        output({"error": "no such user"}),
        output('{"error": "no such user"}'),
        output({"content": [], "isError": True}),
    ],
)
def test_a_failure_is_one_however_the_tool_tells_it(event: ToolOutput) -> None:
    assert (signature(event) or "").startswith("output:error:")


def test_an_empty_error_field_is_no_failure() -> None:
    assert signature(output({"error": None, "rows": 3})) == "output:ok:object:web/search"


@given(values)
def test_any_output_has_a_signature_of_four_words(value: Json) -> None:
    words = (signature(output(value)) or "").split(":", 3)
    assert words[0] == "output"
    assert words[3] == "web/search"


@given(events)
def test_payload_never_shows(event: Event) -> None:
    match event:
        case ToolCall():
            assert signature(event) == f"call:{event.invocation.tool}"
        case UserMessage() | LlmTurn():
            assert signature(event) in ("user", "llm", None)
        case _:
            pass


def test_the_alphabet_of_recorded_sessions_stays_small(corpus: Path) -> None:
    shapes = {
        (signature(event) or "").split(":", 3)[2]
        for session in read_sessions([corpus / "corpus" / "tau_airline.jsonl.gz"])
        for event in session.events
        if isinstance(event, ToolOutput)
    }
    assert shapes == {"object", "line", "list.few", "empty", "list.one", "list.many"}
