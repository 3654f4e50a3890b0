"""Codex rollouts, newer and older: turns without marks, outcomes told beside the conversation."""

import json
from pathlib import Path

import pytest

from tests.importers.logs import Told, answers, calls, read, turns, users, words, write

ID = "0199a213-81c0-7800-8aa1-bbab2a035a53"


def line(kind: str, second: float = 0, **payload: object) -> Told:
    return {"timestamp": f"2026-03-01T10:00:{second:06.3f}Z", "type": kind, "payload": payload}


def item(kind: str, second: float = 0, **fields: object) -> Told:
    return line("response_item", second, **({"type": kind} | fields))


def event(kind: str, second: float = 0, **fields: object) -> Told:
    return line("event_msg", second, **({"type": kind} | fields))


def message(role: str, text: str, second: float = 0, **fields: object) -> Told:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", second, role=role, content=[{"type": kind, "text": text}], **fields)


def call(call_id: str, name: str, second: float = 0, space: str = "", **arguments: object) -> Told:
    named = {"namespace": space} if space else {}
    return item("function_call", second, name=name, call_id=call_id, arguments=json.dumps(arguments), **named)


def output(call_id: str, text: object, second: float = 0) -> Told:
    return item("function_call_output", second, call_id=call_id, output=text)


def rollout(folder: Path, *records: Told) -> Path:
    return write(folder / f"rollout-2026-03-01T10-00-00-{ID}.jsonl", line("session_meta", id=ID), *records)


def test_turns_are_what_stands_between_outputs_and_counts(tmp_path: Path) -> None:
    log = rollout(
        tmp_path,
        line("turn_context", model="gpt"),
        message("user", "look", 1),
        message("assistant", "I look.", 2),
        call("a", "exec_command", 2.5, cmd="ls"),
        call("b", "exec_command", 3, cmd="pwd"),
        event("token_count", 3),
        output("a", "x", 4),
        output("b", "y", 4),
        call("c", "exec_command", 5, cmd="id"),
        output("c", "z", 6),
        message("assistant", "Done.", 7),
        line("token_usage_record", 7),
        message("assistant", "And more.", 8),
    )
    [session] = read("codex", log)
    assert session.id == ID
    assert [(turn.text, turn.model, turn.duration_s) for turn in turns(session)] == [
        ("I look.", "gpt", 2.0), ("", "gpt", 1.0), ("Done.", "gpt", 1.0), ("And more.", "gpt", 2.0),
    ]  # fmt: skip
    assert [seconds for *_, seconds in answers(session)] == [1.5, 1.0, 1.0]


@pytest.mark.parametrize(
    ("beside", "text", "expected"),
    [
        (None, "plain", ("plain", "ok", 9.0)),
        (None, "Wall time: 2.5000 seconds\nProcess exited with code 1\nOutput:\nno", ("error", 2.5)),
        (None, "Exit code: 0\nWall time: 0.5 seconds\nOutput:\nyes", ("ok", 0.5)),
        (None, '{"output":"no","metadata":{"exit_code":2,"duration_seconds":0.3}}', ("no", "error", 0.3)),
        (None, {"content": "no", "success": False}, ("no", "error", 9.0)),
        (None, "unsupported call: mcp__lablookup", ("error", 9.0)),
        (None, "unsupported custom tool call: apply", ("error", 9.0)),
        (None, "tool call error: tool call failed for `lab/get`", ("error", 9.0)),
        (None, "failed to parse function arguments: expected value", ("error", 9.0)),
        (None, "user cancelled MCP tool call", ("error", 9.0)),
        (None, 'Wall time: 0.1 seconds\nOutput:\n{"content":[],"isError":true}', ("error", 9.0)),
        (None, 'Wall time: 0.1 seconds\nOutput:\n{"isError":false}', ("ok", 9.0)),
        (None, "Exit code: 0\nWall time: 0.5 seconds\nOutput:\nunsupported call: x", ("ok", 0.5)),
        (
            {
                "type": "item_completed",
                "item": {"type": "McpToolCall", "status": "completed", "error": {"message": "x"}},
            },
            "no",
            ("error", 9.0),
        ),
        (None, [{"type": "input_text", "text": "seen"}], ("seen", "ok", 9.0)),
        (
            {"type": "exec_command_end", "exit_code": 1, "duration": {"secs": 1, "nanos": 500_000_000}},
            "no",
            ("error", 1.5),
        ),
        ({"type": "patch_apply_end", "success": False}, "no", ("error", 9.0)),
        ({"type": "item_completed", "item": {"type": "CommandExecution", "status": "failed"}}, "no", ("error", 9.0)),
    ],
)
def test_how_a_call_ended_is_told_beside_it_or_by_its_output(
    tmp_path: Path, beside: Told | None, text: object, expected: tuple[object, ...]
) -> None:
    told = []
    if beside is not None:
        inner = beside.get("item")
        named = {**beside, "call_id": "a"} if not isinstance(inner, dict) else {**beside, "item": {**inner, "id": "a"}}
        told = [line("event_msg", 1, **named)]
    [session] = read("codex", rollout(tmp_path, call("a", "exec_command", 1, cmd="x"), *told, output("a", text, 10)))
    [answer] = answers(session)
    assert answer[-len(expected) :] == expected


RESULT: Told = {"content": [{"type": "text", "text": "42"}], "isError": True}
TOOK: Told = {"secs": 0, "nanos": 5_000_000}


@pytest.mark.parametrize(
    "ended",
    [
        event(
            "item_completed",
            item={"type": "McpToolCall", "id": "a", "status": "completed", "result": RESULT, "duration": TOOK},
        ),
        event("mcp_tool_call_end", call_id="a", duration=TOOK, result={"Ok": RESULT}),
    ],
)
def test_a_server_s_tool_has_its_identity_and_its_own_result(tmp_path: Path, ended: Told) -> None:
    above = "Wall time: 0.0060 seconds\nOutput:\n42"
    log = rollout(tmp_path, call("a", "get", space="mcp__lab", key="x"), ended, output("a", above, 1))
    [session] = read("codex", log)
    assert calls(session) == [("lab/get", {"key": "x"})]
    assert answers(session) == [(RESULT, "error", 0.005)]


def test_what_the_program_put_in_is_nobody_s_words(tmp_path: Path) -> None:
    both = [{"type": "input_text", "text": "a note"}, {"type": "input_text", "text": "look"}]
    origins = [{"provenance": {"type": "harness"}}, {"provenance": {"type": "user"}}]
    log = rollout(
        tmp_path,
        message("developer", "be brief"),
        message("user", "<environment_context>\n</environment_context>"),
        message("user", "# AGENTS.md instructions for /work\n\nbe brief"),
        item("message", role="user", content=both,
             internal_chat_message_metadata_passthrough={"content_item_metadata": origins}),
        event("user_message", message="look"),
        item("reasoning", summary=[]),
        line("compacted", message="a summary", replacement_history=[{"type": "message", "role": "user"}]),
        event("agent_message", message="Done."),
        message("assistant", "Done."),
    )  # fmt: skip
    [session] = read("codex", log)
    assert words(session) == ["look", "Done."]


def test_custom_calls_and_the_local_shell(tmp_path: Path) -> None:
    log = rollout(
        tmp_path,
        item("custom_tool_call", name="apply_patch", call_id="a", input="*** Begin Patch"),
        item("custom_tool_call_output", call_id="a", output="ok"),
        item("local_shell_call", call_id="b", action={"type": "exec", "command": ["ls"], "timeout_ms": 5}),
        item("local_shell_call_output", call_id="b", output="x"),
        item("function_call", name="broken", call_id="c", arguments="{not json"),
        output("c", "failed to parse"),
    )
    [session] = read("codex", log)
    assert calls(session) == [
        ("apply_patch", {"input": "*** Begin Patch"}),
        ("local_shell", {"command": ["ls"], "timeout_ms": 5}),
    ]
    assert [output for output, *_ in answers(session)] == ["ok", "x"]


def test_older_rollouts_are_the_items_alone_or_one_document(tmp_path: Path) -> None:
    items: list[Told] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
        {"type": "function_call", "name": "shell", "call_id": "a", "arguments": '{"command":["ls"]}'},
        {"type": "function_call_output", "call_id": "a", "output": '{"output":"x","metadata":{"exit_code":0}}'},
    ]
    head: Told = {"id": "older", "timestamp": "2025-05-01T10:00:00Z", "instructions": None}
    lines = write(tmp_path / "rollout-1.jsonl", head, {"record_type": "state"}, *items)
    oldest = tmp_path / "rollout-2.json"
    oldest.write_text(json.dumps({"session": {"id": "oldest", "timestamp": "2025-04-20"}, "items": items}, indent=1))
    one, other = read("codex", lines, oldest)
    assert (one.id, other.id) == ("older", "oldest")
    for session in (one, other):
        assert users(session) == ["look"]
        assert calls(session) == [("shell", {"command": ["ls"]})]
        assert answers(session) == [("x", "ok", None)]


def test_a_fork_keeps_its_own_name(tmp_path: Path) -> None:
    [session] = read("codex", rollout(tmp_path, line("session_meta", id="what it came from"), message("user", "look")))
    assert session.id == ID


def test_files_of_one_session_are_read_as_one(tmp_path: Path) -> None:
    first, second = (rollout(tmp_path / name, message("user", name)) for name in ("look", "go on"))
    [session] = read("codex", first, second)
    assert (session.id, users(session)) == (ID, ["look", "go on"])
