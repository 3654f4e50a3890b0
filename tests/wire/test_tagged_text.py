"""Calls written as text, as models really write them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.tagged_text import TaggedText
from tests.wire.reading import JSON, SSE, answered_by
from tests.wire.streams import cuts, delta, sse
from tests.wire.tagged_texts import ALL, FIRST, block, request, said, streamed, whole

SEARCH = block("search", {"query": ["a"]})
FOUND = ("search", {"query": ["a"]})
CODE = '<tool_call>\n{"name": "PythonInterpreter", "arguments": {}}\n<code>\nprint(6*7)\n</code>\n</tool_call>'


def named(calls: Any) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in calls]


PYTHON = "PythonInterpreter"
LONG = 12345678901234567891

READ: dict[str, tuple[str, list[tuple[str, Any]]]] = {
    "a-call": (f"<think>hm</think>\n{SEARCH}", [FOUND]),
    "without-white-space": ('<tool_call>{"name":"f","arguments":{"x":1}}</tool_call>', [("f", {"x": 1})]),
    "no-arguments": ('<tool_call>{"name":"f"}</tool_call>', [("f", {})]),
    "null-arguments": ('<tool_call>{"name":"f","arguments":null}</tool_call>', [("f", {})]),
    "arguments-as-text": ('<tool_call>{"name":"f","arguments":"{\\"x\\":1}"}</tool_call>', [("f", {"x": 1})]),
    "json5": (
        "<tool_call>{name: 'f', arguments: {x: [1,], /* no */ y: .5},}</tool_call>",
        [("f", {"x": [1], "y": 0.5})],
    ),
    "a-long-integer": (f'<tool_call>{{"name":"f","arguments":{{"x":{LONG}}}}}</tool_call>', [("f", {"x": LONG})]),
    "half-a-tag-in-an-argument": (block("f", {"x": "a <b> </tool"}), [("f", {"x": "a <b> </tool"})]),
    "python-code": (CODE, [(PYTHON, {"code": "print(6*7)"})]),
    "python-code-of-another-tool": (
        "<tool_call>{name: 'run python'}<code>x</code></tool_call>",
        [(PYTHON, {"code": "x"})],
    ),
    "python-code-without-its-end": ("<tool_call>python<code> x = 1</tool_call>", [(PYTHON, {"code": "x = 1"})]),
    "only-the-first-call": (SEARCH + block("visit", {"url": "u"}), [FOUND]),
    "nothing-after-a-made-up-result": (f"hm <tool_response>x</tool_response>{SEARCH}", []),
    "a-call-before-a-made-up-result": (f"{SEARCH}\n<tool_response>\nx\n</tool_response>", [FOUND]),
    "a-call-while-still-thinking": (f"<think>so {SEARCH}", [FOUND]),
    "an-answer": ("<think>x</think><answer>42</answer>", []),
    "no-call-tag-but-its-end": ("a </tool_call> b", []),
}


@pytest.mark.parametrize(("text", "calls"), READ.values(), ids=READ.keys())
def test_a_call_is_read_as_the_agent_reads_it(text: str, calls: list[tuple[str, Any]]) -> None:
    seen, end = said(text)
    assert named(seen) == named(end.calls) == calls
    assert end.complete


NO_CALL: dict[str, str] = {
    "B37-cut-in-the-arguments": '<tool_call>{"name":"f","arguments":{"path":"/srv',
    "B37-cut-after-the-code": "<tool_call>python {<code>\n\n x = 1\n</code>",
    "B37-cut-in-the-closing-tag": f"{SEARCH[:-1]}",
    "B55-closed-but-cut": '<tool_call>{"name":"f","arguments":{"path":"/srv</tool_call>',
    "cut-by-a-made-up-result": '<tool_call>{"name":"f"}<tool_response>',
    "another-call-begins-in-it": f"<tool_call>{SEARCH}",
    "no-name": '<tool_call>{"arguments":{}}</tool_call>',
    "arguments-that-are-no-object": '<tool_call>{"name":"f","arguments":[1]}</tool_call>',
    "no-object": "<tool_call>[1]</tool_call>",
    "not-a-number": "<tool_call>{name:'f',arguments:{x:NaN}}</tool_call>",
    "prose": "<tool_call>search for a</tool_call>",
    "the-word-python-without-code": block("search", {"query": ["Python asyncio"]}),
}


@pytest.mark.parametrize("text", NO_CALL.values(), ids=NO_CALL.keys())
def test_what_the_agent_cannot_read_is_no_call_and_the_turn_not_whole(text: str) -> None:
    seen, end = said(text)
    assert seen == []
    assert (end.calls, end.complete) == ((), False)


def test_a_call_is_given_with_its_closing_tag_and_once() -> None:
    reader = FIRST.reader(content_type=SSE)
    given = [len(reader.feed(sse(delta(content=letter), done=False))) for letter in SEARCH]
    assert given == [0] * (len(SEARCH) - 1) + [1]
    assert reader.feed(streamed(["", " ", SEARCH])) == []
    assert len(reader.close(clean=True).calls) == 1


CUT = [
    ("B37-length", streamed([SEARCH], "length"), 1),
    ("B37-length-within-a-call", streamed([SEARCH[:-20]], "length"), 0),
    ("B55-cut-but-stop", streamed([SEARCH[:-20]]), 0),
    ("B56-no-finish-and-no-done", streamed([SEARCH], None, done=False), 1),
    ("B45-error-frame", sse(delta(content=SEARCH), {"error": {"message": "overloaded"}}), 1),
    ("B45-error-event", sse(delta(content="a")) + b"event: error\ndata: {}\n\n", 0),
    ("nothing-at-all", b"", 0),
]


@pytest.mark.parametrize(("body", "calls"), [case[1:] for case in CUT], ids=[case[0] for case in CUT])
def test_an_answer_that_is_not_whole_is_never_complete(body: bytes, calls: int) -> None:
    for chunks in cuts(body):
        seen, end = answered_by(FIRST, chunks)
        assert not end.complete
        assert len(seen) == len(end.calls) == calls


def test_b45_a_broken_connection_makes_the_turn_incomplete_unless_done_was_seen() -> None:
    unfinished, finished = streamed([SEARCH], done=False), streamed([SEARCH])
    assert not answered_by(FIRST, [unfinished], clean=False)[1].complete
    assert answered_by(FIRST, [finished], clean=False)[1].complete
    assert not answered_by(FIRST, [whole(SEARCH)], clean=False, content_type=JSON)[1].complete


def test_an_answer_that_is_not_streamed_gives_its_call_with_its_last_byte() -> None:
    body = whole(f"<think>hm</think>{SEARCH}")
    for chunks in cuts(body):
        seen, end = answered_by(FIRST, chunks, content_type=JSON)
        assert tuple(seen) == end.calls
        assert named(seen) == [FOUND]
        assert (end.complete, end.text, end.finish, end.response_id) == (True, "<think>hm</think>", "stop", "c1")
        assert (end.input_tokens, end.output_tokens) == (3, 4)


def test_b37_an_answer_cut_by_length_gives_nothing_where_it_is_not_streamed() -> None:
    seen, end = answered_by(FIRST, [whole(SEARCH, "length")], content_type=JSON)
    assert (seen, end.complete) == ([], False)


def test_text_is_what_stands_outside_the_calls() -> None:
    assert said(f"<think>hm</think>\n look \n{SEARCH}\n")[1].text == "<think>hm</think>\n look"
    assert said(f"a\n{SEARCH} b <tool_response>c", ALL)[1].text == "a\nb"


def test_an_agent_that_runs_every_call_has_them_all_and_no_rule_about_python() -> None:
    python = block("search", {"query": ["Python asyncio"]})
    interpreter = '<tool_call>{"name":"code","arguments":{"n":1}}<code>\nprint("a")\n</code></tool_call>'
    seen, end = said(f"{SEARCH}\n{python}\nno {interpreter}", ALL)
    assert seen == list(end.calls)
    assert [call.order for call in seen] == [0, 1, 2]
    assert named(seen) == [
        ("search", {"query": ["a"]}),
        ("search", {"query": ["Python asyncio"]}),
        ("code", {"n": 1, "code": 'print("a")'}),
    ]
    assert end.complete


def test_b38_ids_differ_by_order_name_and_arguments_and_are_the_same_for_the_same_call() -> None:
    texts = [SEARCH, SEARCH, block("visit", {"query": ["a"]}), block("search", {"query": ["b"]})]
    ids = [call.call_id for call in said("".join(texts), ALL)[0]]
    assert len(set(ids)) == 4
    assert said(SEARCH)[0][0].call_id == said(f"<think>again</think>{SEARCH}")[0][0].call_id == ids[0]


@given(
    st.lists(st.text() | st.sampled_from([SEARCH, CODE, *NO_CALL.values(), "<", "<tool_", "<tool_response>"])),
    st.data(),
)
def test_a_text_cut_anywhere_is_the_same_turn_as_its_echo(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    wire = data.draw(st.sampled_from([FIRST, ALL]))
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    seen, end = answered_by(wire, [streamed(pieces)])
    kept = text.partition("<tool_response>")[0].strip()
    echo = request(("user", "q"), ("assistant", kept), wire=wire).messages[1]
    assert tuple(seen) == end.calls == echo.calls
    assert (end.text, end.digest) == (echo.text, echo.digest)


def test_beyond_the_limit_a_reader_goes_deaf() -> None:
    reader = TaggedText(max_answer_bytes=1000).reader(content_type=SSE)
    for _ in range(20):
        reader.feed(b" " * 100 + b"\n\n")
    assert reader.feed(streamed([SEARCH])) == []
    assert not reader.close(clean=True).complete


SHAPED: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text() | st.sampled_from([SEARCH, "<tool_call>", "assistant", "user", "\ud83d"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "text", "type", "choices", "delta", "message"]), inner)
    ),
    max_leaves=15,
)


@given(SHAPED)
def test_any_json_reads(value: Any) -> None:
    for odd in (value, {"messages": [value]}, {"choices": [value]}, {"choices": [{"delta": value, "message": value}]}):
        raw = json.dumps(odd).encode()
        for wire in (FIRST, ALL):
            wire.read_request(raw, target="/")
            answered_by(wire, [raw], content_type=JSON)
            answered_by(wire, [b"data: " + raw + b"\n\n"])


def test_depth_costs_no_fault() -> None:
    for opening, closing in (('{"a":', "}"), ("{a:", "}"), ("[", "]")):
        said(f"<tool_call>{opening * 5000}1{closing * 5000}</tool_call>")
