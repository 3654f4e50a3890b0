"""The spans of one session played in the order of time, as a transcript."""

from collections.abc import Callable, Sequence

from paste_proxy.importers.epoch import between
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.otel_content import Said
from paste_proxy.importers.otel_doing import Doing, Kind
from paste_proxy.importers.transcript import Transcript

_Moment = tuple[float, int, int, Callable[[Doing], None], Doing]


class Played:
    """A session while its spans are played.

    A tool's run is told when it ends: it answers the call of its id, else the oldest open one of its name.
    """

    def __init__(self, session: str, source: str) -> None:
        self._transcript = Transcript(session, source)
        self._mark = ""
        self._open: list[tuple[str, str]] = []
        """Id and name of calls that no tool's run has been found for."""
        self._ran: dict[str, Doing] = {}
        """Runs by call id whose result only the next LLM call tells."""
        self._heard: list[Said] = []

    def play(self, doings: Sequence[Doing]) -> list[RecordedSession]:
        """The session; none if its spans tell nothing."""
        for *_, tell, doing in sorted(self._moments(doings), key=lambda moment: moment[:3]):
            tell(doing)
        for call_id, ran in self._ran.items():
            self._transcript.output(call_id, None, ran.end, failed=ran.failed)
        return self._transcript.sessions()

    def _moments(self, doings: Sequence[Doing]) -> list[_Moment]:
        """At one time runs end first, then LLM calls begin, then end."""
        moments: list[_Moment] = []
        for place, doing in enumerate(doings):
            start, end = doing.start or 0.0, doing.end or doing.start or 0.0
            if doing.kind is Kind.LLM:
                moments += [(start, 1, place, self._hear, doing), (max(start, end), 2, place, self._say, doing)]
            else:
                moments.append((end, 0 if end > start else 3, place, self._run, doing))
        return moments

    def _hear(self, doing: Doing) -> None:
        if doing.heard == self._heard:  # the same request again, after a failure
            return
        self._heard = doing.heard
        answers = [answer for said in doing.heard for answer in said.answers]
        for call_id, output in answers:
            ran = self._ran.pop(call_id, None)
            self._answered(call_id)
            ended = ran.end if ran else doing.start
            took = between(ran.start, ran.end) if ran else None
            failed = bool(ran and ran.failed)
            timed = len(answers) == 1
            self._transcript.output(call_id, output, ended, failed=failed, duration_s=took, timed=timed)
        for said in doing.heard:
            if said.role == "user":
                self._transcript.user(said.text, doing.start)

    def _say(self, doing: Doing) -> None:
        if doing.failed and not doing.said:
            return
        self._mark, self._heard = doing.id, []
        text = "\n".join(filter(None, (said.text for said in doing.said)))
        took = between(doing.start, doing.end)
        self._transcript.turn(self._mark, doing.end, text=text, model=doing.model, duration_s=took)
        calls = [call for said in doing.said for call in said.calls]
        for place, (call_id, name, arguments) in enumerate(calls):
            own = call_id or f"{doing.id}.{place}"
            self._open.append((own, name))
            self._transcript.call(self._mark, own, name, arguments, doing.end)

    def _run(self, doing: Doing) -> None:
        call_id = self._answered(doing.call_id, doing.tool)
        if not call_id:
            if doing.arguments is None:
                return
            call_id = doing.call_id or doing.id
            self._transcript.call(self._mark or doing.id, call_id, doing.tool, doing.arguments, doing.start)
        if doing.result is None:
            self._ran[call_id] = doing
            return
        took = between(doing.start, doing.end)
        self._transcript.output(call_id, doing.result, doing.end, failed=doing.failed, duration_s=took)

    def _answered(self, call_id: str, name: str = "") -> str:
        """The open call of that id or, where no id is known, of that name; it is open no more."""
        for call in self._open:
            if call[0] == call_id or (not call_id and name and call[1] == name):
                self._open.remove(call)
                return call[0]
        return ""
