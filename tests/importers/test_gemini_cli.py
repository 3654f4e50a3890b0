"""gemini-cli's chats: messages written again, histories replaced, older documents, saved conversations."""

import json
from pathlib import Path

from tests.importers.logs import Told, answers, calls, read, turns, users, words, write

HEAD: Told = {"sessionId": "s1", "projectHash": "ab", "kind": "main"}


def at(second: float) -> str:
    return f"2026-03-01T10:00:{second:06.3f}Z"


def user(mark: str, text: str, second: float = 0) -> Told:
    return {"id": mark, "type": "user", "timestamp": at(second), "content": [{"text": text}]}


def gemini(mark: str, text: str, *ended: Told, second: float = 0) -> Told:
    message: Told = {"id": mark, "type": "gemini", "timestamp": at(second), "content": text, "model": "g"}
    return message | ({"toolCalls": list(ended)} if ended else {})


def call(call_id: str, name: str = "read_file", second: float = 0, status: str = "success", **more: object) -> Told:
    response = {"functionResponse": {"id": call_id, "name": name, "response": {"output": f"came of {call_id}"}}}
    told: Told = {"id": call_id, "name": name, "args": {"path": call_id}, "status": status, "timestamp": at(second)}
    return told | {"result": [response]} | more


def chat(folder: Path, *records: Told, name: str = "session-2026-03-01T10-00-s1.jsonl") -> Path:
    return write(folder / "work" / "chats" / name, HEAD, *records)


def test_a_message_written_again_adds_what_came_of_its_calls(tmp_path: Path) -> None:
    log = chat(
        tmp_path,
        user("1", "look", 1),
        gemini("2", "I look.", second=3),
        gemini("2", "I look.", call("a", second=5), second=3),
        gemini("2", "I look.", call("a", second=5), second=3),
        gemini("3", "", call("b", second=9), call("c", second=9), second=6),
    )
    [session] = read("gemini-cli", log)
    assert [(turn.text, turn.model, turn.duration_s) for turn in turns(session)] == [
        ("I look.", "g", 2.0),
        ("", "g", 1.0),
    ]
    assert answers(session) == [("came of a", "ok", 2.0), ("came of b", "ok", None), ("came of c", "ok", None)]


def test_a_history_that_replaces_another_takes_nothing_away(tmp_path: Path) -> None:
    shorter = [user("9", "<state_snapshot>\nso far\n</state_snapshot>"), gemini("2", "I look.", call("a"))]
    log = chat(
        tmp_path,
        user("1", "look"),
        gemini("2", "I look.", call("a")),
        {"$rewindTo": "1"},
        {"$set": {"messages": [user("1", "look"), *shorter], "lastUpdated": at(9)}},
        user("4", "and now?"),
        {"id": "5", "type": "info", "timestamp": at(9), "content": "a note"},
    )
    [session] = read("gemini-cli", log)
    assert words(session) == ["look", "I look.", "and now?"]
    assert calls(session) == [("read_file", {"path": "a"})]


def test_server_and_tool_are_told_apart_only_where_the_log_does(tmp_path: Path) -> None:
    shown = call("a", "mcp_my_lab_look_up", displayName="look_up (my_lab MCP Server)")
    unsure = call("b", "mcp_my_lab_look_up", displayName="LookUp")
    wrapped = {"functionResponse": {"id": "a", "response": {"output": "<untrusted_context>\n42\n</untrusted_context>"}}}
    wrapped["functionResponse"]["name"] = "mcp_my_lab_look_up"
    log = chat(tmp_path, gemini("1", "", shown | {"result": [wrapped]}, unsure | {"status": "cancelled"}))
    [session] = read("gemini-cli", log)
    assert calls(session) == [("my_lab/look_up", {"path": "a"}), ("mcp_my_lab_look_up", {"path": "b"})]
    assert answers(session) == [("42", "ok", None), ("came of b", "error", None)]


def test_an_older_document_and_the_lines_it_became_are_one_session(tmp_path: Path) -> None:
    messages = [user("1", "look"), gemini("2", "I look.", call("a"))]
    older = tmp_path / "work" / "chats" / "session-2026-03-01T10-00-s1.json"
    chat(tmp_path, *messages, user("3", "go on"))
    older.write_text(json.dumps({**HEAD, "messages": messages}, indent=2))
    [session] = read("gemini-cli", tmp_path)
    assert (session.id, words(session)) == ("s1", ["look", "I look.", "go on"])


def test_files_of_a_session_that_was_resumed_are_one_session(tmp_path: Path) -> None:
    chat(tmp_path, user("1", "look"), gemini("2", "I look.", call("a")))
    chat(tmp_path, user("1", "look"), user("3", "go on"), name="session-2026-03-02T10-00-s1.jsonl")
    chat(tmp_path, user("4", "other"), name="session-2026-03-02T10-00-s2.jsonl")
    resumed, other = read("gemini-cli", tmp_path)
    assert (words(resumed), words(other)) == (["look", "I look.", "go on"], ["other"])


def test_a_sub_agent_s_chat_is_a_session_of_its_own(tmp_path: Path) -> None:
    chat(tmp_path, user("1", "look"))
    write(tmp_path / "work" / "chats" / "s1" / "helper.jsonl", HEAD | {"sessionId": "helper"}, user("1", "help"))
    assert {session.id: users(session) for session in read("gemini-cli", tmp_path)} == {
        "s1": ["look"],
        "s1/helper": ["help"],
    }


def test_a_saved_conversation_is_an_array_of_contents(tmp_path: Path) -> None:
    contents = [
        {"role": "user", "parts": [{"text": "look"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, {"functionCall": {"name": "ls", "args": {"n": 1}}},
                                    {"functionCall": {"name": "ls", "args": {"n": 2}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": "one"}}},
                                   {"functionResponse": {"name": "ls", "response": {"error": "none"}}}]},
        {"role": "model", "parts": [{"text": "Done."}]},
    ]  # fmt: skip
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "checkpoint-one.json").write_text(json.dumps(contents))
    (folder / "logs.json").write_text(json.dumps([{"sessionId": "s1", "type": "user", "message": "look"}]))
    named = folder / "held.json"
    named.write_text(json.dumps({"history": [], "clientHistory": contents, "toolCall": {"name": "ls", "args": {}}}))
    for session in (*read("gemini-cli", tmp_path), *read("gemini-cli", named)):
        assert words(session) == ["look", "", "Done."]
        assert calls(session) == [("ls", {"n": 1}), ("ls", {"n": 2})]
        assert answers(session) == [("one", "ok", None), ("none", "error", None)]
    chat(tmp_path, user("1", "look"))
    assert [session.id for session in read("gemini-cli", tmp_path)] == ["s1"]
