"""OpenTelemetry spans in the words of each convention, with and without the content of messages."""

import json
from pathlib import Path

import pytest

from paste_proxy.importers.neutral import RecordedSession
from tests.importers.logs import Told, answers, calls, read, turns, users, words, write

BASE = 1_760_000_000


def span(name: str, second: float, until: float, attributes: Told, *, parent: str = "", events: object = ()) -> Told:
    """As the Python SDK prints one."""
    times: Told = {"start_time": f"2026-03-01T10:00:{second:06.3f}Z", "end_time": f"2026-03-01T10:00:{until:06.3f}Z"}
    ids: Told = {
        "context": {"trace_id": "0xaa", "span_id": f"0x{name}"},
        "parent_id": f"0x{parent}" if parent else None,
    }
    told: Told = {"name": name, "status": {"status_code": "OK"}, "attributes": attributes, "events": events}
    return told | times | ids


def messages(*told: object) -> str:
    return json.dumps(told)


def parts(role: str, *inside: Told) -> Told:
    return {"role": role, "parts": list(inside)}


def text(words_: str) -> Told:
    return {"type": "text", "content": words_}


CALL: Told = {"type": "tool_call", "id": "a", "name": "get", "arguments": {"n": 1}}
CHAT: Told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
TOOL: Told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get"}


def one(folder: Path, *spans: Told) -> RecordedSession:
    [session] = read("otel", write(folder / "spans.jsonl", *spans))
    return session


def chat(name: str, second: float, until: float, heard: list[Told], said: Told, *, parent: str = "") -> Told:
    told: Told = {"gen_ai.input.messages": messages(*heard), "gen_ai.output.messages": messages(said)}
    return span(name, second, until, CHAT | told, parent=parent)


def test_a_tool_s_span_tells_its_seconds_and_the_next_request_what_came(tmp_path: Path) -> None:
    came: Told = {"type": "tool_call_response", "id": "a", "response": "x"}
    first, asked = parts("user", text("look")), parts("assistant", text("I look."), CALL)
    session = one(
        tmp_path,
        chat("1", 1, 2, [first], asked),
        span("2", 2.5, 3, TOOL | {"gen_ai.tool.call.id": "a"}),
        chat("3", 4, 5, [first, asked, parts("tool", came)], parts("assistant", text("Done."))),
    )
    assert session.id == "aa"
    assert words(session) == ["look", "I look.", "Done."]
    assert [(turn.model, turn.duration_s) for turn in turns(session)] == [("m", 1.0), ("m", 1.0)]
    assert (calls(session), answers(session)) == ([("get", {"n": 1})], [("x", "ok", 0.5)])


def test_without_the_content_of_messages_a_tool_s_span_is_call_and_answer(tmp_path: Path) -> None:
    ran: Told = {"gen_ai.tool.call.arguments": '{"n": 1}', "gen_ai.tool.call.result": '{"m": 2}'}
    bare = span("4", 6, 7, TOOL)
    session = one(tmp_path, span("1", 1, 2, CHAT), span("2", 2, 3, TOOL | ran), span("3", 4, 5, CHAT), bare)
    assert [turn.text for turn in turns(session)] == ["", ""]
    assert (calls(session), answers(session)) == ([("get", {"n": 1})], [('{"m": 2}', "ok", 1.0)])


def test_messages_may_be_events_of_the_span(tmp_path: Path) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "get", "arguments": '{"n": 1}'}}
    older = [
        {"name": "gen_ai.user.message", "attributes": {"content": "look"}},
        {"name": "gen_ai.choice", "attributes": {"message": json.dumps({"role": "assistant", "tool_calls": [call]})}},
    ]
    back = [
        *older[:1],
        {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps([call])}},
        {"name": "gen_ai.tool.message", "attributes": {"id": "a", "content": "x"}},
        {"name": "gen_ai.choice", "attributes": {"message": {"content": "Done."}}},
    ]
    session = one(tmp_path, span("1", 1, 2, CHAT, events=older), span("2", 3, 4, CHAT, events=back))
    assert words(session) == ["look", "", "Done."]
    assert (calls(session), answers(session)) == ([("get", {"n": 1})], [("x", "ok", 1.0)])


@pytest.mark.parametrize(
    ("asked", "said", "role", "content", "call"),
    [
        ("llm.input_messages.{}.message", "llm.output_messages.{}.message", "role", "content",
         {"tool_calls.0.tool_call.id": "a", "tool_calls.0.tool_call.function.name": "get",
          "tool_calls.0.tool_call.function.arguments": '{"n": 1}'}),
        ("gen_ai.prompt.{}", "gen_ai.completion.{}", "role", "content",
         {"tool_calls.0.id": "a", "tool_calls.0.name": "get", "tool_calls.0.arguments": '{"n": 1}'}),
    ],
)  # fmt: skip
def test_messages_may_be_spread_over_numbered_attributes(
    tmp_path: Path, asked: str, said: str, role: str, content: str, call: Told
) -> None:
    def spread(form: str, place: int, told: Told) -> Told:
        return {f"{form.format(place)}.{key}": value for key, value in told.items()}

    kind: Told = {"openinference.span.kind": "LLM"}
    history = spread(asked, 0, {role: "system", content: "be brief"}) | spread(
        asked, 1, {role: "user", content: "look"}
    )
    calling = {role: "assistant"} | call
    back = history | spread(asked, 2, calling)
    back |= spread(asked, 10, {role: "tool", content: "x", "tool_call_id": "a"})
    session = one(
        tmp_path,
        span("1", 1, 2, (kind | history | spread(said, 0, calling))),
        span("2", 3, 4, (kind | back | spread(said, 0, {role: "assistant", content: "Done."}))),
    )
    assert words(session) == ["look", "", "Done."]
    assert (calls(session), answers(session)) == ([("get", {"n": 1})], [("x", "ok", 1.0)])


def test_an_agent_called_by_another_is_a_session_of_its_own(tmp_path: Path) -> None:
    agent: Told = {"gen_ai.operation.name": "invoke_agent"}
    outer, inner = parts("assistant", text("outer")), parts("assistant", text("inner"))
    log = write(
        tmp_path / "spans.jsonl",
        chat("b2", 3, 4, [parts("user", text("help"))], inner, parent="b1"),
        span("b1", 2, 5, agent, parent="c1"),
        span("c1", 2, 5, TOOL, parent="a1"),
        chat("a2", 1, 2, [parts("user", text("look"))], outer, parent="a1"),
        span("a1", 0, 9, agent | {"gen_ai.conversation.id": "talk"}),
    )
    assert {session.id: words(session) for session in read("otel", log)} == {
        "talk/b1": ["help", "inner"],
        "talk": ["look", "outer"],
    }


def test_messages_may_be_logged_under_the_span(tmp_path: Path) -> None:
    def pair(key: str, value: str) -> Told:
        return {"key": key, "value": {"stringValue": value}}

    times = {"startTimeUnixNano": str(BASE * 10**9), "endTimeUnixNano": str((BASE + 2) * 10**9)}
    chatted = {"traceId": "aa", "spanId": "1", "name": "chat", "attributes": [pair("gen_ai.operation.name", "chat")]}
    told = [
        pair("gen_ai.input.messages", messages(parts("user", text("look")))),
        pair("gen_ai.output.messages", messages(parts("assistant", CALL))),
    ]
    logged = {
        "traceId": "aa",
        "spanId": "1",
        "eventName": "gen_ai.client.inference.operation.details",
        "attributes": told,
    }
    log = write(
        tmp_path / "otlp.jsonl",
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [logged]}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [chatted | times]}]}]},
    )
    [session] = read("otel", log)
    assert users(session) == ["look"]
    assert turns(session)[0].duration_s == 2.0
    assert calls(session) == [("get", {"n": 1})]


def test_a_failed_request_that_is_made_again_says_nothing_twice(tmp_path: Path) -> None:
    heard = parts("user", text("look"))
    failed = span("1", 1, 2, CHAT | {"gen_ai.input.messages": messages(heard)}) | {"status": {"status_code": "ERROR"}}
    session = one(tmp_path, failed, chat("2", 3, 4, [heard], parts("assistant", text("Done."))))
    assert words(session) == ["look", "Done."]


def test_openllmetry_s_tools_are_unwrapped(tmp_path: Path) -> None:
    entity: Told = {"traceloop.entity.name": "get", "traceloop.entity.input": '{"inputs": {"n": 1}}'}
    ran = entity | {"traceloop.span.kind": "tool", "traceloop.entity.output": '{"outputs": "x"}'}
    session = one(tmp_path, span("1", 1, 2, ran))
    assert (calls(session), answers(session)) == ([("get", {"n": 1})], [("x", "ok", 1.0)])
