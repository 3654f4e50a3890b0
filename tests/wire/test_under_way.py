"""Calls that are still being written: what every wire tells of them, and when."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.wire.gemini import Gemini
from paste_proxy.wire.protocols import WIRES
from paste_proxy.wire.types import SeenCall, SeenPart, Wire
from tests.field_cases.samples import SAMPLES
from tests.wire import anthropic_streams, gemini_streams, response_events, streams, tagged_texts
from tests.wire.reading import JSON, SSE

Parts = list[tuple[int, str, dict[str, Any]]]

TEXTS = (("search", '{"q": "a, b", "n": 12, "in": ["x"]}'), ("look", '{"id": "é"}'))
STEPS: Parts = [
    (0, "search", {}),
    (0, "search", {"q": "a, b"}),
    (0, "search", {"q": "a, b", "n": 12}),
    (1, "look", {}),
]
"""What is said of these calls before each is whole, told a character at a time; what seals a call says the rest."""


def chat(calls: Iterable[tuple[str, str]]) -> list[bytes]:
    events = [streams.delta(role="assistant", content="")]
    for index, (name, text) in enumerate(calls):
        events.append(streams.delta(tool_calls=[streams.part("", index=index, id=f"c{index}", name=name)]))
        events += [streams.delta(tool_calls=[streams.part(letter, index=index)]) for letter in text]
    return [streams.sse(event, done=False) for event in events]


def anthropic(calls: Iterable[tuple[str, str]]) -> list[bytes]:
    blocks = [anthropic_streams.tool(index, f"t{index}", name, *text) for index, (name, text) in enumerate(calls)]
    return [anthropic_streams.events(event) for block in blocks for event in block]


def responses(calls: Iterable[tuple[str, str]]) -> list[bytes]:
    items = [response_events.called(name, f"c{index}", text, index) for index, (name, text) in enumerate(calls)]
    return [response_events.stream(event) for item in items for event in item]


def tagged(calls: Iterable[tuple[str, str]]) -> list[bytes]:
    blocks = [f'say\n<tool_call>\n{{"name": "{name}", "arguments": {text}}}\n</tool_call>' for name, text in calls]
    return [streams.sse(streams.delta(content=letter), done=False) for block in blocks for letter in block]


WRITTEN: dict[str, Callable[[Iterable[tuple[str, str]]], list[bytes]]] = {
    "openai_chat": chat,
    "anthropic_messages": anthropic,
    "openai_responses": responses,
    "hermes_text": tagged,
}


def told(wire: Wire, chunks: Iterable[bytes]) -> tuple[Parts, list[SeenCall]]:
    """The parts that a reader gives, asked after every chunk, and the calls."""
    reader = wire.reader(content_type=SSE)
    parts: list[SeenPart] = []
    calls: list[SeenCall] = []
    for chunk in chunks:
        calls += reader.feed(chunk)
        parts += reader.under_way()
    return [(part.order, part.name, part.arguments) for part in parts], calls


@pytest.mark.parametrize("name", list(WRITTEN))
def test_a_call_is_told_when_its_name_is_known_and_with_each_argument_more(name: str) -> None:
    parts, calls = told(WIRES[name], WRITTEN[name](TEXTS))
    assert [part for part in parts if part[2] != json.loads(TEXTS[part[0]][1])] == STEPS
    assert [(call.order, call.name) for call in calls] == [(0, "search"), (1, "look")]


@pytest.mark.parametrize("name", list(WRITTEN))
def test_a_reader_that_is_asked_late_tells_what_stands_then(name: str) -> None:
    chunks = WRITTEN[name](TEXTS[:1])
    last = next(at for at in range(len(chunks), 0, -1) if len(told(WIRES[name], chunks[:at])[0]) == len(STEPS) - 1)
    reader = WIRES[name].reader(content_type=SSE)
    reader.feed(b"".join(chunks[:last]))
    assert [part.arguments for part in reader.under_way()] == [STEPS[2][2]]
    assert reader.under_way() == []


@pytest.mark.parametrize("name", list(WIRES))
def test_what_is_told_of_a_call_is_part_of_the_call_that_it_becomes(name: str) -> None:
    parts, calls = told(WIRES[name], _bytes(SAMPLES[name].stream()))
    by_order = {call.order: call for call in calls}
    for order, tool, arguments in parts:
        assert tool == by_order[order].name
        assert arguments.items() <= by_order[order].arguments.items()


def _bytes(stream: bytes) -> list[bytes]:
    return [stream[at : at + 1] for at in range(len(stream))]


values = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text() | st.lists(st.text(), max_size=2)
asked = st.lists(st.dictionaries(st.text(min_size=1), values, max_size=4), min_size=1, max_size=3)


@settings(deadline=None)
@given(arguments=asked, name=st.sampled_from(list(WRITTEN)), size=st.integers(1, 400))
def test_parts_only_grow_and_never_contradict(arguments: list[dict[str, Any]], name: str, size: int) -> None:
    texts = [("tool", json.dumps(one)) for one in arguments]
    stream = b"".join(WRITTEN[name](texts))
    parts, _ = told(WIRES[name], [stream[at : at + size] for at in range(0, len(stream), size)])
    seen: dict[int, int] = {}
    for order, tool, known in parts:
        assert tool == "tool"
        assert all(arguments[order][key] == value for key, value in known.items())
        assert len(known) > seen.get(order, -1)
        seen[order] = len(known)


def test_asking_changes_nothing_of_what_the_answer_says() -> None:
    for name, write in WRITTEN.items():
        asked, silent = (WIRES[name].reader(content_type=SSE) for _ in range(2))
        for chunk in write(TEXTS):
            assert asked.feed(chunk) == silent.feed(chunk)
            asked.under_way()
        assert asked.close(clean=True) == silent.close(clean=True)


def test_of_a_name_that_may_still_grow_nothing_is_told() -> None:
    pieces = [
        streams.part(index=0, id="c", name="get_"),
        streams.part(index=0, name="user"),
        streams.part("{", index=0),
    ]
    chunks = [streams.sse(streams.delta(tool_calls=[piece]), done=False) for piece in pieces]
    assert told(WIRES["openai_chat"], chunks)[0] == [(0, "get_user", {})]


def test_a_streamed_gemini_call_is_told_argument_by_argument() -> None:
    at, piece = gemini_streams.at, gemini_streams.piece
    given = [
        piece(name="search"),
        piece(at("$.q", stringValue="a")),
        piece(at("$.q", stringValue="b")),
        piece(at("$.in[0]", stringValue="x")),
        piece(at("$.n", numberValue=12)),
        piece(more=False),
    ]
    parts, calls = told(Gemini(), [gemini_streams.sse(gemini_streams.response(one)) for one in given])
    assert parts == [(0, "search", {}), (0, "search", {"q": "ab"}), (0, "search", {"q": "ab", "in": ["x"]})]
    assert [call.arguments for call in calls] == [{"q": "ab", "in": ["x"], "n": 12}]


def test_only_the_first_call_in_text_is_told_where_only_that_counts() -> None:
    parts, _ = told(WIRES["tagged_text"], tagged(TEXTS))
    assert {order for order, _, _ in parts} == {0}
    assert told(WIRES["tagged_text"], tagged([("PythonInterpreter", "{}")]))[0] == []


def test_text_that_only_resembles_a_call_is_not_told() -> None:
    for text in ('<tool_call>{"arguments": {"q": 1}, "name": "x"', "<tool_call>name: x", "<tool_call>" + " " * 300):
        assert told(WIRES["hermes_text"], [tagged_texts.streamed(text, None, done=False)])[0] == []


def test_a_whole_answer_has_nothing_under_way() -> None:
    for name, wire in WIRES.items():
        reader = wire.reader(content_type=JSON)
        reader.feed(json.dumps(SAMPLES[name].whole).encode()[:-1])
        assert name == "gemini" or reader.under_way() == []


def test_a_call_of_very_many_arguments_is_not_followed_to_its_end() -> None:
    text = json.dumps({f"a{number}": number for number in range(1000)})
    for name, write in WRITTEN.items():
        assert 30 < len(told(WIRES[name], write([("tool", text)]))[0]) < 40
