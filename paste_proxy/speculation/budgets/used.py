"""What calls run ahead have used, in sums that outlive a restart.

A day is the calendar's. It begins anew when the calendar shows a later one, but not twice within half of one, so that a
clock which is set forth and back gives nothing away; one set back goes on with what was used.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass, field

_HALF_A_DAY_S = 43_200.0
SESSIONS = 500
"""Whose use is remembered, those that used something last."""


@dataclass(slots=True)
class Used:
    """Sums over a day, or over a session."""

    calls: int = 0
    money: float = 0.0
    bytes: int = 0
    cpu_s: float = 0.0
    rules: Counter[str] = field(default_factory=Counter)
    """Calls by rule, as its place names it; of rules with a bound alone."""

    def add(self, more: "Used", times: int = 1) -> None:
        """So much more; less with `times` = -1."""
        self.calls += times * more.calls
        self.money += times * more.money
        self.bytes += times * more.bytes
        self.cpu_s += times * more.cpu_s
        for rule, calls in more.rules.items():
            self.rules[rule] += times * calls


@dataclass(slots=True)
class Record:
    """What was used on a day, in all and by session."""

    day: str = ""
    """As `2026-12-31`; empty: nobody has said."""
    used: Used = field(default_factory=Used)
    sessions: OrderedDict[str, Used] = field(default_factory=OrderedDict)
    """Of those that go on over midnight, from their beginning."""

    def of(self, session: str) -> Used:
        """What a session has used."""
        return self.sessions.get(session) or Used()

    def charge(self, session: str, used: Used) -> None:
        """A session uses so much more."""
        self.used.add(used)
        self._charge_session(session, used, 1)

    def add(self, more: "Record", times: int = 1) -> None:
        """So much more in all and by session; less with `times` = -1."""
        self.used.add(more.used, times)
        for session, used in more.sessions.items():
            self._charge_session(session, used, times)

    def copy(self) -> "Record":
        """One of its own."""
        made = Record(self.day)
        made.add(self)
        return made

    def _charge_session(self, session: str, used: Used, times: int) -> None:
        known = self.sessions.setdefault(session, Used())
        known.add(used, times)
        self.sessions.move_to_end(session)
        if len(self.sessions) > SESSIONS:
            self.sessions.popitem(last=False)


@dataclass(slots=True)
class Book:
    """The record of this process and of those before it, and what has come to it since it was kept last."""

    record: Record = field(default_factory=Record)
    fresh: Record = field(default_factory=Record)
    _turns_from: float = float("-inf")

    def charge(self, session: str, used: Used) -> None:
        """A session uses so much more."""
        self.record.charge(session, used)
        self.fresh.charge(session, used)

    def turn(self, day: str, now: float) -> None:
        """The calendar shows this day."""
        if self.record.day and day > self.record.day:
            if now < self._turns_from:
                return
            self._turns_from = now + _HALF_A_DAY_S
            self.record.used, self.fresh.used = Used(), Used()
        self.record.day = self.fresh.day = day

    def begin(self, kept: Record) -> None:
        """Go on from what was kept, before anything is charged."""
        self.record = kept.copy()

    def take(self) -> tuple[Record, Record]:
        """The record as it is, to be kept, and what is fresh of it; nothing is from now on."""
        taken, self.fresh = self.fresh, Record(self.record.day)
        return self.record.copy(), taken

    def kept(self, whole: Record, taken: Record) -> None:
        """What was taken as `taken` was kept as `whole`, which holds what others used, too."""
        if whole.day == self.record.day:
            others = whole.copy()
            others.add(taken, -1)
            self.record.add(others)

    def not_kept(self, fresh: Record) -> None:
        """What was taken could not be kept; it is fresh still."""
        if fresh.day != self.fresh.day:
            fresh.used = Used()
        self.fresh.add(fresh)


def whole(kept: Record | None, record: Record, fresh: Record) -> Record:
    """A record with what others have kept of the same day.

    Args:
        kept: what all have used, as it was kept last.
        record: as it is here.
        fresh: the part of it that is not in `kept`.
    """
    if kept is None or kept.day < record.day:
        return record
    made = kept.copy()
    made.add(fresh)
    made.day = record.day
    return made
