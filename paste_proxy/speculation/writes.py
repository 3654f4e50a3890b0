"""All writes, as the two kinds of jobs are concerned by them.

A job that runs in the open depends on what its tool reads. One that is staged rests on all that its tool writes, but
what it does is held back: until its commit it writes nothing, and where that changes nothing, what rests on the same
still stands. So staged jobs outlast each other's commits, and one may run while another does.
"""

from paste_proxy.speculation.effects import Effects

Domains = frozenset[str] | tuple[str, ...]


class Writes:
    """What begins and ends to write, over all sessions.

    A write is `held` where the proof before a staged job's commit finds whatever it changes: it voids none of those.
    """

    def __init__(self) -> None:
        self.open = Effects()
        self.staged = Effects()
        self._commits = Effects()

    def of(self, *, staged: bool) -> Effects:
        """The epochs that void jobs of a kind."""
        return self.staged if staged else self.open

    @property
    def over(self) -> int:
        """Moves when a write stops being on its way."""
        return self.open.over + self.staged.over

    def settle(self, now: float) -> None:
        """Time passed."""
        self.open.settle(now)
        self.staged.settle(now)

    def began(self, domains: Domains, *, held: bool = False) -> None:
        """A call may write from now on."""
        for effects in self._touched(held):
            effects.began(domains)

    def ended(self, domains: Domains, *, held: bool = False) -> None:
        """A call that began is over."""
        for effects in self._touched(held):
            effects.ended(domains)

    def linger(self, domains: Domains, now: float, *, held: bool = False) -> None:
        """A call may still write, and nobody will see when."""
        for effects in self._touched(held):
            effects.linger(domains, now)

    def commits(self, domains: Domains) -> None:
        """What a staged job did happens from now on."""
        self.open.began(domains)
        self._commits.began(domains)

    def committed(self, domains: Domains, *, changed: bool) -> None:
        """It has happened.

        Args:
            changed: whether it came to anything.
        """
        self.open.ended(domains)
        self._commits.ended(domains)
        if changed:
            self.staged.passed(domains)

    def committing(self, reads: Domains, now: float) -> bool:
        """Whether what a staged job did happens just now in one of these domains."""
        return self._commits.dirty(reads, now)

    def _touched(self, held: bool) -> tuple[Effects, ...]:
        return (self.open,) if held else (self.open, self.staged)
