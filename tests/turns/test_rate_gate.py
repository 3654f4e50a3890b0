"""Conversations with the gate of a key: who goes, who waits, and for how long."""

from paste_proxy.turns.rate_gate import RateGate
from paste_proxy.turns.types import (
    Allowance,
    Limited,
    RateLimits,
    Tick,
    Told,
    TurnFacts,
    TurnOver,
    TurnReady,
    TurnWrites,
)

from .transcript import spoken


class Transcript:
    """Tell it something, and read what it commands."""

    def __init__(self, *, longest_s: float = 120.0) -> None:
        self.gate = RateGate(longest_s=longest_s)

    def __call__(self, now: float, *told: Told) -> list[str]:
        return [said for one in told for said in spoken(self.gate.step(one, now))]

    @property
    def due(self) -> float | None:
        deadline = self.gate.next_deadline()
        return None if deadline is None else round(deadline, 1)


def ready(turn: int, prompt: float = 1_000, *, cached: float = 0.0, patience_s: float | None = None) -> TurnReady:
    facts = TurnFacts(session="s", prompt_tokens=prompt, cached_tokens=cached, output_tokens=100)
    return TurnReady(turn=turn, facts=facts, patience_s=patience_s)


def requests(turn: int, remaining: float, limit: float | None = 10, reset_s: float | None = None) -> Limited:
    reset_s = (limit - remaining) if reset_s is None and limit is not None else reset_s
    return Limited(turn=turn, limits=RateLimits(requests=Allowance(limit=limit, remaining=remaining, reset_s=reset_s)))


def tells(turn: int, limits: RateLimits) -> Limited:
    return Limited(turn=turn, limits=limits)


def refused(turn: int, retry_after_s: float | None = None) -> Limited:
    return Limited(turn=turn, limits=RateLimits(refused=True, retry_after_s=retry_after_s))


def test_turns_go_at_once_while_nothing_is_known() -> None:
    tell = Transcript()
    assert tell(0, *(ready(turn) for turn in range(1, 4))) == [
        "admit 1 after 0",
        "admit 2 after 0",
        "admit 3 after 0",
    ]
    assert tell.due is None


def test_one_that_would_exceed_what_is_left_waits_for_the_refill() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(1, requests(1, remaining=1))
    assert tell(1, ready(2), ready(3)) == ["admit 2 after 0"]
    assert tell.due == 2.0, "one request is refilled in a second"
    assert tell(1.9, Tick()) == []
    assert tell(2.1, Tick())[0].startswith("admit 3")


def test_what_was_sent_since_is_not_counted_in_an_answer() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(1, ready(2), ready(3))
    assert tell(2, requests(1, remaining=2)) == []
    assert tell(2, ready(4)) == [], "the two that are left are those that went after it"


def test_nor_if_it_is_over_by_then() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(1, ready(2), TurnOver(turn=2))
    tell(2, requests(1, remaining=1, reset_s=1_000))
    assert tell(2, ready(3)) == []


def test_what_was_sent_before_is() -> None:
    tell = Transcript()
    tell(0, ready(1), ready(2))
    tell(1, ready(3))
    tell(2, requests(3, remaining=1))
    assert tell(2, ready(4), ready(5)) == ["admit 4 after 0"]


def test_what_was_sent_in_the_same_moment_is_held_to_be_uncounted_until_it_is_answered() -> None:
    tell = Transcript()
    tell(0, ready(1), ready(2), ready(3))
    tell(1, requests(3, remaining=2, reset_s=1_000))
    assert tell(1, ready(4)) == []
    assert tell(1, requests(1, remaining=1, reset_s=1_000)) == []
    assert tell(1, requests(2, remaining=3, reset_s=1_000)) == ["admit 4 after 0"]


def test_an_answer_to_an_earlier_turn_tells_nothing_new() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(5, ready(2))
    tell(6, requests(2, remaining=0))
    assert tell(6, requests(1, remaining=9), ready(3)) == []


def test_tokens_are_those_of_the_prompt_that_are_not_cached_and_of_the_answer() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(1, tells(1, RateLimits(tokens=Allowance(limit=10_000, remaining=1_000, reset_s=90))))
    assert tell(1, ready(2, 1_000)) == []
    assert tell(1, TurnOver(turn=2), ready(3, 1_000, cached=200)) == ["admit 3 after 0"]


def test_answers_under_way_are_still_to_be_written() -> None:
    tell = Transcript()
    tell(0, ready(1))
    told_of = tells(1, RateLimits(output_tokens=Allowance(limit=1_000, remaining=250, reset_s=1_000)))
    assert tell(1, told_of, ready(2), ready(3)) == ["admit 2 after 0"], "100 each, of 1 and 2"


def test_a_turn_larger_than_the_limit_goes_when_all_is_there() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(0, tells(1, RateLimits(input_tokens=Allowance(limit=5_000, remaining=4_000, reset_s=10))))
    assert tell(5, ready(2, 50_000)) == []
    assert tell(10.3, Tick())[0].startswith("admit 2")


def test_all_is_there_again_after_the_reset() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(0, requests(1, remaining=0, reset_s=5))
    assert tell(2, ready(2))[0].startswith("admit 2")
    assert len(tell(5.2, *(ready(turn) for turn in range(3, 15)))) == 9, "of ten, less the one that went"


def test_where_no_limit_is_told_it_is_the_most_that_was_left_and_per_minute() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(0, requests(1, remaining=6, limit=None))
    tell(10, ready(2))
    tell(10, requests(2, remaining=0, limit=None))
    assert tell(11, ready(3)) == []
    assert tell.due == 20.0


def test_first_come_first_served_even_if_a_later_one_would_fit() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(0, tells(1, RateLimits(tokens=Allowance(limit=10_000, remaining=1_000, reset_s=90))))
    assert tell(0, ready(2, 5_000), ready(3, 10)) == []
    assert tell(1, TurnOver(turn=2)) == ["admit 3 after 1"], "its agent has gone"


def test_no_turn_waits_longer_than_any_may() -> None:
    tell = Transcript(longest_s=30)
    tell(0, ready(1))
    tell(0, requests(1, remaining=0, reset_s=10_000))
    tell(0, ready(2))
    assert tell.due == 30.0
    assert tell(30, Tick()) == ["admit 2 after 30, late"]


def test_one_that_is_impatient_is_turned_away_until_there_will_be_room() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(0, requests(1, remaining=0, reset_s=600))
    tell(0, ready(2, patience_s=5), ready(3))
    assert tell.due == 5.0
    assert tell(5, Tick()) == ["turn 2 away for 56.2245"]


def test_after_a_refusal_one_goes_first_and_then_the_others() -> None:
    tell = Transcript()
    tell(0, ready(1), ready(2))
    assert tell(1, refused(1, retry_after_s=10), TurnWrites(turn=1), TurnOver(turn=1)) == []
    assert tell(2, ready(3), ready(4), ready(5)) == []
    assert tell.due == 11.0
    assert tell(11, Tick()) == ["admit 3 after 9"]
    assert tell(12, TurnWrites(turn=2)) == [], "it went before the refusal"
    assert tell(13, TurnWrites(turn=3)) == ["admit 4 after 11", "admit 5 after 11"]


def test_one_that_is_refused_again_makes_the_others_wait_longer() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(0, refused(1))
    assert tell(0, ready(2), ready(3)) == []
    assert tell(1, Tick()) == ["admit 2 after 1"]
    assert tell(1, refused(2), TurnWrites(turn=2), TurnOver(turn=2)) == []
    assert tell(2.9, Tick()) == []
    assert tell(3, Tick()) == ["admit 3 after 3"]


def test_if_the_one_that_tries_leaves_another_does() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(0, refused(1, retry_after_s=1), ready(2), ready(3))
    assert tell(1, Tick()) == ["admit 2 after 1"]
    assert tell(2, TurnOver(turn=2)) == ["admit 3 after 2"]


def test_a_refused_turn_has_taken_nothing() -> None:
    tell = Transcript()
    tell(0, ready(1), ready(2))
    tell(1, requests(1, remaining=1.5, reset_s=1_000))
    assert tell(1, ready(3)) == [], "the second one may have it"
    assert tell(1, refused(2, retry_after_s=0)) == ["admit 3 after 0"]


def test_a_refusal_makes_turns_dearer_and_what_is_served_cheaper_again() -> None:
    tell = Transcript()
    tell(0, ready(1))
    tell(0, refused(1, retry_after_s=0), ready(2))
    tell(1, requests(2, remaining=1.4, reset_s=1e6))
    assert tell(1, ready(3), TurnOver(turn=3)) == [], "it is held to take one and a half"
    for _ in range(20):
        tell(3, requests(2, remaining=1.4, reset_s=1e6))
    assert tell(3, ready(4)) == ["admit 4 after 0"]
