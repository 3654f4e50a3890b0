"""The stats object."""

import orjson

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Outcome
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.stats import stats
from paste_proxy.speculation.types import Mode, Settled
from paste_proxy.staging.tally import StageTally


def test_stats_are_json_and_name_the_tools_waited_for_longest_first() -> None:
    tally = Tally()
    tally.answered("quick", "run", 0.5)
    tally.answered("slow", "run", 9.0)
    tally.answered("slow", "reused", 0.0)
    tally.settled(
        Settled(
            job=1,
            session="s",
            invocation=Invocation("slow", {}),
            source="p",
            confidence=0.5,
            outcome=Outcome.REUSED,
            ran_s=9.0,
            saved_s=9.0,
            shadow=False,
        )
    )
    shown = orjson.loads(orjson.dumps(stats(tally, Mode.SPECULATE, sessions=1, exchanges=0)))
    assert [tool["tool"] for tool in shown["missed_tools"]] == ["slow", "quick"]
    assert shown["missed_tools"][0]["calls"] == 1
    assert shown["outcomes"] == {"reused": 1}
    assert (shown["calls"], shown["hits"]) == (3, 1)


def test_how_staged_runs_fared_is_told() -> None:
    tally = Tally(stages=StageTally())
    job = Settled(
        job=1,
        session="s",
        invocation=Invocation("run", {}),
        source="p",
        confidence=0.5,
        outcome=Outcome.PROMOTED,
        ran_s=9.0,
        saved_s=1.0,
        shadow=False,
        staged=True,
        cpu_s=0.9,
    )
    tally.settled(job)
    staging = stats(tally, Mode.SPECULATE, sessions=1, exchanges=0)["staging"]
    assert isinstance(staging, dict)
    assert staging["runs"] == {"asked": 1, "ended_before_asked": 0, "cpu_share": 0.1, "starved": True}


def test_a_tool_whose_every_call_hit_was_not_missed() -> None:
    tally = Tally()
    tally.answered("ready", "reused", 0.0)
    tally.answered("nearly", "promoted", 2.0)
    assert stats(tally, Mode.SPECULATE, sessions=1, exchanges=0)["missed_tools"] == []


def test_calls_past_the_sidecar_are_told_by_tool_and_bounded() -> None:
    tally = Tally()
    tally.beside(["Bash", "Read", "Bash", "\ud800"])
    shown = stats(tally, Mode.OBSERVE, sessions=1, exchanges=0)
    assert (shown["calls"], shown["past_calls"]) == (0, 4)
    assert shown["past_tools"] == [
        {"tool": "Bash", "calls": 2},
        {"tool": "Read", "calls": 1},
        {"tool": "\\ud800", "calls": 1},
    ]
    tally.beside(f"tool {number}" for number in range(1_000))
    assert (len(tally.past), tally.past.total()) == (201, 1_004)


def test_times_are_shown_to_the_millisecond() -> None:
    tally = Tally(llm_s=1.23456789, would_save_s=0.1 + 0.2)
    tally.answered("slow", "run", 1 / 3)
    shown = stats(tally, Mode.SPECULATE, sessions=1, exchanges=0)
    assert (shown["llm_s"], shown["exposed_s"]) == (1.235, 0.333)
    assert shown["would_have"] == {"hits": 0, "saved_s": 0.3, "wasted_s": 0.0}
    assert shown["missed_tools"] == [{"tool": "slow", "calls": 1, "exposed_s": 0.333, "would_save_s": 0.0}]
