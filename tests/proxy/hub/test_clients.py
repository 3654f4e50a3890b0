"""The hub with what real clients do to requests, names and arguments."""

import asyncio

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import ToolCall, ToolOutput
from paste_proxy.proxy.hub.observed import AnswerSeen, CallSeen, Exchange, RequestSeen
from paste_proxy.proxy.hub.reading import reading
from paste_proxy.proxy.ports import AgentCall, RunIt, ServeIt
from paste_proxy.wire.types import LlmRequest, Message, SeenCall, SeenOutput, TurnEnd
from tests.proxy.hub.test_hub import World, after_user, user, world

CAT = Invocation("fs/cat", {"f": 1})


async def ask(w: World, *messages: Message, tools: tuple[str, ...] = (), utility: bool = False) -> Exchange:
    exchange = Exchange()
    request = LlmRequest(model="m", stream=True, messages=messages, tools=tools, utility=utility)
    w.hub.post(RequestSeen(exchange, reading(request), "s"))
    await w.settle()
    return exchange


def calling(name: str, **arguments: int | bool) -> SeenCall:
    return SeenCall(order=0, call_id="c", name=name, arguments={**arguments})


async def test_a_side_question_is_no_turn_of_the_session() -> None:
    async with world(after_user) as w:
        exchange = await ask(w, user("give this talk a title"), utility=True)
        w.hub.post(CallSeen(exchange, calling("read")))
        w.hub.post(AnswerSeen(exchange, TurnEnd(text="Talk", calls=(), complete=True, digest=b"d"), 1.0))
        await w.settle()
        assert (w.log.events, w.backend.started, len(w.sessions)) == ([], [], 0)
        assert (w.tally.turns, w.tally.utility_turns, w.tally.llm_s) == (0, 1, 0)


async def test_arguments_that_the_client_added_do_not_part_a_call_from_its_run_ahead() -> None:
    async with world() as w:
        w.hub.offer("conn", "fs", w.backend, ["fs/cat"], session="s", beside={"fs/cat": frozenset({"wait"})})
        exchange = await ask(w, user("go"), tools=("mcp_fs_cat",))
        w.hub.post(CallSeen(exchange, calling("mcp_fs_cat", f=1, wait=False)))
        await w.settle()
        assert w.backend.started == [CAT]
        w.backend.answer.set_result(ToolResult(body=b"{}"))
        await w.settle()
        call = AgentCall(invocation=Invocation("fs/cat", {"f": 1, "wait": True}), scope="conn")
        assert isinstance(await asyncio.wait_for(w.hub.ask(call), 5), ServeIt)


async def test_a_client_that_spells_servers_means_its_own_tool_by_a_bare_name() -> None:
    async with world() as w:
        w.hub.offer("conn", "fs", w.backend, ["fs/cat"], session="s")
        exchange = await ask(w, user("go"), tools=("cat", "mcp__fs__cat"))
        w.hub.post(CallSeen(exchange, calling("cat", f=1)))
        await w.settle()
        assert w.backend.started == []


async def test_a_call_through_another_tool_is_run_ahead_as_the_call_that_it_makes() -> None:
    async with world() as w:
        w.hub.offer("conn", "fs", w.backend, ["fs/cat"], session="s")
        exchange = await ask(w, user("go"))
        inner = SeenCall(
            order=0, call_id="c", name="tool_call", arguments={"name": "mcp__fs__cat", "arguments": {"f": 1}}
        )
        w.hub.post(CallSeen(exchange, inner))
        await w.settle()
        assert w.backend.started == [CAT]


async def test_a_bare_name_may_be_the_clients_own_write_until_it_comes_through() -> None:
    async with world(after_user) as w:
        w.hub.offer("conn", "notes", w.backend, ["notes/put"], session="s")
        await ask(w, user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"old"))
        exchange = await ask(w, user("read a"), user("go"))
        w.hub.post(CallSeen(exchange, calling("put")))
        await w.settle()
        assert isinstance(await w.ask(Invocation("read", {"path": "a"})), RunIt)


async def test_what_the_client_ran_by_itself_is_counted_by_tool() -> None:
    async with world() as w:
        exchange = await ask(w, user("go"))
        w.hub.post(CallSeen(exchange, calling("own_tool")))
        w.hub.post(AnswerSeen(exchange, TurnEnd(text="", calls=(), complete=True, digest=b"d"), 1.0))
        done = SeenOutput(call_id="c", output="done")
        await ask(w, user("go"), Message(role="tool", text="done", digest=b"t", output=done))
        assert dict(w.tally.past) == {"own_tool": 1}


async def test_a_result_that_the_wire_calls_failed_is_an_error_in_the_log() -> None:
    async with world() as w:
        exchange = await ask(w, user("go"))
        w.hub.post(CallSeen(exchange, calling("own_tool")))
        w.hub.post(AnswerSeen(exchange, TurnEnd(text="", calls=(), complete=True, digest=b"d"), 1.0))
        failed = SeenOutput(call_id="c", output="no such file", failed=True)
        await ask(w, user("go"), Message(role="tool", text="no such file", digest=b"t", output=failed))
        call, output = [event for event in w.log.events if isinstance(event, ToolCall | ToolOutput)]
        assert isinstance(call, ToolCall)
        assert isinstance(output, ToolOutput)
        assert (output.tool, output.status) == ("own_tool", Status.ERROR)
