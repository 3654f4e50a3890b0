"""One staged command, from its start to its commit or end.

What may follow on what is the table; the steps block and belong into threads. From `COMMITTING` on there is no way but
forward.
"""

import errno
import os
from enum import StrEnum
from pathlib import Path

from paste_proxy.staging import journal
from paste_proxy.staging.effects import Seen, effects, seen_first
from paste_proxy.staging.filesystems import need_honest_times
from paste_proxy.staging.instant import Instant
from paste_proxy.staging.locks import locked_files
from paste_proxy.staging.looks import Looks
from paste_proxy.staging.plan import Plan, Rules
from paste_proxy.staging.proof import prove_clock, prove_file, prove_tree
from paste_proxy.staging.types import Overlay, Ran, Refused, Staged, Tier
from paste_proxy.staging.view import make_overlays


class State(StrEnum):
    """Where a stage is."""

    NEW = "new"
    STAGING = "staging"
    READY = "ready"
    """It has ended, and what it did is read."""
    PROVING = "proving"
    COMMITTING = "committing"
    COMMITTED = "committed"
    DISCARDED = "discarded"


class Event(StrEnum):
    """What happens to a stage."""

    STARTED = "started"
    ENDED = "ended"
    ASKED = "asked"
    PROVEN = "proven"
    FAILED = "failed"
    """The commit could not be decided, and nothing has happened."""
    DONE = "done"
    DROPPED = "dropped"


_MOVES = {
    (State.NEW, Event.STARTED): State.STAGING,
    (State.STAGING, Event.ENDED): State.READY,
    (State.READY, Event.ASKED): State.PROVING,
    (State.PROVING, Event.PROVEN): State.COMMITTING,
    (State.COMMITTING, Event.FAILED): State.DISCARDED,
    (State.COMMITTING, Event.DONE): State.COMMITTED,
    **{(state, Event.DROPPED): State.DISCARDED for state in (State.NEW, State.STAGING, State.READY, State.PROVING)},
}


def after(state: State, event: Event) -> State | None:
    """The state that follows; None: that cannot happen in this one."""
    return _MOVES.get((state, event))


class Unfinished(Exception):
    """A commit was decided, and could be carried out in part only. Its command must not be run again: what is missing
    is done by the next `recover` that can."""


class Stage:
    """One staged command and the folder where all of it lies."""

    def __init__(self, staged: Staged, folder: Path, tier: Tier, rules: Rules) -> None:
        self.staged, self.folder, self._tier, self._rules = staged, folder, tier, rules
        self.state, self.reason = State.NEW, ""
        self.overlays: list[Overlay] = []
        self._first: dict[str, Seen] = {}
        self._since: Instant | None = None
        self._foreseen: tuple[Ran, Plan, Looks] | None = None

    @property
    def ran(self) -> Ran:
        """What it comes to if it is committed: for its keeper, and for nobody else before that.

        Raises:
            LookupError: it has not come to its end.
        """
        return self._ended()[0]

    @property
    def changes(self) -> bool:
        """Whether a commit changes anything."""
        return bool(self._ended()[1].operations)

    @property
    def changes_workspace(self) -> bool:
        """Whether a commit changes anything in there."""
        return self._ended()[1].changes_workspace

    def tell(self, event: Event, reason: str = "") -> bool:
        """Let this happen to it. False: it cannot, and nothing has changed."""
        following = after(self.state, event)
        if following is None:
            return False
        self.state, self.reason = following, reason
        return True

    def prepare(self) -> None:
        """The last moment before the command may see anything.

        Raises:
            Refused: nothing can be staged here.
            OSError: of the folder.
        """
        workspace, outside = self.staged.workspace, [path for path in self._rules.outside if Path(path).is_dir()]
        need_honest_times(workspace)
        self.folder.mkdir(mode=0o700)
        self.overlays = make_overlays(workspace, str(self.folder))
        self._first = seen_first(self.overlays, self._tier)
        self._since = Instant.taken((workspace, *outside))

    def read(self, ran: Ran) -> None:
        """What it did, and what that stands on.

        Raises:
            Refused: it must not be committed.
            OSError: of the folder.
        """
        if ran.poisons:
            raise Refused("; ".join(ran.poisons))
        plan = effects(self.overlays, self._first, self._tier, self._rules, str(self.folder))
        try:
            looks = Looks(ran.looked_at, ran.absent, self.staged.workspace, plan.made)
        except OSError as fault:
            raise Refused(f"what it looked at cannot be found: {fault}") from fault
        journal.prepare(self.folder, plan.operations)
        self._foreseen = ran, plan, looks

    def prove(self) -> None:
        """Nothing that it saw or would change has changed.

        Raises:
            Refused: something has.
        """
        since, (_, plan, looks) = self._since, self._ended()
        assert since is not None
        _need_idle(plan)
        locked = locked_files()
        looks.prove(since, locked)
        for path in plan.files:
            prove_file(path, since)
        for path in plan.trees:
            prove_tree(path, since, memory_too=True, locked=locked)
        for path in plan.made:
            if os.path.lexists(path):
                raise Refused(f"{path} has come")
        owner = (os.geteuid(), os.getegid()) if self._tier is Tier.USER else None
        prove_tree(self.staged.workspace, since, owner=owner, locked=locked)
        prove_clock(since)

    def commit(self) -> int:
        """Do all of it. The number of things that were left because somebody else was there in the last moment.

        Raises:
            OSError: nothing has happened.
            Unfinished: something could not be done.
        """
        _, plan, _ = self._ended()
        journal.decide(self.folder)
        try:
            return journal.carry_out(self.folder, plan.operations)
        except OSError as fault:
            raise Unfinished(f"{self.staged.workspace}: {fault}") from fault

    def _ended(self) -> tuple[Ran, Plan, Looks]:
        if self._foreseen is None:
            raise LookupError("it has not come to its end")
        return self._foreseen


def _need_idle(plan: Plan) -> None:
    """Programs that run cannot be written to. In a view they can be."""
    for path in plan.written:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
        except OSError as fault:
            if fault.errno == errno.ETXTBSY:
                raise Refused(f"{path} is running") from fault
