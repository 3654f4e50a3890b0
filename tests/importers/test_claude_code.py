"""Claude Code's transcripts: one message in many records, sub-agents, compaction, what nobody said."""

from pathlib import Path

import pytest

from tests.importers.logs import Told, answers, calls, outputs, read, turns, users, words, write


def record(kind: str, uuid: str, message: object, second: float = 0, **more: object) -> Told:
    at = f"2026-03-01T10:00:{second:06.3f}Z"
    head: Told = {"type": kind, "uuid": uuid, "sessionId": "s1", "timestamp": at, "isSidechain": False}
    return head | {"message": message} | more


def said(uuid: str, text: object, second: float = 0, **more: object) -> Told:
    return record("user", uuid, {"role": "user", "content": text}, second, **more)


def asked(uuid: str, message: str, *blocks: Told, second: float = 0, **more: object) -> Told:
    return record("assistant", uuid, {"id": message, "model": "m", "content": list(blocks)}, second, **more)


def use(call_id: str, name: str = "Read", **arguments: object) -> Told:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(uuid: str, call_id: str, content: object, second: float = 0, error: bool = False, **more: object) -> Told:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": error}
    return said(uuid, [block], second, **more)


def text(words_: str) -> Told:
    return {"type": "text", "text": words_}


def test_records_of_one_message_are_one_turn_even_around_a_result(tmp_path: Path) -> None:
    log = write(
        tmp_path / "s1.jsonl",
        said("1", "look", 1),
        asked("2", "m1", text("I look."), second=2),
        asked("3", "m1", use("a", path="x"), second=2.5),
        result("4", "a", "ax", 3),
        asked("5", "m1", use("b", path="y"), second=3),
        result("6", "b", "by", 5),
        asked("7", "m2", text("Done."), second=6),
    )
    [session] = read("claude-code", log)
    assert [(turn.turn, turn.text, turn.duration_s, turn.model) for turn in turns(session)] == [
        (0, "I look.", 2.0, "m"),
        (1, "Done.", 1.0, "m"),
    ]
    assert calls(session) == [("Read", {"path": "x"}), ("Read", {"path": "y"})]
    assert answers(session) == [("ax", "ok", 0.5), ("by", "ok", 2.0)]


def test_a_message_that_is_written_again_and_again_is_told_once(tmp_path: Path) -> None:
    log = write(
        tmp_path / "s1.jsonl",
        said("1", "look"),
        asked("2", "m1", text("I look.")),
        asked("3", "m1", text("I look."), use("a")),
        asked("4", "m1", text("I look."), use("a"), use("b")),
        result("5", "a", "x"),
        result("6", "a", "x again"),
        result("7", "b", "y"),
    )
    [session] = read("claude-code", log)
    assert words(session) == ["look", "I look."]
    assert [event.output for event in outputs(session)] == ["x", "y"]


def test_a_message_id_that_comes_again_after_a_prompt_is_another_message(tmp_path: Path) -> None:
    one, other = asked("2", "m1", text("Done."), use("a")), asked("4", "m1", text("Done."), use("a"))
    log = write(tmp_path / "s1.jsonl", said("1", "look"), one, said("3", "again"), other)
    [session] = read("claude-code", log)
    assert words(session) == ["look", "Done.", "again", "Done."]
    assert len(calls(session)) == 2


@pytest.mark.parametrize(
    "nobody_said",
    [
        said("2", "<command-name>/clear</command-name>"),
        said("2", "<local-command-stdout>cleared</local-command-stdout>"),
        said("2", "[Request interrupted by user for tool use]"),
        said("2", "a summary of what was", isCompactSummary=True),
        said("2", "a reminder", isMeta=True),
        said("2", "<task-notification>done</task-notification>", origin={"kind": "task-notification"}),
        said("2", [text("<system-reminder>none</system-reminder>")]),
        {"type": "queue-operation", "operation": "enqueue", "content": "look again", "sessionId": "s1"},
        {"type": "summary", "summary": "Looking", "leafUuid": "1"},
        {"type": "system", "subtype": "compact_boundary", "uuid": "2", "parentUuid": None, "content": "compacted"},
        record("assistant", "2", {"id": "m0", "model": "<synthetic>", "content": [text("API Error")]}),
        asked("2", "m0", text("API Error: overloaded"), isApiErrorMessage=True),
    ],
)
def test_what_the_program_put_in_is_nobody_s_words(nobody_said: Told, tmp_path: Path) -> None:
    log = write(tmp_path / "s1.jsonl", said("1", "look"), nobody_said, asked("3", "m1", text("Done.")))
    [session] = read("claude-code", log)
    assert words(session) == ["look", "Done."]


def test_what_a_person_typed_stays_beside_a_reminder(tmp_path: Path) -> None:
    blocks = [text("<system-reminder>none</system-reminder>"), text("look at a.txt")]
    [session] = read("claude-code", write(tmp_path / "s1.jsonl", said("1", blocks, origin={"kind": "human"})))
    assert users(session) == ["look at a.txt"]


def test_sub_agents_are_sessions_of_their_own_in_files_beside_and_in_the_same_file(tmp_path: Path) -> None:
    main = write(
        tmp_path / "p" / "s1.jsonl",
        said("1", "look"),
        said("10", "older helper", isSidechain=True, parentUuid=None),
        asked("11", "m9", use("z"), isSidechain=True, parentUuid="10"),
        asked("2", "m1", use("a", "Agent", prompt="newer helper")),
        result("12", "z", "seen", isSidechain=True, parentUuid="11"),
        result("3", "a", [text("found "), text("it")]),
    )
    write(
        main.parent / "s1" / "subagents" / "agent-a7.jsonl",
        said("20", "newer helper", isSidechain=True, agentId="a7"),
        asked("21", "m5", text("found it"), isSidechain=True, agentId="a7"),
    )
    own, older, newer = read("claude-code", main, main.parent / "s1" / "subagents" / "agent-a7.jsonl")
    assert (own.id, older.id, newer.id) == ("s1", "s1/10", "s1/a7")
    assert (users(own), users(older), users(newer)) == (["look"], ["older helper"], ["newer helper"])
    assert [event.output for event in outputs(older)] == ["seen"]
    assert outputs(own)[0].output == "found \nit"
    assert [session.id for session in read("claude-code", tmp_path)] == ["s1/a7", "s1", "s1/10"]


def test_a_resumed_session_that_begins_with_a_copy_is_one_session(tmp_path: Path) -> None:
    begun = [said("1", "look"), asked("2", "m1", use("a")), result("3", "a", "x")]
    write(tmp_path / "a.jsonl", *begun, asked("4", "m2", text("Done.")))
    write(tmp_path / "b.jsonl", *({**one, "sessionId": "s2"} for one in begun), said("5", "and now?", sessionId="s2"))
    [session] = read("claude-code", tmp_path)
    assert session.id == "s1"
    assert words(session) == ["look", "", "Done.", "and now?"]
    assert len(outputs(session)) == 1


def test_a_tool_s_own_seconds_leave_out_the_time_to_permit_it(tmp_path: Path) -> None:
    log = write(
        tmp_path / "s1.jsonl",
        asked("1", "m1", use("a", "mcp__web__fetch"), use("b"), second=1),
        result("2", "a", "x", 31, toolUseResult={"durationMs": 250}),
        result("3", "b", "denied", 40, error=True),
    )
    [session] = read("claude-code", log)
    assert answers(session) == [("x", "ok", 0.25), ("denied", "error", 39.0)]
    assert [event.tool for event in outputs(session)] == ["web/fetch", "Read"]


def test_an_answer_that_is_no_text_stays_as_it_is(tmp_path: Path) -> None:
    references = [{"type": "tool_reference", "tool_name": "mcp__lab__look_up"}]
    log = write(
        tmp_path / "s1.jsonl", asked("1", "m1", use("a", "ToolSearch", query="look")), result("2", "a", references)
    )
    [session] = read("claude-code", log)
    assert outputs(session)[0].output == references
