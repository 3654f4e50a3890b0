"""A blocking agent behind the SDK: what it gets, and who ran it."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextvars import ContextVar

import pytest

from paste_proxy import Sidecar
from paste_proxy.events.result import Status
from tests.agents.scripted import SOON, Served, served


@pytest.fixture
async def sidecar() -> AsyncIterator[Served]:
    async with served() as live:
        yield live


async def test_a_call_nobody_foresaw_runs_in_the_callers_thread_and_is_reported(sidecar: Served) -> None:
    def agent() -> tuple[list[str], int, int]:
        with Sidecar(sidecar.url, patience_s=SOON, session="task") as paste:
            ran_in: list[int] = []

            @paste.tool
            def search(query: str, limit: int = 3) -> list[str]:
                ran_in.append(threading.get_ident())
                return [query] * limit

            with paste.call_id("call_7"):
                return search("x"), ran_in[0], threading.get_ident()

    value, ran_in, own = await asyncio.to_thread(agent)
    assert value == ["x"] * 3
    assert ran_in == own
    (call,) = sidecar.gate.asked
    assert (call.session, call.call_id) == ("task", "call_7")
    assert call.invocation.arguments == {"query": "x"}, "defaults are left out, as the LLM left them out"
    await sidecar.gate.until(lambda: bool(sidecar.gate.over))
    (result,) = sidecar.gate.over.values()
    assert result is not None
    assert result.status is Status.OK
    assert result.value() == ["x"] * 3


async def test_a_reused_result_is_the_very_object_the_job_returned(sidecar: Served) -> None:
    made: list[object] = []
    go = threading.Event()

    def agent() -> tuple[object, int, int]:
        with Sidecar(sidecar.url, patience_s=SOON, session="task") as paste:

            @paste.tool
            def fetch(url: str) -> object:
                made.append(object())
                return made[-1]

            assert go.wait(SOON)
            return fetch(url="u"), paste.stats.reused, paste.stats.run

    running = asyncio.create_task(asyncio.to_thread(agent))
    await (await sidecar.gate.launch("task", "fetch", {"url": "u"}))
    go.set()
    value, reused, run = await running
    assert made == [value]
    assert (reused, run) == (1, 0)


async def test_a_promoted_call_waits_for_the_running_job(sidecar: Served) -> None:
    entered, leave = threading.Event(), threading.Event()
    runs: list[str] = []

    def agent() -> tuple[str, int]:
        with Sidecar(sidecar.url, patience_s=SOON, session="task") as paste:

            @paste.tool
            def fetch(url: str) -> str:
                runs.append(url)
                entered.set()
                assert leave.wait(SOON)
                return url.upper()

            assert entered.wait(SOON)
            return fetch("u"), paste.stats.promoted

    running = asyncio.create_task(asyncio.to_thread(agent))
    await sidecar.gate.launch("task", "fetch", {"url": "u"})
    await sidecar.gate.until(lambda: bool(sidecar.gate.asked))
    leave.set()
    assert await running == ("U", 1)
    assert runs == ["u"]


async def test_an_exception_in_a_promoted_job_is_the_agents_own(sidecar: Served) -> None:
    entered, leave = threading.Event(), threading.Event()
    fault = KeyError("nothing there")

    def agent() -> BaseException:
        with Sidecar(sidecar.url, patience_s=SOON, session="task") as paste:

            @paste.tool
            def fetch(url: str) -> str:
                entered.set()
                assert leave.wait(SOON)
                raise fault

            assert entered.wait(SOON)
            with pytest.raises(KeyError) as caught:
                fetch("u")
            return caught.value

    running = asyncio.create_task(asyncio.to_thread(agent))
    job = await sidecar.gate.launch("task", "fetch", {"url": "u"})
    await sidecar.gate.until(lambda: bool(sidecar.gate.asked))
    leave.set()
    assert await running is fault
    assert (await job).status is Status.ERROR


async def test_an_exception_of_the_agents_own_run_is_raised_and_reported(sidecar: Served) -> None:
    def agent() -> None:
        with Sidecar(sidecar.url, patience_s=SOON) as paste:

            @paste.tool
            def fetch(url: str) -> str:
                raise ValueError(url)

            with pytest.raises(ValueError, match="u"):
                fetch("u")

    await asyncio.to_thread(agent)
    await sidecar.gate.until(lambda: bool(sidecar.gate.over))
    (result,) = sidecar.gate.over.values()
    assert result is not None
    assert (result.status, result.body) == (Status.ERROR, b"ValueError: u")


async def test_a_wrapped_dispatch_function_learns_its_tools_and_serves_them(sidecar: Served) -> None:
    learnt, go = threading.Event(), threading.Event()

    def agent() -> tuple[list[object], int]:
        with Sidecar(sidecar.url, patience_s=SOON, session="task") as paste:

            def dispatch(name: str, arguments: dict[str, object]) -> object:
                return [name, arguments]

            wrapped = paste.wrap(dispatch)
            first = wrapped("read", {"path": "a"})
            learnt.set()
            assert go.wait(SOON)
            return [first, wrapped("read", {"path": "b"})], paste.stats.reused

    running = asyncio.create_task(asyncio.to_thread(agent))
    await (await sidecar.gate.launch("task", "read", {"path": "b"}))
    go.set()
    values, reused = await running
    assert values == [["read", {"path": "a"}], ["read", {"path": "b"}]]
    assert reused == 1


async def test_two_sessions_in_one_process_never_share_a_result(sidecar: Served) -> None:
    who: ContextVar[str] = ContextVar("who")
    ready, go = threading.Barrier(3), threading.Event()

    def agent(paste: Sidecar, name: str) -> list[str]:
        who.set(name)

        def dispatch(tool: str, arguments: dict[str, object]) -> str:
            return f"{tool} for {who.get()}"

        wrapped = paste.wrap(dispatch)
        with paste.session(name):
            first = wrapped("whoami", {})
            ready.wait(SOON)
            assert go.wait(SOON)
            return [first, wrapped("whoami", {})]

    paste = Sidecar(sidecar.url, patience_s=SOON)
    tasks = [asyncio.create_task(asyncio.to_thread(agent, paste, name)) for name in ("anna", "bert")]
    await asyncio.to_thread(ready.wait, SOON)
    job = await sidecar.gate.launch("anna", "whoami", {})
    assert (await job).value() == "whoami for anna", "a job finds the context variables of its session"
    go.set()
    anna, bert = await asyncio.gather(*tasks)
    assert anna == ["whoami for anna"] * 2
    assert bert == ["whoami for bert"] * 2
    assert (paste.stats.reused, paste.stats.run) == (1, 3)
    await sidecar.gate.until(lambda: len(sidecar.gate.withdrawn) == 2)
    await asyncio.to_thread(paste.close)


@pytest.mark.parametrize("everywhere", [True, False])
async def test_a_session_may_want_nothing_run_ahead(sidecar: Served, everywhere: bool) -> None:
    paste = Sidecar(sidecar.url, patience_s=SOON, speculate=not everywhere)

    @paste.tool
    def read(path: str) -> str:
        return path

    def agent() -> None:
        with paste.session("quiet", speculate=False):
            read("a")
        with paste.session("open"):
            read("a")
            with paste.session("open", speculate=False):
                read("b")
            read("c")

    await asyncio.to_thread(agent)
    told = [(call.session, call.invocation.arguments["path"], call.ahead) for call in sidecar.gate.asked]
    assert told == [
        ("quiet", "a", False),
        ("open", "a", not everywhere),
        ("open", "b", False),
        ("open", "c", False),
    ]
    await asyncio.to_thread(paste.close)


async def test_what_was_offered_before_a_session_wants_nothing_run_ahead_is_offered_no_more(sidecar: Served) -> None:
    paste = Sidecar(sidecar.url, patience_s=SOON)

    @paste.tool
    def read(path: str) -> str:
        return path

    with paste.session("task"):
        await asyncio.to_thread(read, "a")
        scope = await sidecar.gate.scope_offering("task", "read")
        with paste.session("task", speculate=False):
            await sidecar.gate.until(lambda: sidecar.gate.offers[scope][1] == frozenset())
    await asyncio.to_thread(paste.close)


async def test_a_value_made_by_another_function_of_the_same_name_is_not_used(sidecar: Served) -> None:
    go = threading.Event()

    def agent() -> tuple[str, int]:
        with Sidecar(sidecar.url, patience_s=SOON, session="task") as paste:
            old = paste.wrap(lambda name, arguments: "old", tools=["read"])
            new = paste.wrap(lambda name, arguments: "new")
            assert old("other", {}) == "old"
            assert go.wait(SOON)
            return new("read", {}), paste.stats.missing

    running = asyncio.create_task(asyncio.to_thread(agent))
    assert (await (await sidecar.gate.launch("task", "read", {}))).value() == "old"
    go.set()
    assert await running == ("new", 1)
    # The run is announced, as one that cannot be served.
    await sidecar.gate.until(lambda: sidecar.gate.asked[-1].invocation.arguments != {})
    assert sidecar.gate.asked[-1].invocation.tool == "read"


async def test_what_is_not_json_runs_plainly_but_is_counted(sidecar: Served) -> None:
    def agent() -> tuple[object, int]:
        with Sidecar(sidecar.url, patience_s=SOON) as paste:

            @paste.tool
            def same(value: object) -> object:
                return value

            pair = (1, 2)
            assert same(pair) is pair
            return same(float("inf")), paste.stats.unreadable

    assert await asyncio.to_thread(agent) == (float("inf"), 2)
    assert len({call.invocation.key for call in sidecar.gate.asked}) == 2
    assert all("value" not in call.invocation.arguments for call in sidecar.gate.asked)


async def test_a_tool_called_by_a_tool_is_no_call_of_the_agents(sidecar: Served) -> None:
    def agent() -> str:
        with Sidecar(sidecar.url, patience_s=SOON) as paste:

            @paste.tool
            def inner() -> str:
                return "in"

            @paste.tool
            def outer() -> str:
                return inner() + "side"

            return outer()

    assert await asyncio.to_thread(agent) == "inside"
    assert [call.invocation.tool for call in sidecar.gate.asked] == ["outer"]


async def test_a_job_without_a_free_slot_is_refused_and_the_authoritative_call_runs(sidecar: Served) -> None:
    leave = threading.Event()
    refused = threading.Event()

    def agent() -> tuple[str, int]:
        with Sidecar(sidecar.url, patience_s=SOON, session="task", slots=1) as paste:

            @paste.tool
            def slow() -> str:
                assert leave.wait(SOON)
                return "slow"

            @paste.tool
            def quick() -> str:
                return "quick"

            paste.connect()
            assert refused.wait(SOON)
            return quick(), paste.stats.jobs_refused

    running = asyncio.create_task(asyncio.to_thread(agent))
    held = await sidecar.gate.launch("task", "slow", {})
    late = await sidecar.gate.launch("task", "quick", {})
    await asyncio.wait([late], timeout=SOON)
    refused.set()
    assert await running == ("quick", 1)
    leave.set()
    await asyncio.wait([held], timeout=SOON)


async def test_a_cancelled_job_is_dropped_and_its_slot_is_taken_until_it_returns(sidecar: Served) -> None:
    entered, leave, go = threading.Event(), threading.Event(), threading.Event()
    runs: list[str] = []

    def agent() -> tuple[str, int]:
        with Sidecar(sidecar.url, patience_s=SOON, session="task", slots=1) as paste:

            @paste.tool
            def slow() -> str:
                runs.append("run")
                if len(runs) == 1:
                    entered.set()
                    assert leave.wait(SOON)
                return f"value {len(runs)}"

            assert go.wait(SOON)
            return slow(), paste.stats.jobs_cancelled

    running = asyncio.create_task(asyncio.to_thread(agent))
    job = await sidecar.gate.launch("task", "slow", {})
    assert await asyncio.to_thread(entered.wait, SOON)
    sidecar.gate.forget("task", "slow", {})
    await asyncio.wait([job], timeout=SOON)
    again = await sidecar.gate.launch("task", "slow", {})
    await asyncio.wait([again], timeout=SOON)
    assert again.exception() is not None, "the only slot is still taken"
    go.set()
    assert await running == ("value 2", 1)
    leave.set()


async def test_a_tool_declared_after_connecting_is_offered_without_a_call(sidecar: Served) -> None:
    connected, go = threading.Event(), threading.Event()

    def agent() -> None:
        with Sidecar(sidecar.url, patience_s=SOON, session="task") as paste:
            paste.tool(name="first")(lambda: 1)
            assert connected.wait(SOON)
            paste.tool(name="second")(lambda: 2)
            assert go.wait(SOON)

    running = asyncio.create_task(asyncio.to_thread(agent))
    await sidecar.gate.scope_offering("task", "first")
    connected.set()
    await sidecar.gate.scope_offering("task", "second")
    go.set()
    await running


async def test_what_a_framework_filled_in_is_no_part_of_the_call(sidecar: Served) -> None:
    def agent() -> None:
        with Sidecar(sidecar.url, patience_s=SOON, session="task") as paste:

            @paste.tool
            def search(query: str, limit: int = 3) -> str:
                return query * limit

            with paste.call_id("call_1", {"query": "x"}):
                search("x", limit=3)
            search("x", limit=3)

    await asyncio.to_thread(agent)
    assert [(call.call_id, call.invocation.arguments) for call in sidecar.gate.asked] == [
        ("call_1", {"query": "x"}),
        (None, {"query": "x", "limit": 3}),
    ]


async def test_a_function_may_name_the_session(sidecar: Served) -> None:
    names = iter(("one", "two", "two"))

    def agent() -> None:
        paste = Sidecar(sidecar.url, patience_s=SOON, session=lambda: next(names))

        @paste.tool
        def search(query: str) -> str:
            return query

        search("x")
        search("y")
        with paste.session("named"):
            search("z")
        paste.close()

    await asyncio.to_thread(agent)
    assert [call.session for call in sidecar.gate.asked] == ["one", "two", "named"]


async def test_a_call_in_a_form_of_its_own_is_run_ahead_by_its_arguments(sidecar: Served) -> None:
    go = threading.Event()
    parcels: list[tuple[str, ...]] = []

    def send(*parcel: str) -> str:
        parcels.append(parcel)
        return " ".join(parcel)

    def agent() -> tuple[str, str, int]:
        with Sidecar(sidecar.url, patience_s=SOON, session="task") as paste:
            sent = paste.adapt(
                send,
                name="send",
                arguments=lambda *parcel: {"words": list(parcel)} if parcel else None,
                run=lambda arguments: send(*arguments["words"], "ahead"),
            )
            assert go.wait(SOON)
            return sent("a", "b"), sent(), paste.stats.unreadable

    running = asyncio.create_task(asyncio.to_thread(agent))
    await (await sidecar.gate.launch("task", "send", {"words": ["a", "b"]}))
    go.set()
    assert await running == ("a b ahead", "", 1)
    assert parcels == [("a", "b", "ahead"), ()]
