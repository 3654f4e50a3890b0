"""`paste-proxy explain`: what was foreseen in a recorded session, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.evaluate import PolicyFiles, Traces, read_pools
from paste_proxy.cli.explained import moment_shown, sessions_shown, turns_shown
from paste_proxy.cli.mine import read_policies
from paste_proxy.cli.mined_from import tell_mined_from
from paste_proxy.cli.traces import read_traces
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.events.invocation import Invocation
    from paste_proxy.events.values import Json
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.mining.explanation import Explanation, Sight
    from paste_proxy.speculation.policy import Policy

_NAMED = 5


def explain(
    traces: Traces,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Which session, by its id or the beginning of it; where there are several, else listed."
        ),
    ] = None,
    at: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Explain what was foreseen just before turn N.")
    ] = None,
    last: Annotated[bool, typer.Option("--last", help="Explain what was foreseen at its last moment.")] = False,
    pool: Annotated[
        list[str] | None, typer.Option(metavar="POOL", help="Pattern pool (or builtin:NAME); may come again.")
    ] = None,
    policy: PolicyFiles = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what was foreseen in a recorded session, and why.

    Turn by turn: what was asked for, its rank among the candidates just before, and the likeliest of these. With --at
    or --last, for one moment: each candidate, how likely it was, the patterns that give it and from which event each
    argument comes, what else speaks for and against it, and what the policy says.

    Without --pool it goes by builtin:general, which knows no tool. With --policy tools that it rules out take no
    candidate's place, as in the sidecar.
    """
    from paste_proxy.events.values import dumps
    from paste_proxy.mining.explanation import Explanation

    if at is not None and last:
        raise InputFault("--at", "given with --last", "either of them")
    combined, ruled = read_pools(pool or ["builtin:general"]), read_policies(policy or [])
    sessions = read_traces(traces)
    if session is None and len(sessions) > 1:
        if at is not None or last:
            raise InputFault("--session", "nothing", "the id of a session; without --at and --last they are listed")
        listed = _listed(sessions)
        typer.echo(dumps(listed).decode() if as_json else sessions_shown(listed))
        return
    chosen = _chosen(sessions, session, traces)
    tell_mined_from(combined, [chosen])
    explanation = Explanation(chosen, combined, ruled.core, lambda tool: _is_predicted(ruled, tool))
    of_policy = ruled if policy else None
    if at is None and not last:
        report = _turns(explanation, chosen, of_policy)
        typer.echo(dumps(report).decode() if as_json else turns_shown(report))
    else:
        report = _moment(explanation, chosen.id, at, of_policy)
        typer.echo(dumps(report).decode() if as_json else moment_shown(report))


def _is_predicted(policy: "Policy", tool: str) -> bool:
    standing = policy.of_tool(tool)
    return standing.allowed or not standing.named


def _listed(sessions: "list[RecordedSession]") -> "dict[str, Json]":
    from paste_proxy.events.types import ToolCall

    return {
        "sessions": [{"id": one.id, "calls": sum(isinstance(it, ToolCall) for it in one.events)} for one in sessions]
    }


def _chosen(sessions: "list[RecordedSession]", named: str | None, traces: list[Path]) -> "RecordedSession":
    if named is None and len(sessions) == 1:
        return sessions[0]
    exact = [one for one in sessions if one.id == named]
    found = exact or [one for one in sessions if named is not None and one.id.startswith(named)]
    if len(found) == 1:
        return found[0]
    ids = [one.id for one in found or sessions]
    these = ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
    if not ids:
        raise InputFault(", ".join(map(str, traces)), "no session in these files", "recorded sessions")
    raise InputFault("--session", str(named), f"the id of one of these: {these}; without it all are listed")


def _turns(explanation: "Explanation", chosen: "RecordedSession", policy: "Policy | None") -> "dict[str, Json]":
    from paste_proxy.mining.explanation import written, written_candidate

    turns: list[Json] = []
    for sight in explanation.sights():
        best = sight.candidates[0] if sight.candidates else None
        turns.append(
            {
                "turn": sight.turn,
                "recorded": sight.turn <= explanation.turns,
                "asked": [{**written(call), "rank": rank, **_said(policy, call, 1.0)} for call, rank in sight.asked],
                "candidates": len(sight.candidates),
                "best": written_candidate(best) if best else None,
            }
        )
    return {"session": chosen.id, "turns": turns, "staged": _staged(chosen)}


def _staged(chosen: "RecordedSession") -> "dict[str, Json] | None":
    """How its staged jobs fared; None if there was none."""
    from paste_proxy.events.types import Speculation
    from paste_proxy.speculation.staged_runs import StagedRuns

    runs, jobs = StagedRuns(), [it for it in chosen.events if isinstance(it, Speculation) and it.staged]
    for job in jobs:
        runs.add(job)
    return {"jobs": len(jobs), **runs.as_json(), "in_words": runs.in_words()} if jobs else None


def _moment(explanation: "Explanation", session: str, at: int | None, policy: "Policy | None") -> "dict[str, Json]":
    from paste_proxy.events.invocation import Invocation

    sight = _sight(explanation, at)
    report = explanation.report(sight)
    for kind in ("asked", "candidates"):
        shown = report[kind]
        for one in shown if isinstance(shown, list) else []:
            if isinstance(one, dict):
                confidence = one.get("confidence", 1.0)
                arguments = one["arguments"]
                call = Invocation(str(one["tool"]), arguments if isinstance(arguments, dict) else {})
                one |= _said(policy, call, confidence if isinstance(confidence, float) else 1.0)
    return {"session": session, **report}


def _sight(explanation: "Explanation", at: int | None) -> "Sight":
    """The latest one where the session stands still."""
    latest = None
    for sight in explanation.sights():
        if sight.turn == at:
            return sight
        latest = sight
    if latest is None:
        raise InputFault(
            "--last" if at is None else f"--at {at}", "a session without turns", "one in which something happened"
        )
    if at is not None:
        raise InputFault("--at", str(at), f"a turn from 1 to {latest.turn}; without --at they are listed")
    return latest


def _said(policy: "Policy | None", call: "Invocation", confidence: float) -> "dict[str, Json]":
    if policy is None:
        return {}
    from dataclasses import asdict

    from paste_proxy.config import Speculating
    from paste_proxy.speculation.said import said

    return {"policy": asdict(said(policy.rule_for(call), confidence, Speculating().min_confidence))}
