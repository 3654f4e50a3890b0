"""Arguments that clients add: no part of a call where, and only where, its tool takes no notice of them."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.result import Status
from paste_proxy.proxy.mcp.client_arguments import ClientArguments
from paste_proxy.wire.mcp_tools import ListedTool, Others

WAIT = "wait_for_previous"
UNSAID = ListedTool(name="f", arguments=frozenset({"path"}))
REFUSED = replace(UNSAID, others=Others.REFUSED)


def known() -> ClientArguments:
    return ClientArguments([WAIT])


def test_a_schema_without_a_word_on_others_lets_the_known_names_be_overlooked_and_no_other() -> None:
    assert known().unnoticed(UNSAID) == {WAIT}
    assert ClientArguments([]).unnoticed(UNSAID) == set()


def test_what_the_schema_names_or_may_take_is_part_of_the_call() -> None:
    for tool in (replace(UNSAID, arguments=frozenset({WAIT})), replace(UNSAID, others=Others.TAKEN)):
        arguments = known()
        assert not arguments.answered(tool, {WAIT: True}, Status.OK)
        assert arguments.unnoticed(tool) == set()


def test_a_schema_that_refuses_others_is_not_believed_once_a_call_with_one_came_back_good() -> None:
    arguments = known()
    assert arguments.unnoticed(REFUSED) == set()
    assert not arguments.answered(REFUSED, {"path": "a"}, Status.OK)
    assert not arguments.answered(REFUSED, {WAIT: True}, Status.ERROR)
    assert arguments.answered(REFUSED, {WAIT: False, "path": "a"}, Status.OK)
    assert arguments.unnoticed(REFUSED) == {WAIT}
    assert not arguments.answered(REFUSED, {WAIT: True}, Status.ERROR)
    assert arguments.unnoticed(REFUSED) == {WAIT}


def test_a_bad_answer_raises_a_doubt_until_a_good_one() -> None:
    arguments = known()
    assert arguments.answered(UNSAID, {WAIT: True}, Status.ERROR)
    assert arguments.unnoticed(UNSAID) == set()
    assert arguments.answered(UNSAID, {WAIT: True}, Status.OK)
    assert arguments.unnoticed(UNSAID) == {WAIT}


def test_another_description_is_another_tool() -> None:
    arguments = known()
    arguments.answered(REFUSED, {WAIT: True}, Status.OK)
    assert arguments.unnoticed(replace(REFUSED, arguments=frozenset({"path", "head"}))) == set()


@given(
    closed=st.booleans(),
    refuses=st.booleans(),
    calls=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=6),
)
def test_once_it_has_answered_a_call_with_the_argument_a_tool_is_judged_as_it_is(
    closed: bool, refuses: bool, calls: list[tuple[bool, bool]]
) -> None:
    """Whatever it lists: the argument is overlooked only if the tool answers the same with it and without it."""
    arguments, tool = known(), REFUSED if closed else UNSAID
    shown = False
    for carries, fails in calls:
        status = Status.ERROR if fails or (carries and refuses) else Status.OK
        arguments.answered(tool, {WAIT: True} if carries else {}, status)
        shown = shown or carries
        if shown and WAIT in arguments.unnoticed(tool):
            assert not refuses
