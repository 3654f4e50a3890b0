"""`paste-proxy explain`: turns at a glance, one moment in full, for people and programs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from paste_proxy.cli.counted import counted
from paste_proxy.cli.main import app
from paste_proxy.errors import InputFault
from paste_proxy.events.codec import encode
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Outcome, Speculation
from paste_proxy.importers.neutral import read_sessions
from paste_proxy.share import share
from tests.mining.sessions import Script

AIRLINE = str(share("traces") / "tau_airline.jsonl.gz")
SESSION = read_sessions([Path(AIRLINE)])[1].id
OF_AIRLINE = (AIRLINE, "--session", SESSION, "--pool", "builtin:tau_airline", "--policy", "builtin:tau_airline")


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["explain", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def report(*arguments: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(run(*arguments, "--json").splitlines()[-1])
    return shown


def test_each_turn_has_a_line_with_what_was_asked_its_rank_and_the_likeliest() -> None:
    turns = report(*OF_AIRLINE)["turns"]
    shown = run(*OF_AIRLINE)
    assert [turn["turn"] for turn in turns] == list(range(1, len(turns) + 1))
    calls = [call for turn in turns for call in turn["asked"]]
    first = sum(call["rank"] == 1 for call in calls)
    assert f"{len(calls)} calls: {first} were the first candidate" in shown
    assert sum("never run ahead" in line for line in shown.splitlines()) == sum(
        not call["policy"]["runs"] for call in calls
    )
    best = turns[4]["best"]
    assert f"{best['next']:.1%}  {best['tool']}" in shown


def test_a_moment_shows_every_candidate_with_its_reasons_and_what_the_policy_says() -> None:
    moment, shown = report(*OF_AIRLINE, "--at", "5"), run(*OF_AIRLINE, "--at", "5")
    assert (moment["session"], moment["turn"]) == (SESSION, 5)
    assert [line for line in shown.splitlines() if line[:1].isdigit()] != []
    for rank, one in enumerate(moment["candidates"], 1):
        assert f"{rank}. {one['tool']} " in shown
        assert one["policy"]["rule"] in shown
        assert f"   {one['next']:.1%} likely at once, {one['confidence']:.1%} within 8 turns" in shown
        for pattern in one["why"]["patterns"]:
            assert (
                f"pattern {pattern['id']}, of {counted(pattern['groups'], 'task')}: {pattern['context_in_words']}"
                in shown
            )
    (asked,) = moment["asked"]
    assert f"which was candidate {asked['rank']}" in shown


def test_the_last_moment_needs_no_number_and_no_policy() -> None:
    moment, shown = report(AIRLINE, "--session", SESSION, "--last"), run(AIRLINE, "--session", SESSION, "--last")
    assert all("policy" not in one for one in moment["candidates"])
    assert "after its last turn" in shown


def test_tools_that_the_policy_rules_out_take_no_candidate_s_place() -> None:
    said = [one["policy"]["why"] for at in range(3, 10) for one in report(*OF_AIRLINE, "--at", str(at))["candidates"]]
    assert said
    assert not any("write" in one for one in said)


def test_which_session_is_meant_is_asked_for_where_there_are_several(tmp_path: Path) -> None:
    ids = [one.id for one in read_sessions([Path(AIRLINE)])]
    assert [one["id"] for one in report(AIRLINE)["sessions"]] == ids
    assert [line.split()[-1] for line in run(AIRLINE).splitlines()[1 : len(ids) + 1]] == ids
    with pytest.raises(InputFault, match="--session: nothing; expected the id of a session"):
        run(AIRLINE, "--last")
    with pytest.raises(
        InputFault, match=r"--session: nope; expected the id of one of these: tau_airline/.* all are listed"
    ):
        run(AIRLINE, "--session", "nope")
    assert report(AIRLINE, "--session", SESSION[:-1])["session"] == SESSION
    one = tmp_path / "one.jsonl"
    events = Script("only").user("go").call("look", {"at": "a"}, "A").end().events
    one.write_bytes(b"".join(encode(event, seq) for seq, event in enumerate(events)))
    assert report(str(one))["session"] == "only"


def test_a_turn_that_is_not_there_is_a_fault() -> None:
    last = report(*OF_AIRLINE)["turns"][-1]["turn"]
    with pytest.raises(InputFault, match=f"--at: 99; expected a turn from 1 to {last};"):
        run(*OF_AIRLINE, "--at", "99")
    with pytest.raises(InputFault, match="--at"):
        run(*OF_AIRLINE, "--at", "1", "--last")


def test_a_rule_is_named_as_its_policy_is(tmp_path: Path) -> None:
    (own := tmp_path / "own.toml").write_text('[[rule]]\ntool = "look"\neffect = "read"\n')
    asked = report(*OF_AIRLINE)["turns"][4]["asked"]
    assert all(re.fullmatch(r"builtin:tau_airline: rule \d+", call["policy"]["rule"]) for call in asked)
    trace = tmp_path / "one.jsonl"
    events = Script("only").user("go").call("look", {"at": "a"}, "A").end().events
    trace.write_bytes(b"".join(encode(event, seq) for seq, event in enumerate(events)))
    (turn,) = [each for each in report(str(trace), "--policy", str(own))["turns"] if each["asked"]]
    assert turn["asked"][0]["policy"]["rule"] == f"{own}: rule 1"


def test_of_a_sidecars_session_it_is_said_how_its_staged_runs_fared(tmp_path: Path) -> None:
    trace = tmp_path / "one.jsonl"
    events = Script("only").user("go").call("look", {"at": "a"}, "A").end().events
    assert events[1:]
    job = Speculation(
        session="only",
        ts=None,
        invocation=Invocation("look", {"at": "a"}),
        source="p",
        confidence=0.5,
        outcome=Outcome.PROMOTED,
        ran_s=10.0,
        saved_s=1.0,
        staged=True,
        cpu_s=1.0,
    )
    trace.write_bytes(b"".join(encode(event, seq) for seq, event in enumerate([*events, job])))
    words = "0 of 1 ended before they were asked for; on a core for 10% of their time: starved, less than 25%"
    assert f"1 staged job: {words}" in run(str(trace))
    staged = report(str(trace))["staged"]
    assert (staged["jobs"], staged["cpu_share"], staged["starved"]) == (1, 0.1, True)
    assert report(*OF_AIRLINE)["staged"] is None


def test_of_a_pattern_by_hand_it_is_said_what_its_author_believes(tmp_path: Path) -> None:
    pool, trace = tmp_path / "ours.toml", tmp_path / "one.jsonl"
    pool.write_text('[[pattern]]\nid = "first"\ntool = "look"\nconfidence = 0.3\narguments.at = { constant = "a" }\n')
    events = Script("only").user("go").call("look", {"at": "a"}, "A").end().events
    trace.write_bytes(b"".join(encode(event, seq) for seq, event in enumerate(events)))
    shown = run(str(trace), "--at", "1", "--pool", str(pool))
    assert "pattern first, written by hand, 30%: at any moment" in shown
    assert "came at once" not in shown
