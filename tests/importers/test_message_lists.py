"""Lists of messages, results of tau-bench and trajectories of SWE-agent."""

import json
from pathlib import Path

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.importers.formats import FORMATS
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt
from paste_proxy.mining.groups import groups_of
from tests.importers.logs import Told, answers, calls, read, turns, users, words, write

USER: Told = {"role": "user", "content": "look"}
DONE: Told = {"role": "assistant", "content": "Done."}


def asked(*named: tuple[str, str]) -> Told:
    functions = [{"id": call_id, "function": {"name": name, "arguments": "{}"}} for call_id, name in named]
    return {"role": "assistant", "content": None, "tool_calls": functions}


def answer(call_id: str, content: object, **more: object) -> Told:
    return {"role": "tool", "tool_call_id": call_id, "content": content} | more


def of(folder: Path, *messages: Told) -> RecordedSession:
    [session] = read("openai-messages", write(folder / "x.jsonl", {"messages": list(messages)}))
    return session


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "document",
    [
        [USER, DONE],
        [[USER, DONE]],
        {"messages": [USER, DONE]},
        [{"messages": [USER, DONE], "tools": []}],
        {"request": {"messages": [USER]}, "response": {"choices": [{"message": DONE}]}},
    ],
)
def test_a_conversation_may_be_kept_in_several_ways(document: object, indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(document, indent=indent))
    [session] = read("openai-messages", path)
    assert words(session) == ["look", "Done."]


def test_a_file_of_single_messages_is_one_conversation(tmp_path: Path) -> None:
    [session] = read("openai-messages", write(tmp_path / "x.jsonl", USER, DONE))
    assert words(session) == ["look", "Done."]


def test_a_conversation_is_known_by_its_own_id_or_by_its_content(tmp_path: Path) -> None:
    lines: list[Told] = [{"messages": [USER]}, {"messages": [USER], "id": "mine"}, {"messages": [USER, DONE]}]
    ids = [session.id for session in read("openai-messages", write(tmp_path / "x.jsonl", *lines))]
    assert ids[1] == "mine"
    assert len(set(ids)) == 3
    assert ids == [session.id for session in read("openai-messages", write(tmp_path / "again" / "x.jsonl", *lines))]


def test_answers_without_ids_go_to_the_oldest_open_call_of_their_name(tmp_path: Path) -> None:
    calling: Told = {"role": "assistant", "content": "", "function_call": {"name": "get", "arguments": '{"n": 1}'}}
    result: Told = {"role": "function", "name": "get", "content": "one"}
    both: Told = {"role": "assistant", "tool_calls": [{"name": "a", "args": {}}, {"name": "b", "args": {}}]}
    crossed: list[Told] = [{"role": "tool", "name": name, "content": name} for name in "ba"]
    session = of(tmp_path, calling, result, both, *crossed)
    assert calls(session) == [("get", {"n": 1}), ("a", {}), ("b", {})]
    assert [output for output, *_ in answers(session)] == ["one", "b", "a"]


def test_ids_that_come_again_are_paired_in_order(tmp_path: Path) -> None:
    session = of(tmp_path, asked(("a", "t")), answer("a", "x"), asked(("a", "t")), answer("a", "y"), answer("a", "z"))
    assert [output for output, *_ in answers(session)] == ["x", "y"]
    assert len({event.call_id for event in session.events if hasattr(event, "call_id")}) == 2


def test_content_parts_times_and_errors_are_read(tmp_path: Path) -> None:
    session = of(
        tmp_path,
        {
            "role": "user",
            "content": [{"type": "text", "text": "look"}, {"type": "image_url"}],
            "timestamp": 1_760_000_000,
        },
        asked(("a", "mcp__lab__get")) | {"timestamp": 1_760_000_002},
        answer("a", [{"type": "text", "text": "no"}], is_error=True, timestamp=1_760_000_002.5),
    )
    assert users(session) == ["look"]
    assert turns(session)[0].duration_s == 2.0
    assert calls(session) == [("lab/get", {})]
    assert answers(session) == [("no", "error", 0.5)]


def test_a_call_that_is_no_json_object_is_left_out_with_its_answer(tmp_path: Path) -> None:
    broken: Told = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "t", "arguments": "{cut"}}]}
    session = of(tmp_path, USER, broken, answer("a", "no such json"), DONE)
    assert words(session) == ["look", "", "Done."]
    assert (calls(session), answers(session)) == ([], [])


def test_a_line_that_is_no_conversation_stops_or_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"messages": [USER]}, {"prompt": "look"}, {"messages": []})
    with pytest.raises(
        InputFault, match=r'x\.jsonl:2: no conversation; expected messages, or an object with "messages"'
    ):
        read("openai-messages", path)
    corrupt = Corrupt(skip=True)
    assert len(list(FORMATS["openai-messages"].read([path], corrupt))) == 1
    assert corrupt.bad == 2


def test_tau2_results_leave_out_what_the_user_s_own_tools_did(tmp_path: Path) -> None:
    of_user: Told = {
        "role": "user",
        "content": None,
        "tool_calls": [{"id": "u", "name": "reboot", "requestor": "user"}],
    }
    call: Told = {"id": "a", "name": "get", "arguments": {"n": 1}, "requestor": "assistant"}
    messages = [
        USER | {"timestamp": "2026-03-01T10:00:00"},
        {"role": "assistant", "tool_calls": [call], "timestamp": "2026-03-01T10:00:03", "generation_time_seconds": 2.5},
        {"role": "tool", "id": "a", "content": "no", "error": True, "requestor": "assistant"},
        of_user,
        {"role": "tool", "id": "u", "content": "rebooted", "requestor": "user"},
        DONE,
    ]
    runs = [{"id": "r", "task_id": "t1", "trial": trial, "messages": messages} for trial in (0, 1, 1)]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"info": {"agent_info": {"llm": "m"}}, "tasks": [], "simulations": runs}))
    sessions = read("tau-bench", path)
    names = [session.id.partition("/")[2] for session in sessions]
    assert names == ["taskt1-trial0", "taskt1-trial1", "taskt1-trial1-2"]
    assert len(set(groups_of(sessions))) == 1
    assert (calls(sessions[0]), answers(sessions[0])) == ([("get", {"n": 1})], [("no", "error", None)])
    assert [(turn.model, turn.duration_s) for turn in turns(sessions[0])] == [("m", 2.5), ("m", None)]


def trajectory(folder: Path, **told: object) -> RecordedSession:
    path = folder / "issue-1.traj"
    path.write_text(json.dumps(told))
    [session] = read("swe-agent", path)
    return session


def test_an_agent_without_function_calls_acts_in_the_shell(tmp_path: Path) -> None:
    history = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "an example", "is_demo": True},
        {"role": "user", "content": "mend it"},
        {"role": "assistant", "content": "I look. ls", "thought": "I look.", "action": "ls"},
        {"role": "user", "content": "a.py"},
    ]
    steps: list[Told] = [
        {"thought": "I look.", "action": "ls", "observation": "a.py", "execution_time": 0.25},
        {"response": "Done.", "action": "", "observation": ""},
    ]
    session = trajectory(tmp_path, trajectory=steps, history=history)
    assert words(session) == ["mend it", "I look.", "Done."]
    assert calls(session) == [("bash", {"command": "ls"})]
    assert answers(session) == [("a.py", "ok", 0.25)]
    alone = trajectory(tmp_path, trajectory=[steps[0] | {"query": history[:3]}, steps[1]])
    assert (words(alone), calls(alone)) == (words(session), calls(session))


def test_an_agent_that_calls_functions_has_the_seconds_of_its_steps(tmp_path: Path) -> None:
    demonstration = [one | {"is_demo": True} for one in (USER, asked(("d", "shown")), answer("d", "x"))]
    history = [*demonstration, USER, asked(("a", "open")), {"role": "tool", "content": "x", "tool_call_ids": ["a"]}]
    session = trajectory(tmp_path, trajectory=[{"action": "open", "execution_time": 0.5}], history=history)
    assert words(session) == ["look", ""]
    assert (calls(session), answers(session)) == ([("open", {})], [("x", "ok", 0.5)])


@pytest.mark.parametrize("form", ["tau-bench", "swe-agent"])
def test_a_document_of_something_else_is_named(form: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"name": "something else"}')
    with pytest.raises(InputFault, match=r"x\.json: no (results|trajectory)"):
        read(form, path)
