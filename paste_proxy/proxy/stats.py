"""`/paste/v1/stats`: the tally as one JSON object for people and the page."""

from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.speculation.types import Mode

_TOP = 20


def stats(tally: Tally, mode: Mode, *, sessions: int, exchanges: int) -> dict[str, Json]:
    """Sums since the start; times in seconds."""
    calls = sum(tally.calls.values())
    hits = tally.calls["reused"] + tally.calls["promoted"]
    would_hit = tally.shadow_outcomes["reused"] + tally.shadow_outcomes["promoted"]
    return {
        "mode": mode.value,
        "sessions": sessions,
        "live_exchanges": exchanges,
        "turns": tally.turns,
        "incomplete_turns": tally.incomplete_turns,
        "llm_s": tally.llm_s,
        "calls": calls,
        "hits": hits,
        "hit_rate": hits / calls if calls else 0.0,
        "exposed_s": tally.exposed_s,
        "saved_s": tally.saved_s,
        "wasted_s": tally.wasted_s,
        "launched": tally.launched,
        "outcomes": dict(tally.outcomes),
        "would_have": {"hits": would_hit, "saved_s": tally.would_save_s, "wasted_s": tally.would_waste_s},
        "refused": dict(tally.refused),
        "missed_tools": _missed(tally),
        "dropped": tally.dropped,
        "faults": dict(tally.faults),
    }


def _missed(tally: Tally) -> list[Json]:
    """The tools that sessions waited for longest although they might have been run ahead."""
    missed = [(name, tool) for name, tool in tally.tools.items() if tool.calls["run"]]
    missed.sort(key=lambda entry: -entry[1].exposed_s)
    return [
        {
            "tool": name,
            "calls": dict(tool.calls),
            "exposed_s": tool.exposed_s,
            "saved_s": tool.saved_s,
            "would_save_s": tool.would_save_s,
        }
        for name, tool in missed[:_TOP]
    ]
