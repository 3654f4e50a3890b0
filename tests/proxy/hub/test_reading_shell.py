"""A shell's reading commands are a tool of their own where something runs such ahead, and only there."""

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.observed import CallSeen
from paste_proxy.proxy.hub.session import AskedCall
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.ports import AgentCall, RunIt, ServeIt
from paste_proxy.speculation.reading_commands import READ_SHELL
from paste_proxy.wire.types import SeenCall
from tests.proxy.hub.test_hub import READ, after_user, user, world
from tests.proxy.hub.test_session import session_with
from tests.proxy.hub.test_toolbox import Still

LOOK: dict[str, Json] = {"command": "grep -r x . | wc -l", "description": "Count"}


@pytest.mark.parametrize("shell", ["Bash", "run_shell_command"])
def test_a_reading_command_is_told_from_the_others(shell: str) -> None:
    toolbox = Toolbox()
    assert toolbox.resolve(shell, LOOK).invocation == Invocation(shell, LOOK)
    toolbox.offer("", "", Still(), [READ_SHELL])
    assert toolbox.resolve(shell, LOOK).invocation == Invocation(READ_SHELL, {"command": "grep -r x . | wc -l"})
    assert toolbox.knows(READ_SHELL)
    write: dict[str, Json] = {"command": "rm -r ."}
    assert toolbox.resolve(shell, write).invocation == Invocation(shell, write)
    assert not toolbox.knows(shell)


def test_a_call_is_alone_when_its_turn_asks_for_nothing_else() -> None:
    look, other = Invocation(READ_SHELL, {}), Invocation("Bash", {})
    earlier, first = AskedCall(1, 0, "a", other), AskedCall(2, 0, "b", look)
    session = session_with(earlier, first)
    assert session.alone(first)
    session.asked(AskedCall(2, 1, "c", other))
    assert not session.alone(first)
    assert session.alone(earlier)


@pytest.mark.parametrize("others", [0, 1])
async def test_a_result_that_is_of_use_to_a_lone_call_only_is_kept_from_others(others: int) -> None:
    async with world(after_user) as w:
        exchange = await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"1"))
        for order in range(1 + others):
            seen = SeenCall(order=order, call_id=str(order), name="read", arguments={"path": "ab"[order]})
            w.hub.post(CallSeen(exchange, seen))
        await w.settle()
        decision = await w.hub.ask(AgentCall(invocation=READ, session="s", alone=True))
        assert isinstance(decision, RunIt if others else ServeIt)
        if isinstance(decision, RunIt):
            w.hub.ended(decision.ticket, None)
        await w.settle()
        assert not w.tally.faults


async def test_a_call_that_no_turn_is_known_to_ask_for_is_not_known_to_be_alone() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"1"))
        await w.settle()
        assert isinstance(await w.hub.ask(AgentCall(invocation=READ, session="s", alone=True)), RunIt)
