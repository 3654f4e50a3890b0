"""How staged runs fared, out of how each ended."""

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Outcome, Speculation, Why
from paste_proxy.speculation.staged_runs import StagedRuns


def ran(
    outcome: Outcome,
    cpu_s: float | None = None,
    *,
    staged: bool = True,
    shadow: bool = False,
    again: bool = False,
    why: Why | None = None,
) -> Speculation:
    return Speculation(
        session="s",
        ts=None,
        invocation=Invocation("workbench/run", {"command": "make"}),
        source="p",
        confidence=0.5,
        outcome=outcome,
        ran_s=10,
        saved_s=0,
        shadow=shadow,
        why=why,
        again=again,
        staged=staged,
        cpu_s=cpu_s,
    )


def fared(*jobs: Speculation) -> StagedRuns:
    runs = StagedRuns()
    for job in jobs:
        runs.add(job)
    return runs


def test_it_is_counted_how_many_had_ended_when_they_were_asked_for() -> None:
    runs = fared(
        ran(Outcome.REUSED, 9),
        ran(Outcome.PROMOTED, 8),
        ran(Outcome.DISCARDED, why=Why.UNASKED),
        ran(Outcome.REUSED, 9, staged=False),
        ran(Outcome.REUSED, 9, shadow=True),
        ran(Outcome.REUSED, 9, again=True),
    )
    assert runs.as_json() == {"asked": 2, "ended_before_asked": 1, "cpu_share": 0.85, "starved": False}
    assert runs.in_words() == "1 of 2 ended before they were asked for; on a core for 85% of their time"


@pytest.mark.parametrize(("cpu_s", "starved"), [(2.4, True), (2.5, False), (None, False)])
def test_those_that_hardly_got_a_core_are_starved(cpu_s: float | None, starved: bool) -> None:
    runs = fared(ran(Outcome.PROMOTED, cpu_s))
    assert runs.starved is starved
    assert (": starved, less than 25%" in runs.in_words()) is starved


def test_without_jobs_nothing_is_known() -> None:
    assert fared().as_json() == {"asked": 0, "ended_before_asked": 0, "cpu_share": None, "starved": False}
    assert fared().in_words() == "0 of 0 ended before they were asked for"
