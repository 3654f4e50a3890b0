"""Whatever is told in whatever order, the books balance and the bounds hold."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from paste_proxy.events.candidate import NARROWED, SEALED
from paste_proxy.events.result import Status
from paste_proxy.events.types import Outcome
from paste_proxy.speculation.limits import ServerCapacity
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.scheduler import Scheduler
from paste_proxy.speculation.types import (
    Cancel,
    Command,
    Launch,
    Mode,
    ObservationLost,
    Promote,
    Run,
    Serve,
    SessionEnded,
    Settled,
    Tick,
    Told,
)

from .playbook import (
    RULES,
    asked,
    broke,
    done,
    guess,
    limits,
    native_began,
    native_ended,
    over,
    predicted,
    writing,
    wrote,
)

SLOTS, TOTAL, HELD = 3, 2, 2
calls = st.sampled_from(
    ("get_item 1", "get_item 2", "set_item 1", "web_page 1", "watched_1", "small/read 1", "small/write 1", "mystery")
)
sessions = st.sampled_from(("s", "t"))
scopes = st.sampled_from(("", "left"))


class Machine(RuleBasedStateMachine):
    """Tells anything; keeps its own books of jobs and calls."""

    @initialize(mode=st.sampled_from(Mode))
    def start(self, mode: Mode) -> None:
        self.mode = mode
        capacities = {"small": ServerCapacity(total=TOTAL, speculative=2)}
        bounds = limits(slots=SLOTS, ttl_s=20, held_results=HELD)
        self.scheduler = Scheduler(Policy.parse(RULES, "test"), bounds, mode, capacities)
        self.now = 0.0
        self.number = 0
        self.running: dict[int, str] = {}
        self.ready: set[int] = set()
        self.promoted: dict[int, int] = {}
        self.open: dict[int, str] = {}
        self.started: set[int] = set()

    def tell(self, told: Told) -> None:
        for command in self.scheduler.step(told, self.now):
            self.book(command)

    def book(self, command: Command) -> None:
        match command:
            case Launch():
                assert self.mode is Mode.SPECULATE
                self.running[command.job] = command.invocation.tool
            case Cancel():
                assert command.job in self.running
                assert command.job not in self.promoted
            case Promote():
                assert command.job in self.running
                assert command.call in self.open
                self.promoted[command.job] = command.call
            case Run():
                assert command.call in self.open
                assert command.call not in self.started
                self.started.add(command.call)
            case Serve():
                assert command.call not in self.started
                self.open.pop(command.call)
            case Settled(shadow=False):
                self.running.pop(command.job, None)
                self.ready.discard(command.job)
                waited = self.promoted.pop(command.job, None)
                assert (command.outcome is Outcome.PROMOTED) <= (waited is not None)
                assert command.ran_s >= command.saved_s >= 0
            case Settled():
                assert self.mode is not Mode.OFF
                assert command.ran_s >= command.saved_s >= 0
            case _:
                pass

    @rule(texts=st.lists(calls, min_size=1, max_size=3), session=sessions, scope=scopes, sure=st.floats(0, 1))
    def predict(self, texts: list[str], session: str, scope: str, sure: float) -> None:
        source = SEALED if sure > 0.9 else "pattern"
        self.tell(predicted(*(guess(text, sure, source) for text in texts), session=session, scope=scope))

    @rule(
        text=calls,
        likely=st.lists(calls, max_size=2),
        session=sessions,
        sure=st.floats(0, 1),
        more=st.floats(0, 1),
        whole=st.booleans(),
    )
    def narrow(self, text: str, likely: list[str], session: str, sure: float, more: float, whole: bool) -> None:
        newly = predicted(*(guess(each, sure, NARROWED) for each in likely), session=session)
        tool = text.partition(" ")[0]
        told = wrote(text, newly, session=session, more=more) if whole else writing(tool, newly, session=session)
        self.tell(told)

    @rule(text=calls, session=sessions, scope=scopes)
    def ask(self, text: str, session: str, scope: str) -> None:
        self.number += 1
        self.open[self.number] = text
        self.tell(asked(self.number, text, session=session, scope=scope))

    @rule(data=st.data(), status=st.sampled_from((Status.OK, Status.ERROR, None)))
    def end_call(self, data: st.DataObject, status: Status | None) -> None:
        ended = data.draw(st.sampled_from(sorted(self.started if status else self.open) or [0]))
        self.open.pop(ended, None)
        self.started.discard(ended)
        for job in [job for job, call in self.promoted.items() if call == ended]:
            del self.promoted[job]
        self.tell(over(ended, status))

    @rule(data=st.data(), good=st.booleans())
    def end_job(self, data: st.DataObject, good: bool) -> None:
        job = data.draw(st.sampled_from(sorted(self.running) or [0]))
        if self.running.pop(job, None) and job not in self.promoted:
            self.ready.add(job)
        self.tell(done(job) if good else broke(job))

    @rule(text=calls, session=sessions)
    def outside(self, text: str, session: str) -> None:
        self.tell(native_began(text, session=session))

    @rule(session=sessions)
    def outside_ends(self, session: str) -> None:
        self.tell(native_ended(session=session))

    @rule(session=sessions)
    def end_session(self, session: str) -> None:
        self.tell(SessionEnded(session=session))

    @rule()
    def lose(self) -> None:
        self.tell(ObservationLost())

    @rule(seconds=st.sampled_from((0.5, 3.0, 70.0)))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.tell(Tick())

    @invariant()
    def bounds_hold(self) -> None:
        unpromoted = [tool for job, tool in self.running.items() if job not in self.promoted]
        small = sum(tool.startswith("small/") for tool in unpromoted)
        taken = sum(text.startswith("small/") for number, text in self.open.items() if number in self.started)
        waiting = sum(self.open[call].startswith("small/") for call in self.promoted.values())
        assert len(unpromoted) <= SLOTS
        assert len(self.ready) <= HELD
        assert small + taken + waiting <= TOTAL

    @invariant()
    def no_slot_stays_free_while_calls_queue(self) -> None:
        small = [number for number, text in self.open.items() if text.startswith("small/")]
        served = set(self.promoted.values()) | self.started
        assert sum(number in served for number in small) == min(TOTAL, len(small))
        assert all(number in served for number in self.open if number not in small)

    @invariant()
    def a_deadline_lies_ahead(self) -> None:
        due = self.scheduler.next_deadline()
        assert due is None or due > self.now

    def teardown(self) -> None:
        if not hasattr(self, "open"):
            return
        for job in sorted(self.running):
            self.tell(done(job))
        while self.open:
            number = min(self.started)
            self.open.pop(number)
            self.started.discard(number)
            self.tell(over(number))
        for session in ("s", "t"):
            self.tell(SessionEnded(session=session))
        assert not self.running
        assert not self.ready
        assert not self.promoted
        assert self.scheduler.next_deadline() is None


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=150, stateful_step_count=40, derandomize=True, database=None, deadline=None
)
