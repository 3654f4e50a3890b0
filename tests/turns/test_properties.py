"""What holds of the admission queue whatever it is told, and when."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.turns.admission import Admission, Bounds
from paste_proxy.turns.band import FixedBand, KneeBand
from paste_proxy.turns.priority import Priority
from paste_proxy.turns.types import Admit, Command, EngineLoad, Measured, Produced, Tick, TurnOver, TurnWrites

from .transcript import ready

LONGEST_S = 30.0
BOUNDS = Bounds(longest_s=LONGEST_S, begins_s=LONGEST_S)


@dataclass(frozen=True)
class Wish:
    """A turn that some agent asks for at a time, and how long it takes; its agent may leave before that."""

    at: float
    takes_s: float
    leaves_after_s: float | None
    before: int
    prompt: float
    saved_s: float


SECONDS = st.floats(0, 60, allow_nan=False)
WISHES = st.lists(
    st.builds(
        Wish,
        at=SECONDS,
        takes_s=st.floats(0.1, 20),
        leaves_after_s=st.none() | st.floats(0.0, 40),
        before=st.integers(0, 3),
        prompt=st.sampled_from([100.0, 5_000.0, 200_000.0]),
        saved_s=st.floats(0, 10),
    ),
    min_size=1,
    max_size=40,
)
BANDS = st.sampled_from([(0.75, 1.0), (1.5, 2.0), (3.0, 5.0)])


class Played:
    """The wishes played against a queue, in time of their own."""

    def __init__(self, admission: Admission, wishes: list[Wish], *, produces: float = 0.0) -> None:
        self.admission, self.wishes = admission, wishes
        self.admitted: dict[int, Admit] = {}
        self.left: set[int] = set()
        self.ends: dict[int, float] = {}
        self.most = 0.0
        times = sorted({wish.at for wish in wishes} | {wish.at + (wish.leaves_after_s or 0.0) for wish in wishes})
        now, ready_ones = -1.0, set[int]()
        for _ in range(100_000):
            due = [at for at in (*times, *self.ends.values(), admission.next_deadline()) if at is not None and at > now]
            if not due and not self.ends:
                break
            now = min(due, default=now + 1)
            if produces:
                self._do(admission.step(Produced(tokens=produces * len(self.ends)), now), now)
            self._do(admission.step(Tick(), now), now)
            for turn in [turn for turn, end in self.ends.items() if end <= now]:
                del self.ends[turn]
                self._do(admission.step(TurnOver(turn=turn), now), now)
            for turn, wish in enumerate(wishes):
                if turn not in ready_ones and wish.at <= now:
                    ready_ones.add(turn)
                    told = ready(turn, before=wish.before, prompt=wish.prompt, realized_s=wish.saved_s)
                    self._do(admission.step(told, now), now)
                leaves = None if wish.leaves_after_s is None else wish.at + wish.leaves_after_s
                if turn in ready_ones and leaves is not None and leaves <= now and turn not in self.left:
                    self.left.add(turn)
                    self.ends.pop(turn, None)
                    self._do(admission.step(TurnOver(turn=turn), now), now)

    def _do(self, commands: list[Command], now: float) -> None:
        for command in commands:
            assert isinstance(command, Admit)
            assert command.turn not in self.admitted, "admitted twice"
            assert command.turn not in self.left, "admitted after it had left"
            self.admitted[command.turn] = command
            self.ends[command.turn] = now + self.wishes[command.turn].takes_s
            self._do(self.admission.step(TurnWrites(turn=command.turn), now), now)
            if not command.late and len(self.ends) > 1:
                self.most = max(self.most, self.admission.pressure)


@settings(max_examples=300, deadline=None)
@given(wishes=WISHES, band=BANDS)
def test_each_turn_is_admitted_once_and_in_time_or_has_left(wishes: list[Wish], band: tuple[float, float]) -> None:
    played = Played(Admission(FixedBand(*band), Priority(), bounds=BOUNDS), wishes)
    assert set(range(len(wishes))) == set(played.admitted) | played.left
    assert all(admit.waited_s <= LONGEST_S + 1e-6 for admit in played.admitted.values())
    assert (played.admission.held, played.admission.pressure) == (0, 0.0)


@settings(max_examples=300, deadline=None)
@given(wishes=WISHES, band=BANDS)
def test_the_band_is_kept_but_for_turns_that_have_waited_too_long(
    wishes: list[Wish], band: tuple[float, float]
) -> None:
    admission = Admission(FixedBand(*band), Priority(), gamma=0.0, bounds=BOUNDS)
    assert Played(admission, wishes).most <= band[1]


@settings(max_examples=100, deadline=None)
@given(wishes=WISHES)
def test_a_band_that_is_found_keeps_the_same_promises(wishes: list[Wish]) -> None:
    admission = Admission(KneeBand(first=2), Priority(), bounds=BOUNDS)
    played = Played(admission, wishes, produces=50.0)
    assert set(range(len(wishes))) == set(played.admitted) | played.left


@settings(max_examples=100, deadline=None)
@given(loads=st.lists(st.builds(EngineLoad, running=st.floats(0, 50), waiting=st.floats(0, 50)), max_size=5))
def test_whatever_an_engine_says_an_idle_one_gets_a_turn(loads: list[EngineLoad]) -> None:
    admission = Admission(FixedBand(0.75, 1.0), Priority())
    for load in loads:
        admission.step(Measured(load=load), 0.0)
    assert admission.step(ready(1), 1.0) == [Admit(turn=1, waited_s=0.0)]
