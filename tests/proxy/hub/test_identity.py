"""Requests find their sessions by what these have said themselves."""

from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.proxy.hub.identity import Identity, Placed
from paste_proxy.proxy.hub.reading import reading
from paste_proxy.wire.types import LlmRequest, Message


def said(role: str, text: str) -> Message:
    return Message(role=role, text=text, digest=blake2b(f"{role}:{text}".encode(), digest_size=16).digest())


def digest(text: str) -> bytes:
    return said("assistant", text).digest


@dataclass
class Talk:
    """One agent's conversation, as its client keeps it."""

    identity: Identity
    messages: list[Message] = field(default_factory=lambda: [said("system", "be good"), said("user", "go")])
    header: str | None = None
    hint: str | None = None
    now: float = 0.0

    def ask(self) -> Placed:
        request = LlmRequest(model="m", stream=True, messages=tuple(self.messages), tools=(), session_hint=self.hint)
        return self.identity.resolve(reading(request), self.header, self.now)

    def hear(self, placed: Placed, answer: str, *then: str) -> None:
        self.identity.answered(placed.session, digest(answer), point=placed.point)
        self.messages += [said("assistant", answer), *(said("tool", text) for text in then)]

    def turn(self, answer: str, *then: str) -> Placed:
        placed = self.ask()
        self.hear(placed, answer, *then)
        return placed


def talk(identity: Identity | None = None, *texts: str) -> Talk:
    made = Talk(identity or Identity(100))
    made.messages += [said("user", text) for text in texts]
    return made


def test_a_conversation_stays_one_session_and_only_its_news_are_unknown() -> None:
    agent = talk()
    first = agent.turn("call a", "result a")
    second = agent.turn("call b", "result b1", "result b2")
    third = agent.ask()
    assert first.session == second.session == third.session
    assert [placed.known_messages for placed in (first, second, third)] == [0, 3, 5]


def test_a_header_decides_then_a_hint() -> None:
    agent = talk()
    agent.header, agent.hint = "h", "b"
    assert agent.turn("x", "y").session == "h"
    agent.header = None
    assert agent.turn("x2", "y2").session == "b"
    assert agent.ask().known_messages == 5


def test_a_session_that_was_named_is_found_without_its_name() -> None:
    agent = talk()
    agent.header = "h"
    agent.turn("x", "y")
    agent.header = None
    assert agent.ask().session == "h"


def test_equal_prompts_started_in_parallel_stay_apart() -> None:
    identity = Identity(100)
    one, two = talk(identity), talk(identity)
    asked = [one.ask(), two.ask()]
    two.hear(asked[1], "second's way", "r")
    one.hear(asked[0], "first's way", "r")
    assert one.ask().session == asked[0].session != asked[1].session == two.ask().session


def test_the_first_messages_alone_never_join_two_tasks() -> None:
    identity = Identity(100)
    assert talk(identity).turn("a").session != talk(identity).turn("b").session


def test_of_those_with_equal_answers_the_one_waiting_longest_comes_first() -> None:
    identity = Identity(100)
    talks = [talk(identity) for _ in range(3)]
    asked = [agent.ask() for agent in talks]
    for agent, placed in zip(talks, asked, strict=True):
        agent.hear(placed, "same", "same")
    assert [agent.ask().session for agent in talks] == [placed.session for placed in asked]


def test_a_request_sent_again_after_a_cut_turn_joins_its_session() -> None:
    agent = talk()
    first = agent.ask()
    agent.identity.answered(first.session, b"", complete=False, point=first.point)
    again = agent.turn("x", "y")
    assert (again.session, again.known_messages) == (first.session, 2)
    cut = agent.ask()
    agent.identity.answered(cut.session, digest("half"), complete=False, point=cut.point)
    assert agent.ask().session == first.session


def test_long_after_a_cut_turn_the_same_prompt_is_a_new_task() -> None:
    agent = talk()
    first = agent.ask()
    agent.identity.answered(first.session, b"", complete=False)
    agent.now = 10_000.0
    assert agent.ask().session != first.session


def test_a_request_identical_to_one_under_way_is_a_new_session() -> None:
    agent = talk()
    agent.turn("x", "y")
    first, second = agent.ask(), agent.ask()
    assert first.session != second.session


def test_an_edited_history_falls_to_the_longest_part_that_holds_an_own_answer() -> None:
    agent = talk()
    first = agent.turn("x", "y")
    agent.turn("x2", "y2")
    agent.messages[4:] = [said("user", "summary of the rest")]
    placed = agent.ask()
    assert (placed.session, placed.known_messages) == (first.session, 4)


def test_a_history_cut_back_to_the_prompt_is_a_new_session() -> None:
    agent = talk()
    first = agent.turn("x", "y")
    del agent.messages[2:]
    assert agent.ask().session != first.session


def test_instructions_rewritten_every_turn_do_not_break_a_session() -> None:
    agent = talk()
    first = agent.turn("x", "y")
    agent.messages[0] = said("system", "be better; it is 12:01")
    second = agent.turn("x2", "y2")
    agent.messages[0] = said("system", "be best; it is 12:02")
    third = agent.ask()
    assert first.session == second.session == third.session
    assert (second.known_messages, third.known_messages) == (3, 5)


def test_different_instructions_tell_equal_conversations_apart() -> None:
    identity = Identity(100)
    one, two = talk(identity), talk(identity)
    two.messages[0] = said("system", "be bad")
    first, second = one.turn("hi", "r"), two.turn("hi", "r")
    assert two.ask().session == second.session
    assert one.ask().session == first.session


def test_a_forgotten_session_is_not_found_again() -> None:
    agent = talk()
    first = agent.turn("x", "y")
    agent.identity.ended(first.session)
    assert agent.ask().session != first.session
    agent.identity.answered("never seen", b"")
    agent.identity.ended("never seen")


def test_only_so_many_sessions_are_held() -> None:
    identity = Identity(3)
    talks = [talk(identity, str(number)) for number in range(5)]
    asked = [agent.turn("x", "y") for agent in talks]
    assert talks[4].ask().session == asked[4].session
    assert talks[0].ask().session != asked[0].session


def test_a_very_long_session_keeps_its_latest_points_and_lets_go_of_the_oldest() -> None:
    agent = talk()
    first = agent.turn("0", "r")
    for number in range(1, 700):
        agent.turn(str(number), "r")
    assert agent.ask().session == first.session
    del agent.messages[4:]
    assert agent.ask().session != first.session


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(5, 40))
def test_interleaved_conversations_with_shared_beginnings_are_told_apart(seed: int, number: int, turns: int) -> None:
    """Answers come from a small set, so many histories are equal for a while; no two agents ever share a session."""
    dice, identity = Random(seed), Identity(100)
    talks = [talk(identity, dice.choice("ab")) for _ in range(number)]
    owned: dict[int, str] = {}
    flying: dict[int, Placed] = {}
    for _ in range(turns):
        which = dice.randrange(number)
        if which in flying:
            talks[which].hear(flying.pop(which), f"answer {which}", dice.choice("xy"))
            continue
        placed = flying[which] = talks[which].ask()
        assert owned.setdefault(which, placed.session) == placed.session
        begun = len(talks[which].messages) > 3
        assert placed.known_messages == (len(talks[which].messages) - 1 if begun else 0)
    assert len(set(owned.values())) == len(owned)


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(5, 60))
def test_however_alike_their_answers_no_two_live_histories_share_a_session(seed: int, number: int, turns: int) -> None:
    """Where histories are equal the sessions behind them may be exchanged, but stay as many as there are agents."""
    dice, identity = Random(seed), Identity(100)
    talks = [talk(identity) for _ in range(number)]
    flying: dict[int, Placed] = {}
    sessions: set[str] = set()
    for _ in range(turns):
        which = dice.randrange(number)
        if which in flying:
            talks[which].hear(flying.pop(which), dice.choice("ab"), dice.choice("xy"))
        else:
            flying[which] = placed = talks[which].ask()
            sessions.add(placed.session)
            assert [placed.session for placed in flying.values()].count(placed.session) == 1
    assert len(sessions) <= number


def test_an_answer_that_a_request_goes_on_from_names_its_session() -> None:
    identity = Identity(100)
    agent = talk(identity)
    first = agent.ask()
    identity.answered(first.session, digest("a"), point=first.point, response_id="resp_1")
    request = LlmRequest(model="m", stream=True, messages=(said("tool", "news"),), tools=(), previous="resp_1")
    placed = identity.resolve(reading(request), None, 1.0)
    assert (placed.session, placed.known_messages) == (first.session, 0)
    again = identity.resolve(reading(request), None, 2.0)
    assert (again.session, again.known_messages) == (first.session, 0), "the same words may be news twice"
    identity.ended(first.session)
    assert identity.resolve(reading(request), None, 3.0).session != first.session
