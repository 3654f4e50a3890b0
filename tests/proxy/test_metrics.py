"""The metrics are the tally's figures under stable names."""

import asyncio

import pytest
from aiohttp import web

from paste_proxy.events.values import dumps
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.metrics import Metrics
from paste_proxy.proxy.stats import stats
from paste_proxy.speculation.types import Mode


def tally() -> Tally:
    made = Tally(turns=5, incomplete_turns=2, launched=3, saved_s=1.5, wasted_s=0.5, dropped=7, would_save_s=2.5)
    made.calls.update(run=4, reused=2, promoted=1)
    made.outcomes.update(reused=2, discarded=1)
    made.refused.update(policy=9)
    made.fault("tee")
    made.running = lambda: 6
    made.beside(["Bash", "Bash"])
    for tool, decision in (("web/fetch", "run"), ("web/fetch", "reused"), ("read", "run")):
        made.tool(tool).calls[decision] += 1
    made.tool("web/fetch").exposed_s = 3.0
    made.tool("read").exposed_s = 4.0
    return made


def text(account: Tally) -> str:
    return Metrics(account, Mode.OBSERVE, sessions=lambda: 11, exchanges=lambda: 12).text().decode()


def test_every_figure_stands_under_its_documented_name() -> None:
    lines = text(tally()).splitlines()
    for line in (
        'paste_info{mode="observe",version="0.1.0"} 1.0',
        "paste_sessions 11.0",
        "paste_live_exchanges 12.0",
        'paste_turns_total{complete="true"} 3.0',
        'paste_turns_total{complete="false"} 2.0',
        'paste_tool_calls_total{decision="reused",tool="web/fetch"} 1.0',
        'paste_tool_exposed_seconds_total{tool="read"} 4.0',
        "paste_launched_total 3.0",
        "paste_running 6.0",
        'paste_speculation_total{outcome="discarded"} 1.0',
        'paste_refused_total{reason="policy"} 9.0',
        'paste_faults_total{where="tee"} 1.0',
        'paste_past_calls_total{tool="Bash"} 2.0',
        "paste_dropped_events_total 7.0",
        "paste_saved_seconds_total 1.5",
        "paste_wasted_seconds_total 0.5",
        "paste_would_save_seconds_total 2.5",
        "paste_loop_lag_seconds_count 0.0",
    ):
        assert line in lines


def test_two_applications_do_not_share_a_registry() -> None:
    assert "paste_launched_total 0.0" in text(Tally())
    assert "paste_launched_total 3.0" in text(tally())


def test_the_tools_told_apart_are_bounded() -> None:
    crowded = Tally()
    for number in range(5_000):
        crowded.tool(f"tool{number}").calls["run"] += 1
    assert text(crowded).count("paste_tool_calls_total{") < 300
    assert 'tool="other"' in text(crowded)


async def test_the_loops_lag_is_sampled_while_the_application_lives() -> None:
    metrics = Metrics(Tally(), Mode.OFF, sessions=lambda: 0, exchanges=lambda: 0)
    context = metrics.sampling(web.Application())
    await anext(context)
    async with asyncio.timeout(10):
        while "paste_loop_lag_seconds_count 0.0" in metrics.text().decode():  # noqa: ASYNC110 - a histogram has no event
            await asyncio.sleep(0.01)
    with pytest.raises(StopAsyncIteration):
        await anext(context)


def test_stats_tell_hits_waste_and_the_tools_most_waited_for() -> None:
    told = stats(tally(), Mode.OBSERVE, sessions=1, exchanges=0)
    assert (told["calls"], told["hits"], told["hit_rate"]) == (7, 3, 0.429)
    assert told["would_have"] == {"hits": 0, "saved_s": 2.5, "wasted_s": 0.0}
    assert told["mode"] == "observe"
    missed = told["missed_tools"]
    assert isinstance(missed, list)
    assert [row["tool"] for row in missed if isinstance(row, dict)] == ["read", "web/fetch"]


def test_a_tool_name_that_is_no_text_is_shown_escaped() -> None:
    account = tally()
    account.answered("web/\ud800", "run", 1.0)
    assert 'tool="web/\\\\ud800"' in text(account)
    dumps(stats(account, Mode.OBSERVE, sessions=0, exchanges=0))
