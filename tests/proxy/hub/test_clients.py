"""The hub with what real clients do to requests, names and arguments."""

import asyncio

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import ToolCall, ToolOutput
from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.observed import AnswerSeen, CallSeen, Exchange, RequestSeen, Tunnel
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


def calling(name: str, **arguments: int | bool | str) -> SeenCall:
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


MESSAGE_READ = Invocation("read", {"path": "a"})


async def read_ahead(w: World) -> None:
    """`read a` has run ahead and its result waits."""
    await ask(w, user("read a"))
    w.backend.answer.set_result(ToolResult(body=b"old"))
    await w.settle()


def made(name: str, **arguments: int) -> tuple[Message, Message]:
    """A call and its result, as the history has them."""
    return (
        Message(role="assistant", text="", digest=b"a", calls=(calling(name, **arguments),)),
        Message(role="tool", text="done", digest=b"t", output=SeenOutput(call_id="c", output="done")),
    )


async def test_a_write_that_only_the_history_shows_voids_what_was_read_before_it() -> None:
    async with world(after_user) as w:
        await read_ahead(w)
        await ask(w, user("read a"), *made("own_editor"))
        assert isinstance(await w.ask(MESSAGE_READ), RunIt)


async def test_a_read_that_only_the_history_shows_voids_nothing() -> None:
    async with world(after_user) as w:
        await read_ahead(w)
        await ask(w, user("read a"), *made("read", path=1))
        assert isinstance(await w.ask(MESSAGE_READ), ServeIt)


async def test_a_known_tools_write_that_the_client_runs_by_itself_voids_what_was_read_before_it() -> None:
    async with world(after_user) as w:
        await read_ahead(w)
        exchange = await ask(w, user("read a"))
        w.hub.post(CallSeen(exchange, calling("write", path=1)))
        w.hub.post(AnswerSeen(exchange, TurnEnd(text="", calls=(), complete=True, digest=b"a"), 1.0))
        await ask(w, user("read a"), *made("write", path=1))
        assert isinstance(await w.ask(MESSAGE_READ), RunIt)


async def test_an_answer_that_may_hold_unseen_calls_voids_everything() -> None:
    for unread, kind in ((True, RunIt), (False, ServeIt)):
        async with world(after_user) as w:
            await read_ahead(w)
            exchange = await ask(w, user("read a"))
            w.hub.post(AnswerSeen(exchange, TurnEnd(text="", calls=(), complete=False), 1.0, unread))
            await w.settle()
            assert isinstance(await w.ask(MESSAGE_READ), kind)


async def test_while_a_connection_is_open_that_nobody_can_read_nothing_is_served() -> None:
    async with world(after_user) as w:
        await read_ahead(w)
        w.hub.post(Tunnel(1, open=True))
        await w.settle()
        running = await w.ask(MESSAGE_READ)
        assert isinstance(running, RunIt)
        w.clock.advance(2.0)
        w.hub.ended(running.ticket, ToolResult(body=b"new"))
        await ask(w, user("read a"), user("read it again"))
        assert len(w.backend.started) == 1
        w.hub.post(Tunnel(1, open=False))
        await ask(w, user("read a"), user("read it again"), user("and again"))
        assert len(w.backend.started) == 2


@pytest.mark.parametrize("name", ["write", "tool_call"])
async def test_a_bare_name_that_a_rule_knows_as_the_clients_own_write_counts_as_that_too(name: str) -> None:
    async with world(after_user) as w:
        w.hub.withdraw("")
        w.hub.offer("", "", w.backend, ["read"])
        w.hub.offer("conn", "fs", w.backend, ["fs/write"], session="s")
        await read_ahead(w)
        exchange = await ask(w, user("read a"))
        arguments: dict[str, Json] = {"name": "write", "arguments": {"path": "a"}}
        w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id="c", name=name, arguments=arguments)))
        await w.settle()
        assert isinstance(await w.ask(MESSAGE_READ), RunIt), "all tools of fs read, but this may be the other"


async def test_a_bare_name_that_no_rule_knows_is_the_servers_tool_and_runs_ahead() -> None:
    async with world() as w:
        w.hub.offer("conn", "fs", w.backend, ["fs/cat"], session="s")
        exchange = await ask(w, user("go"), tools=("cat",))
        w.hub.post(CallSeen(exchange, calling("cat", f=1)))
        await w.settle()
        assert w.backend.started == [CAT]


async def test_a_name_that_may_be_a_cut_one_is_not_judged_as_the_whole() -> None:
    whole = "fs/search_all_documents_of_this_company_by_customer_id_and_year"
    cut = "mcp_fs_search_all_documents_o...any_by_customer_id_and_year"
    async with world(after_user) as w:
        w.hub.offer("conn", "fs", w.backend, [whole], session="s")
        await read_ahead(w)
        exchange = await ask(w, user("read a"))
        w.hub.post(CallSeen(exchange, calling(cut)))
        await w.settle()
        assert w.backend.started == [MESSAGE_READ]
        assert isinstance(await w.ask(MESSAGE_READ), RunIt)
