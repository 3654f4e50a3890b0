"""What foresight of one step could cut at most: the yardstick beside a replay's result.

Had every call that may be run ahead been foreseen the moment its turn's LLM request went out, so much of it would
have passed while the LLM answered. A predictor that sees further can do better, one that errs does worse.
"""

from collections.abc import Iterable

from paste_proxy.bench.latency import DISPATCH_S, Kind, kind_of, writes
from paste_proxy.bench.script import Script, ScriptedCall, ScriptedTurn

_READ_KINDS = {Kind.FILE, Kind.LOOKUP, Kind.ACTION, Kind.SEARCH, Kind.VISIT}


def one_step_bound(scripts: Iterable[Script]) -> float:
    """Share of the tasks' time that perfect foresight of one step takes off; 0 to 1."""
    turns = [turn for script in scripts for turn in script.turns]
    before = sum(_duration(turn, foreseen=False) for turn in turns)
    after = sum(_duration(turn, foreseen=True) for turn in turns)
    return 1 - after / before if before else 0.0


def _duration(turn: ScriptedTurn, *, foreseen: bool) -> float:
    llm_s = turn.first_token_s + turn.stream_s
    if not turn.calls:
        return llm_s
    ahead = llm_s + DISPATCH_S
    waits = [max(0.0, call.latency_s - (ahead if foreseen and _may_run_ahead(call) else 0.0)) for call in turn.calls]
    one_by_one = any(writes(call.invocation.tool) for call in turn.calls)
    return ahead + (sum(waits) if one_by_one else max(waits))


def _may_run_ahead(call: ScriptedCall) -> bool:
    tool = call.invocation.tool
    return kind_of(tool) in _READ_KINDS and not writes(tool)
