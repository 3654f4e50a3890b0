"""What could be hidden at most."""

import pytest

from paste_proxy.bench.account import Ask
from paste_proxy.bench.agent import Played, Span
from paste_proxy.bench.coding.ceiling import exposed_at_least
from paste_proxy.events.invocation import Invocation

SUITE, LOOK, EDIT = "python3 -m unittest", "git status", "edit"


def played(*calls: tuple[str, float, float]) -> Played:
    """A session of calls, each with its beginning and end; the LLM has the rest."""
    asks = tuple(
        Ask(
            "s",
            Invocation("edit", {"path": "a"}) if what == EDIT else Invocation("run", {"command": what}),
            began,
            ended,
        )
        for what, began, ended in calls
    )
    spans = tuple(Span("tool", ask.asked, ask.answered) for ask in asks)
    return Played("s", 0.0, 100.0, spans, asks, "")


@pytest.mark.parametrize(
    ("calls", "exposed"),
    [
        ([(SUITE, 10.0, 18.0)], 0.0),
        ([(EDIT, 10.0, 11.0), (SUITE, 15.0, 23.0)], 1.0 + 4.0),
        ([(EDIT, 10.0, 11.0), (LOOK, 15.0, 16.0), (SUITE, 20.0, 28.0)], 1.0),
        ([(SUITE, 5.0, 20.0), (SUITE, 21.0, 36.0)], 10.0 + 14.0),
    ],
)
def test_a_call_is_run_from_the_last_change_on(calls: list[tuple[str, float, float]], exposed: float) -> None:
    assert exposed_at_least([played(*calls)]) == pytest.approx(exposed)
