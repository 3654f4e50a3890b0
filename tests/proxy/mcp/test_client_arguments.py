"""Arguments that clients add: no part of a call where, and only where, its tool takes no notice of them."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.result import Status
from paste_proxy.proxy.mcp.client_arguments import ClientArguments
from paste_proxy.wire.mcp_tools import ListedTool

WAIT = "wait_for_previous"
TOOL = ListedTool(name="f", arguments=frozenset({"path"}))


def known() -> ClientArguments:
    return ClientArguments([WAIT])


def test_a_known_name_is_overlooked_once_a_call_with_it_came_back_good() -> None:
    arguments = known()
    assert arguments.unnoticed(TOOL) == set()
    assert not arguments.answered(TOOL, {"path": "a"}, Status.OK)
    assert not arguments.answered(TOOL, {WAIT: True}, Status.ERROR)
    assert arguments.answered(TOOL, {WAIT: False, "path": "a"}, Status.OK)
    assert arguments.unnoticed(TOOL) == {WAIT}
    assert not arguments.answered(TOOL, {WAIT: True}, Status.ERROR)
    assert arguments.unnoticed(TOOL) == {WAIT}


def test_no_other_name_ever_is() -> None:
    arguments = ClientArguments([])
    arguments.answered(TOOL, {WAIT: True}, Status.OK)
    assert arguments.unnoticed(TOOL) == set()


def test_what_the_schema_names_or_may_take_is_part_of_the_call() -> None:
    for tool in (replace(TOOL, arguments=frozenset({WAIT})), replace(TOOL, takes_others=True)):
        arguments = known()
        assert not arguments.answered(tool, {WAIT: True}, Status.OK)
        assert arguments.unnoticed(tool) == set()


def test_another_description_is_another_tool() -> None:
    arguments = known()
    arguments.answered(TOOL, {WAIT: True}, Status.OK)
    assert arguments.unnoticed(replace(TOOL, arguments=frozenset({"path", "head"}))) == set()


@given(refuses=st.booleans(), calls=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=6))
def test_it_is_overlooked_only_if_the_tool_answers_the_same_with_it_and_without(
    refuses: bool, calls: list[tuple[bool, bool]]
) -> None:
    arguments = known()
    for carries, fails in calls:
        status = Status.ERROR if fails or (carries and refuses) else Status.OK
        arguments.answered(TOOL, {WAIT: True} if carries else {}, status)
        assert not (refuses and WAIT in arguments.unnoticed(TOOL))
