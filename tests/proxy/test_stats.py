"""The stats object."""

import orjson

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Outcome
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.stats import stats
from paste_proxy.speculation.types import Mode, Settled


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
    assert shown["missed_tools"][0]["calls"] == {"run": 1, "reused": 1}
    assert shown["outcomes"] == {"reused": 1}
    assert (shown["calls"], shown["hits"]) == (3, 1)
