"""`/paste/v1/stats`: the tally as one JSON object for people and the page."""

from dataclasses import asdict

from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.guess_tally import GuessTally
from paste_proxy.proxy.hub.pacing_tally import GateState, GateTally
from paste_proxy.proxy.hub.spending import Spending
from paste_proxy.proxy.hub.tally import Tally, printable
from paste_proxy.speculation.opportunities import Opportunity
from paste_proxy.speculation.staged_runs import StagedRuns
from paste_proxy.speculation.types import Mode
from paste_proxy.staging.tally import StageTally

_TOP = 20
_OPPORTUNITIES = 3


def stats(tally: Tally, mode: Mode, *, sessions: int, exchanges: int) -> dict[str, Json]:
    """Sums since the start; times in seconds, to the millisecond."""
    calls = sum(tally.calls.values())
    hits = tally.calls["reused"] + tally.calls["promoted"]
    would_hit = tally.shadow_outcomes["reused"] + tally.shadow_outcomes["promoted"]
    shown: dict[str, Json] = {
        "mode": mode.value,
        "sessions": sessions,
        "live_exchanges": exchanges,
        "turns": tally.turns,
        "incomplete_turns": tally.incomplete_turns,
        "utility_turns": tally.utility_turns,
        "llm_s": tally.llm_s,
        "calls": calls,
        "past_calls": tally.past.total(),
        "hits": hits,
        "hit_rate": hits / calls if calls else 0.0,
        "exposed_s": tally.exposed_s,
        "saved_s": tally.saved_s,
        "wasted_s": tally.wasted_s,
        "launched": tally.launched,
        "running": tally.running(),
        "outcomes": dict(tally.outcomes),
        "would_have": {"hits": would_hit, "saved_s": tally.would_save_s, "wasted_s": tally.would_waste_s},
        "refused": dict(tally.refused),
        "side_effecting_refused": tally.side_effecting,
        "opportunities": [_opportunity(each) for each in tally.opportunities(_OPPORTUNITIES)],
        "preparations": tally.preparations.as_json(),
        "budgets": _budgets(tally.spending()),
        "pacing": {name: _gate(tally, state) for name, tally, state in tally.gates()},
        "warming": asdict(tally.warming),
        "staging": None if tally.stages is None else _staging(tally.stages, tally.staged_runs),
        "speculator": _speculator(tally.guesses),
        "learned": asdict(tally.learned()),
        "missed_tools": _missed(tally),
        "past_tools": [{"tool": tool, "calls": calls} for tool, calls in tally.past.most_common(_TOP)],
        "dropped": tally.dropped,
        "faults": dict(tally.faults),
    }
    return {key: rounded(value) for key, value in shown.items()}


def _opportunity(missed: Opportunity) -> dict[str, Json]:
    return {
        "tool": printable(missed.tool),
        "calls": missed.calls,
        "would_save_s": missed.saved_s,
        "reason": missed.reason.value,
        "allow": printable(missed.advice),
    }


def _budgets(spending: Spending) -> dict[str, Json]:
    today = spending.today
    return {
        "today": {"calls": today.calls, "money": today.money, "bytes": today.bytes, "cpu_s": today.cpu_s},
        "used": [{"budget": use.name, "used": use.used, "limit": use.limit} for use in spending.uses],
        "waste": spending.door.value,
        "backing_off": [{"tool": printable(tool), "for_s": left} for tool, left in spending.closed[:_TOP]],
    }


def _gate(tally: GateTally, state: GateState) -> dict[str, Json]:
    return {
        "held": state.held,
        "running": state.running,
        "pressure": state.pressure,
        "band": None if state.low is None else [state.low, state.high],
        "admitted": tally.admitted,
        "late": tally.late,
        "turned_away": tally.turned_away,
        "left": tally.left,
        "waited_s": tally.waited_s,
        "load_unread": tally.unasked,
    }


def _speculator(guesses: GuessTally) -> dict[str, Json]:
    return {
        "turns": guesses.asked,
        "passed": guesses.passed,
        "samples": dict(guesses.samples),
        "input_tokens": guesses.input_tokens,
        "output_tokens": guesses.output_tokens,
        "right": guesses.right,
        "wrong": guesses.wrong,
        "hits": guesses.hits,
        "saved_s": guesses.saved_s,
    }


def _staging(stages: StageTally, runs: StagedRuns) -> dict[str, Json]:
    return {
        "staged": stages.staged,
        "committed": stages.committed,
        "unfinished": stages.unfinished,
        "refused": {cause.value: number for cause, number in stages.refused.items()},
        "took_ms": {step: dict(times) for step, times in stages.took_ms().items()},
        "runs": runs.as_json(),
    }


def rounded(value: Json) -> Json:
    """The same with every float to three places: what people read."""
    match value:
        case float():
            return round(value, 3)
        case dict():
            return {key: rounded(inner) for key, inner in value.items()}
        case list():
            return [rounded(inner) for inner in value]
    return value


def _missed(tally: Tally) -> list[Json]:
    """The tools with calls that were run when asked for, those first that sessions waited for longest."""
    missed = [(name, tool) for name, tool in tally.tools.items() if tool.calls["run"]]
    missed.sort(key=lambda entry: -entry[1].exposed_s)
    return [
        {
            "tool": name,
            "calls": tool.calls["run"],
            "exposed_s": tool.exposed_s,
            "would_save_s": tool.would_save_s,
        }
        for name, tool in missed[:_TOP]
    ]
