"""Has it got ready for calls that are likely, and are not run ahead: candidates that were refused, and the call that
the session's LLM is writing, of which the tool is known and perhaps no more."""

from collections.abc import Iterable, Sequence

import structlog

from paste_proxy.clock import Clock
from paste_proxy.events.candidate import NARROWED, PreparationHint
from paste_proxy.events.invocation import Invocation
from paste_proxy.proxy.hub.preparer import Preparer
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.speculation.preparing import Preparations, hint_of
from paste_proxy.speculation.types import Asked, Command, Launch, Narrowed, Refused, Run, Told
from paste_proxy.tools.backend import Preparable, Preparing

log = structlog.get_logger(__name__)

_WRITTEN = 0.98
"""Probability that an agent asks for the tool whose call its LLM is writing."""


class PreparationDesk:
    """Hears what the scheduler is told and what it decides."""

    def __init__(
        self,
        *,
        preparations: Preparations,
        preparer: Preparer,
        toolbox: Toolbox,
        sessions: Sessions,
        tally: Tally,
        clock: Clock,
    ) -> None:
        self._preparations, self._preparer = preparations, preparer
        self._toolbox, self._sessions, self._tally, self._clock = toolbox, sessions, tally, clock

    def heard(self, told: Told, commands: Sequence[Command]) -> None:
        """The scheduler was told this and decided that. A fault in here costs nobody anything."""
        try:
            if isinstance(told, Narrowed):
                self._written(told, commands)
            for command in commands:
                self._decided(told, command)
        except Exception:
            self._tally.fault("prepare")
            log.exception("prepare_fault")

    def _written(self, told: Narrowed, commands: Sequence[Command]) -> None:
        outline = told.outline
        if any(isinstance(each, Launch) and outline.allows(each.invocation) for each in commands):
            return
        hint = PreparationHint(tool=outline.tool, known=outline.known, confidence=_WRITTEN, source=NARROWED)
        self._hinted(told.session, hint, whole=outline.whole)

    def _decided(self, told: Told, command: Command) -> None:
        match command:
            case Refused():
                if hint := hint_of(command):
                    self._hinted(command.session, hint)
            case Launch(invocation=invocation, scope=scope):
                self._used(invocation, scope, apart=True)
            case Run(call=call) if isinstance(told, Asked) and told.call == call:
                self._used(told.invocation, told.scope)
            case _:
                pass

    def _hinted(self, session: str, hint: PreparationHint, *, whole: bool = True) -> None:
        kinds = self._preparations.kinds(hint, whole=whole)
        if not kinds:
            return
        found = {each.need: each for each in self._needs(session, Invocation(hint.tool, hint.known))}
        for need in self._preparations.due(found, kinds, self._clock.monotonic()):
            self._preparer.prepare(found[need])

    def _needs(self, session: str, invocation: Invocation) -> Iterable[Preparable]:
        known = self._sessions.get(session)
        if known is None or not known.ahead:
            return ()
        offer = self._toolbox.find(invocation.tool, session, known.scopes.values())
        return offer.backend.needs(invocation) if offer and isinstance(offer.backend, Preparing) else ()

    def _used(self, invocation: Invocation, scope: str, *, apart: bool = False) -> None:
        offer = self._toolbox.through(invocation.tool, scope)
        if offer is None or not isinstance(offer.backend, Preparing):
            return
        for each in offer.backend.needs(invocation):
            if apart or not each.apart:
                self._preparer.used(each)
