"""`/metrics`: the tally in Prometheus' form, and how late the event loop runs.

Names and labels are a contract with dashboards. Labels come from closed sets, but for `tool`, which the
tally bounds.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

from aiohttp import web
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from paste_proxy import __version__
from paste_proxy.proxy.gate_metrics import gate_metrics
from paste_proxy.proxy.hub.preparation_tally import KINDS
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.speculation.budgets.waste import Door
from paste_proxy.speculation.types import Mode
from paste_proxy.staging.tally import Cause, StageTally

_LAG_SAMPLE_S = 0.1
_LAG_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0)


class Metrics:
    """One application's metrics, in a registry of its own.

    Args:
        sessions: how many sessions are live.
        exchanges: how many requests are under way.
    """

    def __init__(self, tally: Tally, mode: Mode, *, sessions: Callable[[], int], exchanges: Callable[[], int]) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Account(tally, mode, sessions, exchanges))
        self._lag = Histogram(
            "paste_loop_lag_seconds",
            "How much later than asked the event loop ran a timer.",
            buckets=_LAG_BUCKETS,
            registry=self._registry,
        )

    def text(self) -> bytes:
        """The exposition as Prometheus scrapes it."""
        return generate_latest(self._registry)

    async def answer(self, _: web.Request) -> web.Response:
        """The handler of `/metrics`."""
        return web.Response(body=self.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def sampling(self, _: web.Application) -> AsyncIterator[None]:
        """Cleanup context: sample the loop's lag for as long as the application lives."""
        sampler = asyncio.create_task(self._sample(), name="loop-lag")
        yield
        sampler.cancel()
        await asyncio.gather(sampler, return_exceptions=True)

    async def _sample(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _LAG_SAMPLE_S
            await asyncio.sleep(_LAG_SAMPLE_S)
            self._lag.observe(max(0.0, loop.time() - due))


class _Account(Collector):
    def __init__(self, tally: Tally, mode: Mode, sessions: Callable[[], int], exchanges: Callable[[], int]) -> None:
        self._tally, self._mode = tally, mode
        self._sessions, self._exchanges = sessions, exchanges

    def collect(self) -> Iterator[Metric]:
        """Every family, read from the tally as it stands."""
        tally = self._tally
        info = GaugeMetricFamily("paste_info", "Version and mode of the sidecar.", labels=("version", "mode"))
        info.add_metric((__version__, self._mode.value), 1)
        yield info
        yield GaugeMetricFamily("paste_sessions", "Agent sessions held.", value=self._sessions())
        yield GaugeMetricFamily("paste_live_exchanges", "Requests under way.", value=self._exchanges())
        complete = {"true": tally.turns - tally.incomplete_turns, "false": tally.incomplete_turns}
        yield _counters("paste_turns", "LLM turns ended.", "complete", complete)
        yield from self._tools()
        yield _counters("paste_past_calls", "Calls answered past the sidecar.", "tool", tally.past)
        yield CounterMetricFamily("paste_launched", "Speculative jobs started.", value=tally.launched)
        yield GaugeMetricFamily("paste_running", "Speculative jobs under way.", value=tally.running())
        yield _counters("paste_speculation", "Speculative jobs by their end.", "outcome", tally.outcomes)
        yield _counters(
            "paste_shadow_speculation", "Jobs that would have run, in observe mode.", "outcome", tally.shadow_outcomes
        )
        yield _counters("paste_refused", "Candidates not launched.", "reason", tally.refused)
        help_text = "Of these, calls that may have changed something."
        yield CounterMetricFamily("paste_side_effecting_refused", help_text, value=tally.side_effecting)
        yield from self._budgets()
        yield from self._preparations()
        yield from self._staging()
        yield from self._speculator()
        yield from gate_metrics(tally)
        yield _counters("paste_faults", "Faults of the sidecar, contained.", "where", tally.faults)
        yield CounterMetricFamily("paste_dropped_events", "Events not observed for want of room.", value=tally.dropped)
        yield from self._learned()
        yield from self._seconds()

    def _learned(self) -> Iterator[Metric]:
        learned = self._tally.learned()
        yield GaugeMetricFamily("paste_learned_moments", "Moments learned from, in this place.", value=learned.moments)
        yield GaugeMetricFamily("paste_habits", "Invocations remembered, of this place.", value=learned.habits)
        yield GaugeMetricFamily("paste_demoted_patterns", "Patterns that stopped paying.", value=learned.demoted)

    def _staging(self) -> Iterator[Metric]:
        stages = self._tally.stages or StageTally()
        yield CounterMetricFamily("paste_staged", "Commands run ahead in a view.", value=stages.staged)
        done = {"whole": stages.committed, "part": stages.unfinished}
        yield _counters("paste_commits", "Staged commands whose effects happened.", "done", done)
        refused = {cause.value: stages.refused[cause] for cause in Cause}
        yield _counters("paste_stage_refused", "Commands not staged, or not committed.", "cause", refused)

    def _preparations(self) -> Iterator[Metric]:
        tally = self._tally.preparations
        for name, help_text, counts in (
            ("paste_prepared", "Things got ready for calls that may come.", tally.prepared),
            ("paste_not_prepared", "Things that could not be got ready.", tally.failed),
            ("paste_found_prepared", "Calls that found ready what they need.", tally.found),
        ):
            yield _counters(name, help_text, "kind", {kind: counts[kind] for kind in KINDS})

    def _budgets(self) -> Iterator[Metric]:
        spending = self._tally.spending()
        used = GaugeMetricFamily("paste_budget_used", "What is used of a bound.", labels=("budget",))
        limit = GaugeMetricFamily("paste_budget_limit", "The bound.", labels=("budget",))
        for use in spending.uses:
            used.add_metric((use.name,), use.used)
            limit.add_metric((use.name,), use.limit)
        door = GaugeMetricFamily("paste_waste_breaker", "1 for how the waste breaker stands.", labels=("door",))
        for each in Door:
            door.add_metric((each.value,), float(each is spending.door))
        yield from (used, limit, door)
        help_text = "Tools left alone, since their service wants fewer calls."
        yield GaugeMetricFamily("paste_backing_off_tools", help_text, value=len(spending.closed))

    def _speculator(self) -> Iterator[Metric]:
        guesses = self._tally.guesses
        turns = {"true": guesses.asked, "false": guesses.passed}
        yield _counters("paste_speculator_turns", "Turns whose call a model could guess.", "asked", turns)
        yield _counters("paste_speculator_samples", "Samples by their end.", "end", guesses.samples)
        tokens = {"input": guesses.input_tokens, "output": guesses.output_tokens}
        yield _counters("paste_speculator_tokens", "Tokens of answered samples.", "kind", tokens)
        judged = {"true": guesses.right, "false": guesses.wrong}
        yield _counters("paste_speculator_guesses", "Calls guessed, by what the turn asked for.", "right", judged)
        yield CounterMetricFamily("paste_speculator_hits", "Calls answered from a model's guess.", value=guesses.hits)
        yield CounterMetricFamily(
            "paste_speculator_saved_seconds", "Tool time taken off sessions by them.", value=guesses.saved_s
        )

    def _seconds(self) -> Iterator[Metric]:
        tally = self._tally
        for name, help_text, value in (
            ("paste_llm_seconds", "Time sessions waited for the LLM.", tally.llm_s),
            ("paste_exposed_seconds", "Time sessions waited for tools.", tally.exposed_s),
            ("paste_saved_seconds", "Tool time taken off sessions.", tally.saved_s),
            ("paste_wasted_seconds", "Time of speculative jobs that came to nothing.", tally.wasted_s),
            ("paste_would_save_seconds", "Tool time that would have been saved, in observe mode.", tally.would_save_s),
            ("paste_would_waste_seconds", "Time that would have been wasted, in observe mode.", tally.would_waste_s),
        ):
            yield CounterMetricFamily(name, help_text, value=value)

    def _tools(self) -> Iterator[Metric]:
        calls = CounterMetricFamily(
            "paste_tool_calls", "Authoritative calls by what became of them.", labels=("tool", "decision")
        )
        saved = CounterMetricFamily("paste_tool_saved_seconds", "Tool time taken off sessions.", labels=("tool",))
        exposed = CounterMetricFamily(
            "paste_tool_exposed_seconds", "Time sessions waited for the tool.", labels=("tool",)
        )
        for name, tool in self._tally.tools.items():
            for decision, number in tool.calls.items():
                calls.add_metric((name, decision), number)
            saved.add_metric((name,), tool.saved_s)
            exposed.add_metric((name,), tool.exposed_s)
        yield from (calls, saved, exposed)


def _counters(name: str, help_text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(name, help_text, labels=(label,))
    for value, number in values.items():
        family.add_metric((value,), number)
    return family
