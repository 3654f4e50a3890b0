"""What a session's traffic shows: which tools stand on offer, which calls are the same, what was cancelled."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.proxy.mcp import watch as watch_module
from paste_proxy.proxy.mcp.client_arguments import ClientArguments
from paste_proxy.proxy.mcp.exchange import Exchange, TakenBack
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.proxy.ports import NO_ARGUMENTS, AgentCall, Decision
from paste_proxy.speculation.hints import NO_HINTS, Hints
from paste_proxy.testing import FakeGate
from paste_proxy.tools.backend import Backend
from paste_proxy.tools.mcp_hello import Hello
from paste_proxy.wire.jsonrpc import Notification, Request, Response
from paste_proxy.wire.mcp import Era, McpToolCall, tool_call
from paste_proxy.wire.mcp_tools import ListedTool
from tests.proxy.mcp.parts import until

WAIT = "wait_for_previous"
GOOD, BAD = b'{"content":[]}', b'{"isError":true}'
CLOSED = b'{"tools":[{"name":"look","inputSchema":{"additionalProperties":false}},{"name":"gone"}]}'


class Idle:
    """A backend that nobody uses."""

    def warm(self) -> None:
        return

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        raise AssertionError(invocation)

    async def list_tools(self) -> tuple[ListedTool, ...]:
        raise AssertionError

    async def retire(self) -> None:
        return

    async def close(self) -> None:
        return


class Gate(FakeGate):
    """Notes what calls are offered as the same, and holds every question until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.beside: Mapping[str, frozenset[str]] = {}
        self.go = asyncio.Event()
        self.go.set()

    def offer(
        self,
        scope: str,
        server: str,
        backend: Backend,
        tools: Iterable[str],
        *,
        session: str | None = None,
        beside: Mapping[str, frozenset[str]] = NO_ARGUMENTS,
        hints: Mapping[str, Hints] = NO_HINTS,
    ) -> None:
        super().offer(scope, server, backend, tools, hints=hints)
        self.beside = beside

    async def ask(self, call: AgentCall) -> Decision:
        await self.go.wait()
        return await super().ask(call)

    def tools(self) -> dict[str, tuple[str, ...]]:
        """Scope -> tools on offer."""
        return {scope: tools for (scope, _), (_, tools) in self.offers.items()}


def watching(gate: Gate) -> McpWatch:
    watch = McpWatch(gate, "s", "scope", lambda hello, tools: Idle(), ClientArguments([WAIT]))
    answered(watch, "initialize", b'{"protocolVersion":"2025-11-25"}')
    return watch


def answered(watch: McpWatch, method: str, result: bytes) -> None:
    exchange = watch.begin(Request(b"1", method, b"{}"))
    assert exchange is not None
    exchange.over(Response(b"1", result, None))


def a_call(id_raw: bytes = b"7", arguments: bytes = b"{}") -> McpToolCall:
    call = tool_call(Request(id_raw, "tools/call", b'{"name":"look","arguments":' + arguments + b"}"))
    assert call is not None
    return call


async def run(watch: McpWatch, arguments: bytes, result: bytes) -> None:
    exchange = await watch.ask(a_call(arguments=arguments))
    assert isinstance(exchange, Exchange)
    exchange.over(Response(b"7", result, None))


async def test_tools_are_offered_anew_when_an_answer_shows_that_an_argument_is_not_read() -> None:
    gate = Gate()
    watch = watching(gate)
    answered(watch, "tools/list", CLOSED)
    assert gate.beside == {}
    await run(watch, b'{"wait_for_previous":true}', BAD)
    assert gate.beside == {}
    await run(watch, b'{"wait_for_previous":true}', GOOD)
    assert gate.beside == {"s/look": {WAIT}}


async def test_tools_that_changed_are_offered_only_when_the_client_has_listed_them_again_and_under_a_new_scope() -> (
    None
):
    gate = Gate()
    watch = watching(gate)
    answered(watch, "tools/list", CLOSED)
    assert gate.tools() == {"scope": ("s/look", "s/gone")}
    watch.server_sent(Notification("notifications/tools/list_changed", None))
    assert gate.tools() == {}
    await run(watch, b'{"wait_for_previous":true}', GOOD)
    assert gate.tools() == {}
    assert gate.asked[-1].scope == "scope~1"
    answered(watch, "tools/list", b'{"tools":[{"name":"look"}]}')
    assert gate.tools() == {"scope~1": ("s/look",)}


async def test_what_the_server_says_of_its_tools_is_offered_with_them() -> None:
    gate = Gate()
    watch = watching(gate)
    hints = b'"annotations":{"readOnlyHint":true,"openWorldHint":false}'
    answered(watch, "tools/list", b'{"tools":[{"name":"look",' + hints + b'},{"name":"put"}]}')
    assert gate.hints == {"s/look": Hints(read_only=True, open_world=False), "s/put": Hints()}
    answered(watch, "tools/list", b'{"tools":[{"name":"look"},{"name":"put"}]}')
    assert gate.hints == {"s/look": Hints(), "s/put": Hints()}


async def test_what_was_run_ahead_under_other_roots_is_out_of_reach() -> None:
    gate = Gate()
    watch = watching(gate)
    answered(watch, "tools/list", CLOSED)
    watch.server_sent(Request(b"9", "roots/list", None))
    watch.client_sent(Response(b"9", b'{"roots":[1]}', None))
    assert list(gate.tools()) == ["scope~1"]
    watch.server_sent(Request(b"10", "roots/list", None))
    watch.client_sent(Response(b"10", b'{"roots":[1]}', None))
    assert list(gate.tools()) == ["scope~1"]
    watch.client_sent(Notification("notifications/roots/list_changed", None))
    assert list(gate.tools()) == ["scope~2"]


async def test_a_call_cancelled_before_it_is_decided_is_neither_run_nor_answered() -> None:
    gate = Gate()
    gate.go.clear()
    watch = watching(gate)
    asking = asyncio.create_task(watch.ask(a_call(), revocable=True))
    other = asyncio.create_task(watch.ask(a_call(b'"7"'), revocable=True))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    watch.client_sent(Notification("notifications/cancelled", b'{"requestId":7}'))
    assert isinstance(await asking, TakenBack)
    gate.go.set()
    assert isinstance(await other, Exchange)


async def test_a_call_that_others_could_have_the_id_of_is_not_taken_back() -> None:
    gate = Gate()
    gate.go.clear()
    watch = watching(gate)
    asking = asyncio.create_task(watch.ask(a_call()))
    await asyncio.sleep(0)
    watch.client_sent(Notification("notifications/cancelled", b'{"requestId":7}'))
    gate.go.set()
    assert isinstance(await asking, Exchange)


async def test_a_cancelled_call_that_runs_ends_although_no_answer_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "CANCELLED_S", 0.05)
    gate = Gate()
    watch = watching(gate)
    late, soon = await watch.ask(a_call(b"1"), revocable=True), await watch.ask(a_call(b"2"), revocable=True)
    assert isinstance(soon, Exchange)
    assert isinstance(late, Exchange)
    for number in (b"1", b"2"):
        watch.client_sent(Notification("notifications/cancelled", b'{"requestId":' + number + b"}"))
    soon.over(Response(b"2", GOOD, None))
    await until(lambda: len(gate.over) == 2)
    assert gate.over == {1: None, 2: ToolResult(body=GOOD, status=Status.OK)}


async def test_an_answer_that_finds_its_asker_gone_is_given_back() -> None:
    gate = Gate()
    gate.go.clear()
    watch = watching(gate)
    asking: asyncio.Task[Any] = asyncio.create_task(watch.ask(a_call()))
    await asyncio.sleep(0)
    gate.go.set()
    for _ in range(3):  # the answer is there, and its asker has not yet had its turn
        if not gate.asked:
            await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(gate.over) == len(gate.asked) == 1


ALICE, BOB = (
    (("Authorization", "Bearer alice"), ("X-Tenant", "t")),
    (("Authorization", "Bearer bob"), ("X-Tenant", "t")),
)
PING = Notification("notifications/initialized", None)


async def test_what_was_run_ahead_with_other_credentials_is_out_of_reach_of_the_same_session() -> None:
    gate = Gate()
    presented: list[str] = []

    def make(hello: Callable[[], Hello], tools: object) -> Idle:
        presented.append(dict(hello().headers)["Authorization"])
        return Idle()

    watch = McpWatch(gate, "s", "scope", make, ClientArguments([WAIT]))
    watch.client_sent(PING, ALICE)
    answered(watch, "initialize", b'{"protocolVersion":"2025-11-25"}')
    answered(watch, "tools/list", CLOSED)
    watch.client_sent(PING, ALICE[::-1])
    assert list(gate.tools()) == ["scope"]
    asking = asyncio.create_task(watch.ask(a_call()))
    await asyncio.sleep(0)
    watch.client_sent(PING, BOB)
    assert gate.tools() == {}
    await watch.ask(a_call())
    await asking
    watch.client_sent(PING, BOB)
    assert list(gate.tools()) == ["scope~1"]
    watch.client_sent(PING, ())
    watch.client_sent(PING, ALICE)
    assert gate.tools() == {}
    await watch.ask(a_call())
    watch.client_sent(PING, ALICE)
    assert list(gate.tools()) == ["scope~2"]
    assert [asked.scope for asked in gate.asked] == ["scope", "scope~1", "scope~2"]
    assert presented == ["Bearer alice", "Bearer bob", "Bearer alice"]
    watch.close()
    await watch.closed()


def a_modern_request(method: str, said: str, more: str = "") -> Request:
    meta = (
        f'{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{said}{more}}}'
    )
    return Request(b"7", method, f'{{"name":"look","_meta":{meta}}}'.encode())


@pytest.mark.parametrize(
    ("said", "more", "scope"),
    [
        ('{"name":"a"}', "", "scope"),
        ('{ "name" : "a" }', ',"progressToken":3', "scope"),
        ('{"name":"b"}', "", "scope#apart"),
        ('{"name":"a"}', ',"io.modelcontextprotocol/logLevel":"debug"', "scope#apart"),
        ('{"name":"a"}', ',"acme/tenant":"T1"', "scope#apart"),
    ],
)
async def test_a_call_that_tells_the_server_something_else_than_the_session_did_is_run(
    said: str, more: str, scope: str
) -> None:
    gate = Gate()
    watch = McpWatch(gate, "s", "scope", lambda hello, tools: Idle())
    listing = watch.begin(a_modern_request("tools/list", '{"name":"a"}'))
    assert listing is not None
    listing.over(Response(b"7", CLOSED, None))
    call = tool_call(a_modern_request("tools/call", said, more))
    assert call is not None
    await watch.ask(call)
    assert gate.asked[-1].scope == scope


class Listing(Idle):
    """A backend that lists these tools once it may, or cannot."""

    def __init__(self, *tools: ListedTool) -> None:
        self.tools, self.asked = tools, 0
        self.go = asyncio.Event()

    async def list_tools(self) -> tuple[ListedTool, ...]:
        self.asked += 1
        await self.go.wait()
        if not self.tools:
            raise UpstreamFault("no list")
        return self.tools


def calling(gate: Gate, backend: Listing, *, lists: bool = True) -> McpWatch:
    """The watch of a client that has opened its session."""
    watch = McpWatch(gate, "s", "scope", lambda hello, tools: backend, lists=lists)
    answered(watch, "initialize", b'{"protocolVersion":"2025-11-25"}')
    return watch


TWO = (ListedTool(name="look"), ListedTool(name="far", mirrored=(("Mcp-Param-X", ("x",)),)))


async def test_tools_that_the_client_calls_and_never_lists_are_listed_by_a_session_of_ours() -> None:
    gate, backend = Gate(), Listing(*TWO)
    watch = calling(gate, backend)
    refused = await watch.ask(a_call())
    assert isinstance(refused, Exchange)
    refused.over(Response(b"7", None, b'{"code":-32602}'))
    assert backend.asked == 0
    await run(watch, b"{}", GOOD)
    await run(watch, b"{}", GOOD)
    backend.go.set()
    await until(gate.tools)
    assert (backend.asked, gate.tools()) == (1, {"scope": ("s/look",)})
    assert watch.tool("far").mirrored == ()
    watch.server_sent(Notification("notifications/tools/list_changed", None))
    assert gate.tools() == {}
    await run(watch, b"{}", GOOD)
    await until(gate.tools)
    assert (backend.asked, gate.tools()) == (2, {"scope~1": ("s/look",)})
    watch.close()
    await watch.closed()


async def test_a_client_that_lists_tools_is_left_to_it() -> None:
    gate, backend = Gate(), Listing(*TWO)
    watch = calling(gate, backend)
    await run(watch, b"{}", GOOD)
    answered(watch, "tools/list", CLOSED)
    assert gate.tools() == {"scope": ("s/look", "s/gone")}
    backend.go.set()
    await asyncio.sleep(0)
    watch.server_sent(Notification("notifications/tools/list_changed", None))
    await run(watch, b"{}", GOOD)
    assert (backend.asked, gate.tools()) == (1, {})
    watch.close()
    await watch.closed()


async def test_where_no_policy_lets_anything_be_run_ahead_nothing_is_listed() -> None:
    gate, backend = Gate(), Listing(*TWO)
    watch = calling(gate, backend, lists=False)
    await run(watch, b"{}", GOOD)
    assert backend.asked == 0


async def test_a_list_that_cannot_be_had_is_asked_for_a_few_times() -> None:
    gate, backend = Gate(), Listing()
    backend.go.set()
    watch = calling(gate, backend)
    for _ in range(9):
        await run(watch, b"{}", GOOD)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert (backend.asked, gate.tools()) == (3, {})


async def test_a_client_of_the_stateless_era_introduces_itself_with_its_call() -> None:
    gate, backend = Gate(), Listing(*TWO)
    backend.go.set()
    told: list[Hello] = []

    def make(hello: Callable[[], Hello], tools: object) -> Listing:
        told.append(hello())
        return backend

    watch = McpWatch(gate, "s", "scope", make, lists=True)
    call = tool_call(a_modern_request("tools/call", '{"name":"a"}'))
    assert call is not None
    asked = await watch.ask(call)
    assert isinstance(asked, Exchange)
    asked.over(Response(b"7", GOOD, None))
    await until(gate.tools)
    assert (told[0].era, told[0].version) == (Era.STATELESS, "2026-07-28")
    assert b'{"name":"a"}' in told[0].introduction
    watch.close()
    await watch.closed()
