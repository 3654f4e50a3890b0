"""What `paste-proxy explain` found, for people."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from paste_proxy.cli.counted import counted

if TYPE_CHECKING:
    from paste_proxy.events.values import Json

_ASKED, _BEST = 56, 64
_VALUE = 40
_SCORES = (
    "for, against: what each trait adds to the log odds of being the very next call; those that all share are left out"
)


def turns_shown(report: "Mapping[str, Json]") -> str:
    """A line for each call, or turn without one."""
    rows = list(_rows(report))
    calls = [one for turn in _tables(report["turns"]) for one in _tables(turn["asked"])]
    ranks = [one["rank"] for one in calls if one["rank"] is not None]
    return "\n".join(
        [
            f"session {report['session']}",
            "",
            f"{'turn':>4}  {'asked for':<{_ASKED}}  rank  likeliest just before, and how likely at once",
            *rows,
            "",
            f"{counted(len(calls), 'call')}: {sum(rank == 1 for rank in ranks)} were the first candidate, "
            f"{sum(rank <= 3 for rank in ranks)} among the first three, {len(ranks)} among all",
            *_staged(report["staged"]),
            "--at TURN explains one",
        ]
    )


def _staged(runs: "Json") -> Iterator[str]:
    if isinstance(runs, dict):
        yield f"{counted(int(str(runs['jobs'])), 'staged job')}: {runs['in_words']}"


def _rows(report: "Mapping[str, Json]") -> Iterator[str]:
    for turn in _tables(report["turns"]):
        best = turn["best"]
        likeliest = f"{_at_once(best):>6.1%}  {_call(best, _BEST)}" if best else "nothing"
        nothing = "(no call)" if turn["recorded"] else "(not recorded)"
        asked = [(_call(one, _ASKED), one["rank"], one) for one in _tables(turn["asked"])] or [(nothing, "", {})]
        for at, (call, rank, one) in enumerate(asked):
            shown = "-" if rank is None else str(rank)
            line = f"{turn['turn'] if at == 0 else '':>4}  {call:<{_ASKED}}  {shown:>4}  {likeliest if at == 0 else ''}"
            yield line.rstrip() + (f"\n{'':6}{_policy(one)}" if _kept_out(one) else "")


def sessions_shown(report: "Mapping[str, Json]") -> str:
    """A line for each session of the files."""
    rows = [f"{one['calls']:>5}  {one['id']}" for one in _tables(report["sessions"])]
    return "\n".join([f"{'calls':>5}  session", *rows, "", "--session ID, or the beginning of one, explains it"])


def moment_shown(report: "Mapping[str, Any]") -> str:
    """What was known, what came, and every candidate with its reasons."""
    after = report["after"]
    turn, turns = report["turn"], report["turns"]
    when = f"just before turn {turn} of {turns}" if turn <= turns else f"after its last turn, {turns}"
    lines = [
        f"session {report['session']}, {when}",
        f"after event {after['event']}: {after['what']}" if after else "nothing had happened before",
    ]
    for one in report["asked"]:
        place = "was no candidate" if one["rank"] is None else f"was candidate {one['rank']}"
        lines.append(
            f"then asked for: {_call(one, 100)}, which {place}" + (f"; {_policy(one)}" if _kept_out(one) else "")
        )
    if not report["asked"]:
        lines.append("then the model called nothing" if turn <= turns else "what came then is not recorded")
    for rank, one in enumerate(report["candidates"], 1):
        lines += ["", *_candidate(rank, one)]
    lines += ["", _SCORES if report["candidates"] else "there was no candidate"]
    return "\n".join(lines)


def _candidate(rank: int, one: "Mapping[str, Any]") -> Iterator[str]:
    yield f"{rank}. {_call(one, 100)}"
    at_once = "" if one["next"] is None else f"{one['next']:.1%} likely at once, "
    yield f"   {at_once}{one['confidence']:.1%} {'' if at_once else 'likely '}within 8 turns"
    if "policy" in one:
        yield f"   {'runs ahead' if one['policy']['runs'] else 'not run ahead'}: {_policy(one)}"
    why = one["why"]
    if (repeats := why["repeats"]) is not None:
        yield f"   repeats event {repeats['event']}"
    for pattern in why["patterns"]:
        yield from _given(pattern)
        yield from _drawn(pattern["arguments"])
    if not why["patterns"]:
        yield "   no pattern gives it" + ("; its arguments could come from" if why["arguments"] else "")
        yield from _drawn(why["arguments"])
    for name in ("for", "against"):
        for at, trait in enumerate(why[name]):
            yield f"   {name if at == 0 else '':<8}{trait['adds']:+.2f}  {trait['in_words']}"


def _given(pattern: "Mapping[str, Any]") -> Iterator[str]:
    if pattern["believed"] is not None:
        yield f"   pattern {pattern['id']}, written by hand, {pattern['believed']:.0%}: {pattern['context_in_words']}"
        return
    yield f"   pattern {pattern['id']}, of {counted(pattern['groups'], 'task')}: {pattern['context_in_words']}"
    yield (
        f"     of {counted(pattern['seen'], 'call')} that it gave as number {pattern['rank']} there, "
        f"{pattern['next']} came at once, {pattern['ever']} within 8 turns"
    )


def _drawn(arguments: "Iterable[Mapping[str, Any]]") -> Iterator[str]:
    from paste_proxy.mining.words import shortened

    for one in arguments:
        events = ", ".join(str(seen["event"]) for seen in one["events"])
        place = f" (event{'s' if len(one['events']) > 1 else ''} {events})" if events else ""
        yield f"     {one['name']} = {shortened(one['value'], _VALUE)}: {one['in_words']}{place}"


def _at_once(one: "Mapping[str, Any]") -> float:
    """What candidates are ordered by, where the predictor tells it apart."""
    likely: float = one["confidence"] if one["next"] is None else one["next"]
    return likely


def _kept_out(one: "Mapping[str, Any]") -> bool:
    """Whether the policy keeps it from being run ahead."""
    return "policy" in one and not one["policy"]["runs"]


def _policy(one: "Mapping[str, Any]") -> str:
    why, rule = str(one["policy"]["why"]), str(one["policy"]["rule"])
    return f"{why} ({rule})" if rule else why


def _call(one: "Mapping[str, Any]", longest: int) -> str:
    from paste_proxy.mining.words import shortened

    tool = str(one["tool"])
    return f"{tool} {shortened(one['arguments'], max(10, longest - len(tool) - 1))}"


def _tables(value: "Json") -> "Iterator[dict[str, Any]]":
    return (one for one in (value if isinstance(value, list) else []) if isinstance(one, dict))
