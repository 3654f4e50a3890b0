"""Where the time of a run went, for people on one screen and for programs as one object."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from paste_proxy.events.values import Json

_MISSED = 3
"""Tools named as those waited for longest."""
_NAMED = 3
"""Tools named in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One run. Times in seconds; `stats` is the sidecar's tally, empty where it could not be read."""

    client: str
    code: int
    startup_s: float
    """From the wrapper's start to the client's."""
    wall_s: float
    stats: Mapping[str, Json]
    notes: tuple[str, ...]
    ruled: Callable[[str], bool] = lambda _: True
    """Whether a policy speaks of a tool."""

    def as_json(self) -> dict[str, Json]:
        """The account as an object."""
        return {
            "client": self.client,
            "exit_code": self.code,
            "mode": self.stats.get("mode"),
            "startup_s": round(self.startup_s, 3),
            "wall_s": round(self.wall_s, 3),
            "llm_s": self._number("llm_s"),
            "tools_s": self._number("exposed_s"),
            "client_s": round(self._rest(), 3),
            "saved_s": self._number("saved_s"),
            "would_save_s": self._would("saved_s"),
            "stats": dict(self.stats),
            "notes": list(self.notes),
        }

    def lines(self) -> Iterator[str]:
        """The account for people."""
        took = f"paste-proxy: {self.client} took {_s(self.wall_s)}"
        if not self.stats:
            yield f"{took}; nothing is known of where it went"
        elif not (self._count("turns") or self._count("calls")):
            yield f"{took}; no LLM turn and no tool call came through the sidecar"
        else:
            yield f"{took} (mode {self.stats.get('mode')}), after {_s(self.startup_s)} for the sidecar to start"
            yield from self._where()
            yield from self._past()
            yield from self._gain()
            yield from self._refused()
            yield from self._missed()
            yield from self._opportunities()
        yield from (f"  note: {note}" for note in self.notes)

    def _where(self) -> Iterator[str]:
        calls, turns = self._count("calls"), self._count("turns")
        yield f"  LLM             {_s(self._number('llm_s')):>9}  {_many(turns, 'turn')}"
        yield f"  tools           {_s(self._number('exposed_s')):>9}  {_many(calls, 'call')} through the sidecar"
        yield f"  all else        {_s(self._rest()):>9}  the client itself and its built-in tools"

    def _past(self) -> Iterator[str]:
        """What ran out of the sidecar's sight."""
        calls, tools = self._count("past_calls"), _rows(self.stats.get("past_tools"))
        if calls:
            named = [f"{tool.get('tool')} {tool.get('calls')}" for tool in tools[:_NAMED]]
            rest = calls - sum(int(_float(tool.get("calls"))) for tool in tools[:_NAMED])
            shown = ", ".join([*named, *([f"others {rest}"] if rest else [])])
            yield f"  past it         {'':>9}  {_many(calls, 'call')} of the client's own tools: {shown}"

    def _gain(self) -> Iterator[str]:
        calls = self._count("calls")
        match self.stats.get("mode"):
            case "speculate":
                hits, words = self._count("hits"), "were ready or under way when asked for"
                yield f"  saved           {_s(self._number('saved_s')):>9}  {hits} of {_many(calls, 'call')} {words}"
                if wasted := self._number("wasted_s"):
                    yield f"  run for nothing {_s(wasted):>9}"
            case "observe":
                hits, words = int(self._would("hits")), "would have been ready or under way"
                saved, mend = self._would("saved_s"), "; --mode speculate" if hits else ""
                yield f"  to be saved     {_s(saved):>9}  {hits} of {_many(calls, 'call')} {words}{mend}"

    def _missed(self) -> Iterator[str]:
        tools = _rows(self.stats.get("missed_tools"))
        for tool in tools[:_MISSED]:
            calls = _many(int(_float(tool.get("calls"))), "call")
            yield f"  waited for      {_s(_float(tool.get('exposed_s'))):>9}  {tool.get('tool')}, {calls}"
        unruled = [name for tool in tools if isinstance(name := tool.get("tool"), str) and not self.ruled(name)]
        if unruled and self.stats.get("mode") != "off":
            more = f" and {len(unruled) - _NAMED} more" if len(unruled) > _NAMED else ""
            yield f"  no policy speaks of {', '.join(unruled[:_NAMED])}{more}: see policies/README.md"

    def _refused(self) -> Iterator[str]:
        refused = self.stats.get("refused")
        counts = {why: int(_float(count)) for why, count in refused.items()} if isinstance(refused, dict) else {}
        counts = {why: count for why, count in counts.items() if count and why != "duplicate"}
        if counts:
            reasons = sorted(counts, key=lambda why: -counts[why])
            named = [f"{why} {counts[why]}" for why in reasons[:_NAMED]]
            rest = sum(counts[why] for why in reasons[_NAMED:])
            shown = ", ".join([*named, *([f"others {rest}"] if rest else [])])
            yield f"  not run ahead   {'':>9}  {_many(sum(counts.values()), 'guess')}: {shown}"

    def _opportunities(self) -> Iterator[str]:
        """What would have been ready, had a rule or a bound let it be run ahead."""
        for missed in _rows(self.stats.get("opportunities")):
            seconds, calls = _float(missed.get("would_save_s")), int(_float(missed.get("calls")))
            yield f"  missed          {_s(seconds):>9}  {_many(calls, 'call')} of {missed.get('tool')} foreseen"
            yield f"  {'':>27}  to allow: {missed.get('allow')}"

    def _rest(self) -> float:
        """Turns and calls that ran side by side are counted each, so that there may be no rest."""
        return max(0.0, self.wall_s - self._number("llm_s") - self._number("exposed_s"))

    def _number(self, key: str) -> float:
        return _float(self.stats.get(key))

    def _count(self, key: str) -> int:
        return int(self._number(key))

    def _would(self, key: str) -> float:
        would = self.stats.get("would_have")
        return _float(would.get(key)) if isinstance(would, dict) else 0.0


def _rows(value: Json) -> list[dict[str, Json]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _float(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _s(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s"


def _many(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith('s') else 's'}"
