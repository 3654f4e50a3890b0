"""Calls that are answered from the run of another: of the same core."""

from typing import Any

import pytest

from paste_proxy.events.candidate import SEALED, Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Outcome
from paste_proxy.speculation.types import Asked, Mode, Predicted, Settled

from .playbook import Playbook, asked, done, limits, over, predicted

LINES = '"one\\ntwo\\nthree\\n"'


def read(**arguments: Any) -> Invocation:
    return Invocation("read_file", {"path": "a", **arguments})


def run(command: str, **arguments: Any) -> Invocation:
    return Invocation("run", {"command": command, **arguments})


def expects(invocation: Invocation, source: str = "pattern", expected_s: float | None = None) -> Predicted:
    candidate = Candidate(invocation=invocation, confidence=0.9, source=source, expected_s=expected_s)
    return Predicted(session="s", candidates=(candidate,))


def asks(call: int, invocation: Invocation, session: str = "s") -> Asked:
    return Asked(call=call, session=session, invocation=invocation)


def test_a_whole_read_serves_a_part_of_it_byte_for_byte() -> None:
    tell = Playbook()
    assert tell(0, expects(read())) == ["launch 1 read_file"]
    tell(1, done(1, LINES))
    assert tell(2, asks(7, read(head=2))) == ['serve 7 from 1: "one\\ntwo"', "1 reused, ran 1, saved 1"]


def test_an_argument_without_influence_makes_no_other_call() -> None:
    tell = Playbook()
    tell(0, expects(read(why="curious", head=1), SEALED))
    tell(1, done(1, '"one"'))
    assert tell(2, expects(read(head=1))) == ["refused read_file: duplicate"]
    assert tell(2, asks(7, read(head=1, why="bored")))[0] == 'serve 7 from 1: "one"'


def test_a_part_serves_neither_another_part_nor_the_whole() -> None:
    tell = Playbook()
    tell(0, expects(read(head=2), SEALED))
    tell(1, done(1, '"one\\ntwo"'))
    assert tell(2, asks(7, read(head=1))) == ["run 7"]
    assert tell(2, asks(8, read())) == ["run 8"]
    assert tell(2, asks(9, read(head=2)))[0].startswith("serve 9 from 1")


def test_of_two_runs_the_one_of_the_very_call_serves_it() -> None:
    tell = Playbook()
    tell(0, expects(read()))
    assert tell(0, expects(read(head=1), SEALED)) == ["launch 2 read_file"]
    tell(1, done(1, LINES))
    tell(1, done(2, '"one"'))
    assert tell(2, asks(7, read(head=1)))[0] == 'serve 7 from 2: "one"'
    assert tell(2, asks(8, read(tail=2)))[0] == 'serve 8 from 1: "three\\n"'


def test_what_a_finished_run_can_serve_is_not_run_ahead_again() -> None:
    tell = Playbook()
    tell(0, expects(read()))
    tell(1, done(1, LINES))
    assert tell(2, expects(read(head=1), SEALED)) == ["refused read_file: duplicate"]
    assert tell(2, expects(read(head=-1), SEALED)) == ["launch 2 read_file"]


@pytest.mark.parametrize(
    ("body", "status", "call"),
    [
        (LINES, Status.ERROR, read(head=1)),
        ("not JSON", Status.OK, read(head=1)),
        ('"\ufffd"', Status.OK, read(head=1)),
        ('{"content":[]}', Status.OK, read(head=1)),
        (LINES, Status.OK, read(head=-1)),
        (LINES, Status.OK, read(head=1, tail=1)),
    ],
)
def test_what_cannot_be_told_is_run(body: str, status: Status, call: Invocation) -> None:
    tell = Playbook()
    tell(0, expects(read()))
    tell(1, done(1, body, status))
    assert tell(2, asks(7, call)) == ["run 7"]


def test_a_write_in_between_an_age_or_another_session_forbid_it() -> None:
    for between in (asked(6, "set_item 1"), predicted("get_item 9")):
        tell = Playbook(limits(ttl_s=10))
        tell(0, expects(read()))
        tell(1, done(1, LINES))
        tell(2 if isinstance(between, Asked) else 12, between)
        assert tell(13, asks(7, read(head=1))) == ["run 7"]
    tell = Playbook()
    tell(0, expects(read()))
    tell(1, done(1, LINES))
    assert tell(2, asks(7, read(head=1), session="t")) == ["run 7"]


def test_a_part_of_a_file_does_not_wait_for_the_whole() -> None:
    tell = Playbook()
    tell(0, expects(read()))
    assert tell(1, asks(7, read(head=1))) == ["run 7"]
    tell(2, done(1, LINES))
    assert tell(3, asks(8, read(head=1)))[0] == 'serve 8 from 1: "one"'


def test_the_end_of_a_command_s_output_waits_for_its_run() -> None:
    tell = Playbook()
    tell(0, expects(run("make")))
    assert tell(10, asks(7, run("make 2>&1 | tail -1"))) == ["promote 1 for 7"]
    assert tell(30, done(1, '"[exit 2]\\nmade\\nfailed\\n"')) == [
        'serve 7 from 1: "[exit 0]\\nfailed\\n"',
        "1 promoted, ran 30, saved 10",
    ]


def test_a_call_whose_run_did_not_answer_it_is_run() -> None:
    tell = Playbook()
    tell(0, expects(run("make")))
    tell(1, asks(7, run("make 2>&1 | tail -1")))
    assert tell(3, done(1, '"[exit 127]\\nmake: not found\\n"')) == ["run 7", "1 discarded, ran 3, saved 0"]
    assert tell(4, over(7)) == []


def test_a_failure_that_a_call_waited_for_is_its_own_only_if_it_asked_for_just_that() -> None:
    for call, then in ((run("make 2>&1 | tail -1"), "run 7"), (run("make"), "serve 7 from 1: no")):
        tell = Playbook()
        tell(0, expects(run("make")))
        tell(1, asks(7, call))
        assert tell(3, done(1, "no", Status.ERROR))[0] == then
    tell = Playbook()
    tell(0, expects(run("make")))
    tell(1, asks(7, run("make", timeout=99)))
    assert tell(3, done(1, '"[exit 0]\\n"', Status.ERROR))[0] == "run 7"


def test_a_run_that_a_call_waits_for_is_not_run_again_beside_it() -> None:
    tell = Playbook()
    tell(0, expects(run("make")))
    tell(1, asks(7, run("make 2>&1 | tail -1")))
    assert tell(2, expects(run("make"))) == ["refused run: duplicate"]
    assert tell(3, over(7, None)) == []
    assert tell(4, asks(8, run("make"))) == ["promote 1 for 8"]


def test_a_call_that_would_have_given_up_is_not_served() -> None:
    tell = Playbook()
    tell(0, expects(run("make"), expected_s=2))
    assert tell(1, asks(6, run("make", timeout=1))) == ["run 6"]
    assert tell(1, asks(7, run("make", timeout=8))) == ["promote 1 for 7"]
    assert tell(9, done(1, '"[exit 0]\\n"')) == ["run 7", "1 discarded, ran 9, saved 0"]


def test_observing_scores_the_same_calls() -> None:
    book = Playbook(mode=Mode.OBSERVE)
    book(0, expects(read(), expected_s=1))
    assert book(5, asks(7, read(head=1))) == ["run 7"]
    assert book(7, over(7)) == ["shadow 1 reused, ran 2, saved 2"]
    book(8, expects(read(), expected_s=1))
    book(8, asks(7, read(head=1)))
    assert book(9, over(7)) == ["shadow 2 discarded, ran 1, saved 0"]
    book(10, expects(run("make"), expected_s=20))
    assert book(12, asks(8, run("make 2>&1 | tail"))) == ["run 8"]
    settled = [each for each in book.scheduler.step(over(8), 30) if isinstance(each, Settled)]
    assert [(each.outcome, each.saved_s) for each in settled] == [(Outcome.PROMOTED, 2)]
