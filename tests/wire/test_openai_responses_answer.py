"""Responses answers: items put together as servers in the field really stream them."""

from itertools import islice
from typing import Any

import pytest

from paste_proxy.wire.openai_responses import OpenAiResponses
from paste_proxy.wire.types import SeenCall, TurnEnd
from tests.wire.reading import SSE, answered_by
from tests.wire.response_events import added, call, called, created, custom, done, ended, grown, grows, message, stream
from tests.wire.streams import brief, cuts

WIRE = OpenAiResponses()
F = (0, "a", "f", {"x": 1})
G: tuple[int, str, str, Any] = (1, "b", "g", {})
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
SHELL = {"type": "local_shell_call", "id": "sh", "call_id": "a", "action": {"type": "exec", "command": ["ls"]}}
TEXT = [
    added({**message(""), "content": []}),
    grows("I ", "msg_1", of="output_text"),
    grows("look.", "msg_1", of="output_text"),
    grown("msg_1", of="output_text", text="I look."),
    done(message("I look.")),
]


def answered(chunks: Any, *, clean: bool = True) -> tuple[list[SeenCall], TurnEnd]:
    return answered_by(WIRE, chunks, clean=clean)


ASSEMBLED: dict[str, tuple[bytes, list[tuple[int, str, str, Any]]]] = {
    "two-calls": (stream(created(), *called("f", "a", '{"x":1}'), *called("g", "b", "{}", 1), ended()), [F, G]),
    "types-in-the-data-only": (stream(*called("f", "a", '{"x":1}'), ended(), named=False), [F]),
    "B02-a-reasoning-item-holds-index-0": (
        stream(added(REASONING), done(REASONING), *called("f", "a", '{"x":1}', 1), *called("g", "b", "{}", 2), ended()),
        [F, G],
    ),
    "B02-every-item-has-index-0": (
        stream(added(REASONING), *TEXT, *called("f", "a", '{"x":1}'), *called("g", "b", "{}"), ended()),
        [F, G],
    ),
    "B02-every-item-has-index-0-and-events-no-item-id": (
        stream(
            added({**call("f", "a"), "id": ""}),
            grows('{"x":1}', None),
            grown(None, arguments='{"x":1}'),
            done({**call("f", "a", '{"x":1}'), "id": ""}),
            added({**call("g", "b"), "id": ""}),
            grown(None, arguments="{}"),
            ended(),
        ),
        [F, G],
    ),
    "interleaved": (
        stream(
            added(call("f", "a")),
            added(call("g", "b"), 1),
            grows('{"x":', "fc_a"),
            grows("{}", "fc_b", 1),
            grows("1}", "fc_a"),
            grown("fc_b", 1, arguments="{}"),
            grown("fc_a", arguments='{"x":1}'),
            ended(),
        ),
        [F, G],
    ),
    "an-id-made-up-for-every-event": (
        stream(
            added({**call("f", "a"), "id": "1"}),
            grows('{"x"', "2"),
            grows(":1}", "3"),
            grown("4", arguments='{"x":1}'),
            done({**call("f", "a", '{"x":1}'), "id": "5"}),
            ended(),
        ),
        [F],
    ),
    "no-index": (
        stream(added(call("f", "a"), None), grows('{"x":1}', "fc_a", None), grown("fc_a", None), ended()),
        [F],
    ),
    "neither-index-nor-id": (
        stream(added({**call("f", "a"), "id": ""}, None), grows('{"x":1}', None, None), grown(None, None), ended()),
        [F],
    ),
    "no-done-at-all": (stream(added(call("f", "a")), grows('{"x":1}', "fc_a"), ended()), [F]),
    "done-items-only": (stream(done(call("f", "a", '{"x":1}')), done(call("g", "b", "{}"), 1), ended()), [F, G]),
    "told-at-the-end-only": (
        stream(created(), ended(output=[REASONING, call("f", "a", '{"x":1}'), call("g", "b", "{}")])),
        [F, G],
    ),
    "the-end-repeats-what-was-told": (
        stream(*called("f", "a", '{"x":1}'), ended(output=[call("f", "a", '{"x":1}')])),
        [F],
    ),
    "the-name-comes-when-the-arguments-are-done": (
        stream(grows('{"x":1}', "fc_a"), grown("fc_a", arguments='{"x":1}', name="f"), ended()),
        [(0, "fc_a", "f", {"x": 1})],
    ),
    "a-namespace": (
        stream(
            added(call("f", "a", namespace="mcp__s")),
            grown("fc_a", arguments='{"x":1}'),
            done(call("f", "a", '{"x":1}', namespace="mcp__s")),
            ended(),
        ),
        [(0, "a", "mcp__s__f", {"x": 1})],
    ),
    "a-name-with-its-namespace-in-it": (
        stream(done(call("mcp__s__f", "a", '{"x":1}', namespace="mcp__s")), ended()),
        [(0, "a", "mcp__s__f", {"x": 1})],
    ),
    "arguments-as-an-object": (stream(done(call("f", "a", {"x": 1})), ended()), [F]),
    "B36-empty": (stream(added(call("f", "a")), grown("fc_a", arguments=""), ended()), [(0, "a", "f", {})]),
    "B36-null": (stream(done(call("f", "a", None)), ended()), [(0, "a", "f", {})]),
    "B38-one-id-twice": (
        stream(*called("f", "a", '{"x":1}'), *called("g", "a", "{}", 1), ended()),
        [F, (1, "a", "g", {})],
    ),
    "B38-nothing-tells-them-apart-but-their-order": (
        stream(*called("f", "a", '{"x":1}'), *called("f", "a", "{}"), ended()),
        [F, (1, "a", "f", {})],
    ),
    "B38-nothing-tells-done-items-apart-but-their-index": (
        stream(done(call("f", "a", '{"x":1}')), done(call("f", "a", "{}"), 1), ended()),
        [F, (1, "a", "f", {})],
    ),
    "B59-unknown-fields-and-events": (
        stream(
            {"type": "response.new_thing.delta", "delta": {}},
            added({**call("f", "a"), "new": []}, sequence_number=1, new={}),
            grown("fc_a", arguments='{"x":1}'),
            {"type": "response.mcp_call.failed", "output_index": 0},
            ended(),
        ),
        [F],
    ),
    "a-custom-tool": (
        stream(
            added(custom("patch", "a")),
            grows("{1", "ctc_a", of="custom_tool_call_input"),
            grows("} ", "ctc_a", of="custom_tool_call_input"),
            grown("ctc_a", of="custom_tool_call_input", input="{1} "),
            done(custom("patch", "a", "{1} ")),
            ended(),
        ),
        [(0, "a", "patch", {"input": "{1} "})],
    ),
    "the-agents-own-shell": (
        stream(added({**SHELL, "action": {}}, 1), done(SHELL, 1), ended()),
        [(0, "a", "local_shell", {"type": "exec", "command": ["ls"]})],
    ),
    "what-the-vendor-runs-is-no-call": (
        stream(
            added({"type": "web_search_call", "id": "ws", "status": "in_progress"}),
            done({"type": "mcp_call", "id": "mcp", "name": "f", "arguments": '{"x":2}', "server_label": "s"}, 1),
            done({"type": "shell_call", "call_id": "c", "action": {}, "environment": {"type": "container_auto"}}, 2),
            *called("f", "a", '{"x":1}', 3),
            ended(),
        ),
        [F],
    ),
    "half-a-character-per-delta": (
        stream(added(call("f", "a")), grows('{"x":"HIGH', "fc_a"), grows('LOW"}', "fc_a"), grown("fc_a"), ended())
        .replace(b"HIGH", rb"\ud83d")
        .replace(b"LOW", rb"\ude00"),
        [(0, "a", "f", {"x": "😀"})],
    ),
    "B45-a-last-event-without-its-blank-line": (stream(*called("f", "a", '{"x":1}'), ended())[:-2], [F]),
    "B10-carriage-returns": (stream(*called("f", "a", '{"x":1}'), ended(), end=b"\r\n\r\n"), [F]),
    "done-sentinel-of-chat": (stream(*called("f", "a", '{"x":1}'), ended()) + b"data: [DONE]\n\n", [F]),
}


@pytest.mark.parametrize(("body", "calls"), ASSEMBLED.values(), ids=ASSEMBLED.keys())
def test_calls_are_put_together_and_given_once_wherever_the_stream_is_cut(
    body: bytes, calls: list[tuple[int, str, str, Any]]
) -> None:
    for chunks in islice(cuts(body), 0, None, 3):
        seen, end = answered(chunks)
        assert sorted(brief(seen)) == sorted(brief(end.calls)) == calls
        assert end.complete
        assert end.response_id == "resp_1"


CUT = [added(call("f", "a")), grows('{"path":"/srv/a","conte', "fc_a")]

INCOMPLETE: dict[str, tuple[bytes, int]] = {
    "B37-cut-by-length": (stream(*CUT, ended("incomplete", incomplete_details={"reason": "max_output_tokens"})), 0),
    "B37-cut-by-length-with-a-done-item": (
        stream(
            *CUT,
            done({**call("f", "a", '{"path":"/srv/a","conte'), "status": "incomplete"}),
            ended("incomplete", incomplete_details={"reason": "max_output_tokens"}),
        ),
        0,
    ),
    "B37-length-although-the-arguments-parse": (stream(*called("f", "a", "{}"), ended("incomplete")), 1),
    "B37-an-item-that-says-it-is-incomplete": (
        stream(added(call("f", "a")), done(call("f", "a", "{}", status="incomplete")), ended()),
        0,
    ),
    "B37-length-before-any-arguments": (stream(added(call("f", "a")), ended("incomplete")), 0),
    "B55-cut-but-completed": (stream(*CUT, ended()), 0),
    "B55-cut-but-said-to-be-done": (
        stream(*CUT, grown("fc_a", arguments='{"path":"/srv/a","conte'), ended()),
        0,
    ),
    "B55-a-whole-call-and-a-cut-one": (
        stream(*called("g", "b", "{}"), added(call("f", "a"), 1), grows('{"x', "fc_a", 1), ended()),
        1,
    ),
    "B55-completed-event-of-an-incomplete-response": (
        stream(*called("f", "a", "{}"), ended("completed", status="incomplete")),
        1,
    ),
    "B56-no-end": (stream(created(), *called("f", "a", "{}")), 1),
    "B56-text-only": (stream(created(), *TEXT), 0),
    "B56-a-call-just-added": (stream(added(call("f", "a"))), 0),
    "B45-error-event": (stream(*TEXT, {"type": "error", "code": "server_error", "message": "overloaded"}), 0),
    "B45-error-event-before-a-completed": (stream(*TEXT, {"type": "error", "message": "x"}, ended()), 0),
    "B45-error-named-by-its-line-only": (
        stream(*TEXT) + b'event: error\ndata: {"message":"x"}\n\n' + stream(ended()),
        0,
    ),
    "B45-error-object": (stream(*TEXT) + b'data: {"error":{"message":"x"}}\n\n' + stream(ended()), 0),
    "B45-failed": (stream(*called("f", "a", "{}"), ended("failed", error={"code": "server_error"})), 1),
    "arguments-that-are-no-object": (stream(*called("f", "a", "[1]"), ended()), 0),
    "a-call-without-a-name": (stream(*called("", "a", "{}"), ended()), 0),
    "only-the-sentinel-of-chat": (stream(*TEXT) + b"data: [DONE]\n\n", 0),
    "nothing-at-all": (b"", 0),
}


@pytest.mark.parametrize(("body", "calls"), INCOMPLETE.values(), ids=INCOMPLETE.keys())
def test_an_answer_that_is_not_whole_is_never_complete(body: bytes, calls: int) -> None:
    for chunks in islice(cuts(body), 0, None, 3):
        seen, end = answered(chunks)
        assert not end.complete
        assert len(end.calls) == len(seen) == calls


def test_a_client_that_closes_right_after_the_end_has_had_a_complete_turn() -> None:
    assert answered([stream(*called("f", "a", "{}"), ended())], clean=False)[1].complete
    assert not answered([stream(*called("f", "a", "{}"))], clean=False)[1].complete


def test_b77_a_call_is_given_when_its_arguments_are_done_and_not_before_or_again() -> None:
    reader = WIRE.reader(content_type=SSE)
    item, text = call("f", "a", '{"x":1}'), '{"x":1}'
    begun = [added(call("f", "a")), grows(text, "fc_a"), grown("fc_a", arguments=text)]
    given = [reader.feed(stream(event)) for event in [*begun, done(item), ended(output=[item])]]
    assert [brief(calls) for calls in given] == [[], [], [F], [], []]


def test_a_name_that_is_known_late_seals_the_call_then() -> None:
    reader = WIRE.reader(content_type=SSE)
    assert reader.feed(stream(grows("{}", "fc_a"), grown("fc_a", arguments="{}"))) == []
    assert brief(reader.feed(stream(done(call("f", "a", "{}"))))) == [(0, "a", "f", {})]


def test_a_call_given_too_early_is_given_again_with_its_later_arguments() -> None:
    early, late = grown("fc_a", arguments="{}"), done(call("f", "a", '{"x":1}'))
    seen, end = answered([stream(added(call("f", "a")), early, late, ended())])
    assert brief(seen) == [(0, "a", "f", {}), F]
    assert brief(end.calls) == [F]


@pytest.mark.parametrize(
    "events",
    [
        TEXT,
        TEXT[:-1],
        TEXT[1:3],
        [TEXT[3]],
        [TEXT[4]],
        [*TEXT[:4], done({**message(""), "content": []})],
        [*TEXT[:4], done(message(""))],
    ],
    ids=["all", "no-item-done", "deltas-only", "text-done-only", "item-done-only", "empty-item", "empty-text"],
)
def test_b09_text_is_known_by_whichever_events_tell_it(events: list[dict[str, Any]]) -> None:
    end = answered([stream(*events, ended())])[1]
    assert (end.text, end.complete, end.finish) == ("I look.", True, "completed")
    assert (end.input_tokens, end.output_tokens) == (100, 7)


def test_reasoning_and_refusals_are_no_text() -> None:
    thought = grows("hm", "rs_1", of="reasoning_summary_text")
    refused = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}
    end = answered([stream(added(REASONING), thought, done(REASONING), done(refused, 1), ended())])[1]
    assert (end.text, end.complete) == ("", True)
