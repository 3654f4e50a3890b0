"""The history of agents whose calls and results are text, and what pairs them."""

import gzip
import json
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.wire.types import LlmRequest, Message, TurnEnd
from tests.wire.reading import JSON, answered_by, request_of
from tests.wire.tagged_texts import ALL, FIRST, TARGET, block, request, said, streamed, whole

F, G = block("f", {"x": 1}), block("g", {})
Q = ("user", "q")


def response(text: str) -> str:
    return f"<tool_response>\n{text}\n</tool_response>"


def outputs(read: LlmRequest) -> list[tuple[str, Any] | None]:
    return [(m.output.call_id, m.output.output) if m.output else None for m in read.messages]


def test_a_result_is_the_output_of_the_call_before_it() -> None:
    read = request(Q, ("assistant", f"<think>hm</think>\n{F}"), ("user", response("one\n\ntwo")))
    asked, answer = read.messages[1:]
    assert (asked.role, asked.text, [c.name for c in asked.calls]) == ("assistant", "<think>hm</think>", ["f"])
    assert (answer.role, answer.text) == ("tool", "one\n\ntwo")
    assert outputs(read)[2] == (asked.calls[0].call_id, "one\n\ntwo")


def test_the_streamed_call_has_the_id_of_its_echo() -> None:
    seen, _ = said(f"<think>hm</think>\n{F}")
    echo = '<tool_call>{"arguments":{"x":1},"name":"f"}</tool_call>'
    read = request(Q, ("assistant", echo), ("user", response("")))
    assert outputs(read)[2] == (seen[0].call_id, "")


ECHOES = {
    "as-streamed": f"<think>hm</think>\n I look.\n{F}",
    "stripped": f"<think>hm</think>\n I look.\n{F}".strip(),
    "without-its-thinking": f"I look.\n{F}",
    "with-the-servers-thinking-before-it": f"<think>\nserver\n</think><think>hm</think>\n I look.\n{F}",
    "thinking-opened-in-the-prompt": f"hm</think>\n I look.\n{F}",
    "call-written-anew": 'I look.\n\n<tool_call>\n{"arguments": {"x":1}, "name": "f"}\n</tool_call>',
    "as-parts": [{"type": "text", "text": "I look."}, {"type": "text", "text": F}],
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES.keys())
def test_a_streamed_turn_and_its_echo_have_one_digest(echo: Any) -> None:
    _, end = answered_by(FIRST, [streamed([f"<think>hm</think>\n I look.\n{F}\n", "<tool_resp", "onse>made up"])])
    assert request(Q, ("assistant", echo)).messages[1].digest == end.digest


DIFFERENT = {
    "other-text": f"I looked.\n{F}",
    "other-arguments": f"I look.\n{block('f', {'x': 1.5})}",
    "other-name": f"I look.\n{block('g', {'x': 1})}",
    "one-call-more": f"I look.\n{F}{G}",
    "no-call": "I look.",
    "a-cut-call": f"I look.\n{F[:-3]}",
}


@pytest.mark.parametrize("other", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_another_turn_has_another_digest(other: str) -> None:
    assert request(Q, ("assistant", other)).messages[1].digest != said(f"I look.\n{F}")[1].digest


def test_a_result_may_hold_such_tags_itself() -> None:
    page = "a </tool_response> b <tool_response> c <tool_call>{}</tool_call>"
    read = request(Q, ("assistant", F), ("user", response(page)))
    assert [m.role for m in read.messages] == ["user", "assistant", "tool"]
    assert read.messages[2].text == page


def test_a_result_cut_short_is_still_one() -> None:
    assert request(Q, ("assistant", F), ("user", "<tool_response>\nlong")).messages[2].text == "long"


def test_what_the_user_adds_to_a_result_is_a_message_of_its_own() -> None:
    read = request(Q, ("assistant", F), ("user", response("one") + "\nNow answer."))
    assert [(m.role, m.text) for m in read.messages[2:]] == [("tool", "one"), ("user", "Now answer.")]


def test_what_the_agent_says_of_a_call_it_could_not_read_is_no_output_and_no_users_message() -> None:
    read = request(Q, ("assistant", "<tool_call>{f}</tool_call>"), ("user", response("Error")))
    assert [(m.role, m.output) for m in read.messages[1:]] == [("assistant", None), ("tool", None)]


def test_several_results_in_one_message_belong_to_the_calls_in_their_order() -> None:
    read = request(Q, ("assistant", F + G), ("user", response("one") + "\n" + response("two") + "\nGo on."), wire=ALL)
    ids = [call.call_id for call in read.messages[1].calls]
    assert outputs(read)[2:] == [(ids[0], "one"), (ids[1], "two"), None]
    assert read.messages[4].text == "Go on."


@pytest.mark.parametrize("written", ["{}", response("{}")])
def test_results_that_are_messages_of_the_tools_belong_to_the_calls_in_their_order(written: str) -> None:
    results = [("tool", written.format("one")), ("tool", written.format("two"))]
    read = request(Q, ("assistant", F + G), *results, wire=ALL)
    ids = [call.call_id for call in read.messages[1].calls]
    assert outputs(read)[2:] == [(ids[0], "one"), (ids[1], "two")]


def test_b38_an_unread_call_keeps_its_result_from_the_next_call() -> None:
    results = response("bad") + response("two")
    read = request(Q, ("assistant", f"<tool_call>x</tool_call>{G}"), ("user", results), wire=ALL)
    assert outputs(read)[2:] == [None, (read.messages[1].calls[0].call_id, "two")]


def test_calls_that_the_wire_itself_knows_are_left_as_they_are() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "x", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": response("one")},
    ]
    read = request_of(FIRST, {"model": "m", "messages": messages}, TARGET)
    assert outputs(read)[2] == ("a", response("one"))


def test_tools_are_those_that_the_instructions_describe() -> None:
    lines = "\n".join(json.dumps({"type": "function", "function": {"name": name}}) for name in ("search", "visit"))
    listed = '[{"name": "a"}, {"type": "function", "function": {"name": "b"}}, 3]'
    read = request(("system", f"Tools:\n<tools>\n{lines}\nnone\n</tools>\n<tools>{listed}</tools>"), Q)
    assert read.tools == ("search", "visit", "a", "b")


def test_a_form_is_no_side_question_of_an_agent_that_has_used_tools() -> None:
    form = {"type": "json_object"}
    assert request(Q, response_format=form).utility
    assert not request(Q, ("assistant", F), ("user", response("one")), response_format=form).utility


@pytest.mark.parametrize("body", [b"", b"[]", b'{"model":"m"}', b'{"messages":[]}', b'{"input":"x"}'])
def test_what_is_no_chat_request_is_none(body: bytes) -> None:
    assert FIRST.read_request(body, target=TARGET) is None


# --- recorded -------------------------------------------------------------------------------------

CALLS: list[list[tuple[str, Any]]] = [
    [("search", {"query": ["speculative tool calls", "agent sidecar"]})],
    [("visit", {"url": ["https://example.org/a"], "goal": "find date"})],
    [("PythonInterpreter", {"code": "print(6*7)"})],
    [("google_scholar", {"query": ["x"]})],
    [("parse_file", {"files": ["a.pdf"]})],
    [],
]


def deep_research(corpus: Path) -> list[tuple[LlmRequest, TurnEnd]]:
    found = []
    for path in sorted((corpus / "fixtures/deepresearch/dr1").glob("*_chat.json")):
        exchange = json.loads(path.read_text("utf-8"))
        body = json.dumps(exchange["response"]["body"]).encode()
        seen, end = answered_by(FIRST, [body], content_type=JSON)
        assert tuple(seen) == end.calls
        found.append((request_of(FIRST, exchange["request"]["body"], TARGET), end))
    return found


def test_a_deep_research_session_reads_to_its_calls_and_is_known_again(corpus: Path) -> None:
    session = deep_research(corpus)
    assert [[(call.name, call.arguments) for call in end.calls] for _, end in session] == CALLS
    assert all(end.complete for _, end in session)
    for (earlier, end), (later, _) in pairwise(session):
        digests = [message.digest for message in later.messages]
        assert digests[: len(earlier.messages)] == [message.digest for message in earlier.messages]
        echo, answer = later.messages[len(earlier.messages) :]
        assert (echo.digest, echo.text, echo.calls) == (end.digest, end.text, end.calls)
        assert answer.output is not None
        assert answer.output.call_id == end.calls[0].call_id


def test_the_same_answers_streamed_read_the_same_wherever_they_are_cut(corpus: Path) -> None:
    for (_, end), (later, _) in pairwise(deep_research(corpus)):
        call = end.calls[0]
        text = f"{end.text}\n{block(call.name, call.arguments)}"
        if call.name == "PythonInterpreter":
            text = f"{end.text}\n<tool_call>python\n<code>\n{call.arguments['code']}\n</code></tool_call>"
        for at in range(len(text) + 1):
            seen, streamed_end = answered_by(FIRST, [streamed([text[:at], text[at:]])])
            assert tuple(seen) == streamed_end.calls == end.calls
            assert streamed_end.digest == end.digest
        assert end.digest in {message.digest for message in later.messages}


def web_sessions(corpus: Path) -> Iterator[list[dict[str, Any]]]:
    with gzip.open(corpus / "corpus/webdancer.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (list(events) for _, events in groupby(map(json.loads, lines), lambda event: event["session"]))


def conversation(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A session as the web agent's messages: thought and call in one text, results as the user's."""
    messages: list[dict[str, Any]] = []
    for event in events:
        match event["type"]:
            case "user":
                messages.append({"role": "user", "content": event["output"]})
            case "llm_turn":
                messages.append({"role": "assistant", "content": event["output"]})
            case "tool_call":
                if messages[-1]["role"] != "assistant":
                    messages.append({"role": "assistant", "content": ""})
                messages[-1]["content"] += "\n" + block(event["tool"], event["args"])
            case _:
                messages.append({"role": "user", "content": response(event["output"] or "")})
    return messages


def test_real_web_sessions_written_as_text_pair_every_result_with_its_call(corpus: Path) -> None:
    paired = 0
    for events in web_sessions(corpus):
        messages = conversation(events)
        read = request_of(ALL, {"model": "m", "messages": messages}, TARGET).messages
        calls = [(event["tool"], event["args"]) for event in events if event["type"] == "tool_call"]
        assert [(call.name, call.arguments) for message in read for call in message.calls] == calls
        paired += sum(answers(*pair) for pair in pairwise(read))
        for told, message in zip(messages, read, strict=True):
            if told["role"] == "assistant":
                _, end = answered_by(ALL, [whole(told["content"])], content_type=JSON)
                assert (end.digest, end.calls) == (message.digest, message.calls)
    assert paired > 100


def answers(asked: Message, answer: Message) -> bool:
    return answer.output is not None and answer.output.call_id in {call.call_id for call in asked.calls}
