"""qwen-code's chats: what the program counts of itself, sub-agents' logs, the older form."""

import json
from pathlib import Path

from tests.importers.logs import Told, answers, calls, read, turns, users, words, write


def record(kind: str, uuid: str, *parts: Told, second: float = 0, **more: object) -> Told:
    head: Told = {"uuid": uuid, "sessionId": "s1", "type": kind, "timestamp": f"2026-03-01T10:00:{second:06.3f}Z"}
    return head | ({"message": {"parts": list(parts)}} if parts else {}) | more


def counted(uuid: str, name: str, **fields: object) -> Told:
    told = {"event.name": f"qwen-code.{name}"} | fields
    return record("system", uuid, subtype="ui_telemetry", systemPayload={"uiEvent": told})


def call(call_id: str, tool: str = "read_file", /, **arguments: object) -> Told:
    return {"functionCall": {"id": call_id, "name": tool, "args": arguments}}


def result(call_id: str, output: str) -> Told:
    return {"functionResponse": {"id": call_id, "name": "any", "response": {"output": output}}}


def test_seconds_are_those_that_the_program_counted(tmp_path: Path) -> None:
    log = write(
        tmp_path / "chats" / "s1.jsonl",
        record("user", "1", {"text": "look"}, second=1, provenance="real_user"),
        counted("2", "api_response", duration_ms=400),
        record("assistant", "3", {"text": "I look."}, call("a"), call("b"), second=2, model="q"),
        counted("4", "tool_call", call_id="b", duration_ms=1500),
        counted("5", "api_response", duration_ms=9000, subagent_name="helper"),
        record("tool_result", "6", result("a", "x"), second=5, toolCallResult={"callId": "a", "durationMs": 20}),
        record("tool_result", "7", result("b", "y"), second=5, toolCallResult={"callId": "b", "status": "error"}),
        record("assistant", "8", {"text": "Done."}, second=9),
        record("assistant", "8", {"text": "Done."}, second=9),
    )
    [session] = read("qwen-code", log)
    assert [(turn.text, turn.model, turn.duration_s) for turn in turns(session)] == [
        ("I look.", "q", 0.4),
        ("Done.", "", 4.0),
    ]
    assert answers(session) == [("x", "ok", 0.02), ("y", "error", 1.5)]


def test_what_the_program_put_in_is_nobody_s_words(tmp_path: Path) -> None:
    log = write(
        tmp_path / "chats" / "s1.jsonl",
        record("user", "1", {"text": "look"}),
        record("user", "2", {"text": "a helper is done"}, provenance="system", subtype="notification"),
        record("system", "3", subtype="chat_compression", systemPayload={}),
        record("assistant", "4", {"text": "hm", "thought": True}, {"text": "Done."}),
    )
    [session] = read("qwen-code", log)
    assert words(session) == ["look", "Done."]


def test_a_tool_called_through_another_is_that_tool(tmp_path: Path) -> None:
    log = write(
        tmp_path / "chats" / "s1.jsonl",
        record(
            "assistant",
            "1",
            call("a", "tool_call", name="mcp__lab__get", arguments={"key": "x"}),
            call("b", "tool_call", name="mcp__lab__get", arguments='{"key": "y"}'),
            call("c", "tool_call", other=1),
        ),
    )
    [session] = read("qwen-code", log)
    assert calls(session) == [("lab/get", {"key": "x"}), ("lab/get", {"key": "y"}), ("tool_call", {"other": 1})]


def test_a_sub_agent_s_turn_begins_with_its_count_of_tokens(tmp_path: Path) -> None:
    own: Told = {"agentId": "helper-1", "isSidechain": True}
    write(tmp_path / "p" / "chats" / "s1.jsonl", record("user", "0", {"text": "look"}))
    write(
        tmp_path / "p" / "subagents" / "s1" / "agent-helper-1.jsonl",
        record("user", "1", {"text": "help"}) | own,
        record("assistant", "2", {"text": "I look."}, usageMetadata={}) | own,
        record("assistant", "3", call("a", n=1)) | own,
        record("assistant", "4", call("b", n=2)) | own,
        record("tool_result", "5", result("a", "x")) | own,
        record("tool_result", "6", result("b", "y")) | own,
        record("assistant", "7", usageMetadata={}) | own,
        record("assistant", "8", call("c", n=3)) | own,
    )
    main, helper = read("qwen-code", tmp_path)
    assert (main.id, helper.id) == ("s1", "s1/helper-1")
    assert [turn.text for turn in turns(helper)] == ["I look.", ""]
    assert calls(helper) == [("read_file", {"n": 1}), ("read_file", {"n": 2}), ("read_file", {"n": 3})]


def test_the_older_form_is_that_of_gemini_cli(tmp_path: Path) -> None:
    messages = [
        {"id": "1", "type": "user", "content": "look", "timestamp": "2025-10-01T10:00:00Z"},
        {"id": "2", "type": "qwen", "content": "Done.", "timestamp": "2025-10-01T10:00:02Z"},
    ]
    log = tmp_path / "tmp" / "ab" / "chats" / "session-2025-10-01T10-00-s1.json"
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps({"sessionId": "s1", "projectHash": "ab", "messages": messages}))
    [session] = read("qwen-code", tmp_path)
    assert (session.id, users(session), words(session)) == ("s1", ["look"], ["look", "Done."])
