"""The hub with the real scheduler: what routes ask and what they get."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from paste_proxy.clock import FakeClock
from paste_proxy.config import Config, Speculating
from paste_proxy.errors import UpstreamFault
from paste_proxy.events.candidate import NARROWED, SEALED, Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import (
    Event,
    LlmTurn,
    Outcome,
    Speculation,
    ToolCall,
    ToolOutput,
    TurnStarted,
    UserMessage,
)
from paste_proxy.events.values import Json
from paste_proxy.mining.prediction import Prediction
from paste_proxy.proxy.composition import scheduler
from paste_proxy.proxy.hub.conductor import Conductor
from paste_proxy.proxy.hub.executor import Executor
from paste_proxy.proxy.hub.foresight import Foresight
from paste_proxy.proxy.hub.hub import Hub
from paste_proxy.proxy.hub.observed import AnswerSeen, CallSeen, Exchange, PartSeen, RequestSeen
from paste_proxy.proxy.hub.reading import reading
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.ports import AgentCall, RunIt, ServeIt
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Mode
from paste_proxy.wire.types import LlmRequest, Message, SeenCall, SeenOutput, SeenPart, TurnEnd

POLICY = """
[[rule]]
tool = "read"
effect = "read"
reads = ["disk"]
expected_s = 2.0

[[rule]]
tool = "write"
effect = "write"
writes = ["disk"]

[[rule]]
server = "fs"
tool = "*"
effect = "read"
reads = ["disk"]
expected_s = 2.0

[[rule]]
server = "memo"
tool = "*"
effect = "annotated"
"""
READ = Invocation("read", {"path": "a"})
WRITE = Invocation("write", {"path": "a"})
OTHER = Invocation("read", {"path": "b"})


@dataclass
class Gated:
    """A backend whose calls end when the test says so."""

    started: list[Invocation] = field(default_factory=list)
    cancelled: list[Invocation] = field(default_factory=list)
    answer: "asyncio.Future[ToolResult]" = field(default_factory=asyncio.Future)
    takes: Callable[[], None] = lambda: None

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        self.started.append(invocation)
        self.takes()
        try:
            return await asyncio.shield(self.answer)
        except asyncio.CancelledError:
            self.cancelled.append(invocation)
            raise

    async def close(self) -> None:
        return


@dataclass
class Prophet:
    """A predictor that says what it is told to, after any event that the test names."""

    says: Callable[[Event], list[Invocation]]
    heard: list[Event] = field(default_factory=list)
    completes: list[Invocation] = field(default_factory=list)
    barred: list[Candidate] = field(default_factory=list)
    later: float | None = None
    asked_beside: list[set[str]] = field(default_factory=list)

    def follow(self, event: Event) -> None:
        self.heard.append(event)

    def step(self, event: Event) -> Prediction:
        self.heard.append(event)
        return Prediction(
            tuple(
                Candidate(invocation=one, confidence=0.9, source="prophet", later=self.later)
                for one in self.says(event)
            )
        )

    def suppose(self, past: Sequence[Event], latest: Event) -> Prediction:
        return Prediction(
            tuple(Candidate(invocation=one, confidence=0.9, source="beyond") for one in self.says(latest))
        )

    def end(self) -> None:
        pass

    def glimpse(self) -> Sequence[Candidate]:
        barred, self.barred = self.barred, []
        return barred

    def look_ahead(self) -> None:
        return

    def narrow(self, outline: Outline, beside: Collection[str] = ()) -> Prediction:
        self.asked_beside.append(set(beside))
        return Prediction(
            tuple(
                Candidate(invocation=one, confidence=0.9, source=NARROWED, later=self.later)
                for one in self.completes
                if outline.allows(one)
            )
        )


@dataclass
class Kept:
    """An event log in memory."""

    events: list[Event] = field(default_factory=list)

    def record(self, event: Event) -> None:
        self.events.append(event)


@dataclass
class World:
    """A running hub and what surrounds it."""

    hub: Hub
    backend: Gated
    prophet: Prophet
    log: Kept
    tally: Tally
    clock: FakeClock
    executor: Executor
    sessions: Sessions

    async def settle(self) -> None:
        """Let everything that can happen now happen."""
        for _ in range(20):
            await asyncio.sleep(0)

    async def ask(
        self, invocation: Invocation, *, session: str = "s", call_id: str | None = None, scope: str = ""
    ) -> RunIt | ServeIt:
        call = AgentCall(invocation=invocation, session=session, call_id=call_id, scope=scope)
        return await asyncio.wait_for(self.hub.ask(call), 5)

    async def hear(self, *messages: Message, session: str = "s") -> Exchange:
        """An LLM request with these messages."""
        exchange = Exchange()
        request = LlmRequest(model="m", stream=True, messages=messages, tools=("read",))
        self.hub.post(RequestSeen(exchange, reading(request), session))
        await self.settle()
        return exchange


def user(text: str) -> Message:
    return Message(role="user", text=text, digest=text.encode())


@asynccontextmanager
async def world(
    says: Callable[[Event], list[Invocation]] = lambda _: [],
    mode: Mode = Mode.SPECULATE,
    inbox: int = 1000,
    slots: int = 16,
) -> AsyncIterator[World]:
    clock, tally, log, backend, prophet = FakeClock(), Tally(), Kept(), Gated(), Prophet(says)
    policy = Policy.parse(POLICY, "test")
    toolbox = Toolbox(["fs", "memo"], annotated=policy.annotated)
    toolbox.offer("", "", backend, ["read", "write"])
    config = Config(speculation=Speculating(mode=mode, min_confidence=0.15, slots=slots))
    brain = scheduler(config, policy)
    sessions = Sessions(lambda: prophet, limit=10, idle_s=100)
    hub = Hub(toolbox=toolbox, deadline=brain.next_deadline, tally=tally, clock=clock, inbox_limit=inbox)
    executor = Executor(hub.post)
    hub.start(
        Conductor(
            scheduler=brain,
            sessions=sessions,
            toolbox=toolbox,
            foresight=Foresight(toolbox, frozenset(), lambda *_: None),
            executor=executor,
            log=log,
            tally=tally,
            clock=clock,
        )
    )
    try:
        yield World(hub, backend, prophet, log, tally, clock, executor, sessions)
    finally:
        await hub.close()
        await executor.close()


def after_user(event: Event) -> list[Invocation]:
    return [READ] if isinstance(event, UserMessage) else []


async def test_a_predicted_call_runs_ahead_and_its_result_is_reused() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        assert w.backend.started == [READ]
        w.clock.advance(2.0)
        w.backend.answer.set_result(ToolResult(body=b'"contents"'))
        await w.settle()
        decision = await w.ask(READ)
        assert decision == ServeIt(ToolResult(body=b'"contents"'), Outcome.REUSED, 1)
        assert w.tally.saved_s == pytest.approx(2.0)
        assert w.tally.calls == {"reused": 1}


async def test_a_call_for_a_running_job_waits_for_it() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        asked = asyncio.create_task(w.ask(READ))
        await w.settle()
        assert not asked.done()
        w.backend.answer.set_result(ToolResult(body=b"1"))
        decision = await asked
        assert isinstance(decision, ServeIt)
        assert decision.outcome is Outcome.PROMOTED


async def test_a_promoted_job_that_breaks_lets_the_call_run() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        asked = asyncio.create_task(w.ask(READ))
        await w.settle()
        w.backend.answer.set_exception(UpstreamFault("the connection broke"))
        assert isinstance(await asked, RunIt)


async def test_a_call_nobody_predicted_runs_and_its_output_is_an_event() -> None:
    async with world() as w:
        decision = await w.ask(READ)
        assert isinstance(decision, RunIt)
        w.clock.advance(1.5)
        w.hub.ended(decision.ticket, ToolResult(body=b'{"x": 1}'))
        await w.settle()
        call, output = w.log.events
        assert isinstance(call, ToolCall)
        assert isinstance(output, ToolOutput)
        assert (output.output, output.status, output.duration_s) == ({"x": 1}, Status.OK, 1.5)
        assert w.prophet.heard == w.log.events


async def test_a_write_voids_what_was_read_before_it() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"old"))
        await w.settle()
        writing = await w.ask(WRITE)
        assert isinstance(writing, RunIt)
        w.hub.ended(writing.ticket, ToolResult(body=b"done"))
        assert isinstance(await w.ask(READ), RunIt)
        assert w.tally.outcomes == {"discarded": 1}


async def test_a_write_that_only_the_llms_stream_shows_voids_too() -> None:
    async with world(after_user) as w:
        exchange = await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"old"))
        await w.settle()
        w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id="c", name="edit_file_of_the_agent", arguments={})))
        await w.settle()
        assert isinstance(await w.ask(READ), RunIt)


async def test_nothing_is_launched_until_an_unseen_tool_has_answered() -> None:
    async with world(after_user) as w:
        exchange = await w.hear()
        w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id="c", name="edit_file_of_the_agent", arguments={})))
        await w.hear(user("first"))
        assert w.backend.started == []
        output = SeenOutput(call_id="c", output="edited")
        await w.hear(user("first"), Message(role="tool", text="edited", digest=b"t", output=output), user("second"))
        assert w.backend.started == [READ]


def being_written(exchange: Exchange, name: str, order: int = 0, **arguments: Json) -> PartSeen:
    return PartSeen(exchange, SeenPart(order=order, name=name, arguments=arguments))


async def test_a_call_being_written_rules_out_what_was_run_ahead_and_what_it_may_be_is_launched() -> None:
    async with world(after_user) as w:
        w.prophet.completes = [OTHER]
        exchange = await w.hear(user("read a"))
        w.hub.post(being_written(exchange, "read"))
        await w.settle()
        assert (w.backend.started, w.backend.cancelled) == ([READ, OTHER], [])
        w.hub.post(being_written(exchange, "read", path="b"))
        await w.settle()
        assert w.backend.cancelled == [], "what is not asked for now may be later"


async def test_what_a_written_call_leaves_unlikely_is_cancelled() -> None:
    """At first it is not known whether the session's turns ask for several calls."""
    async with world(after_user) as w:
        w.prophet.later = 0.0
        cancelled = []
        for turn in range(3):
            exchange = await w.hear(*(user(str(number)) for number in range(turn + 1)))
            w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id=f"c{turn}", name="read", arguments={"path": "b"})))
            await w.settle()
            cancelled.append(len(w.backend.cancelled))
        assert cancelled[0] == 0
        assert cancelled[-1] > 0
        assert set(w.backend.cancelled) == {READ}


async def test_a_call_past_the_sidecar_rules_nothing_out() -> None:
    async with world(after_user) as w:
        exchange = await w.hear(user("read a"))
        for number in range(9):
            w.hub.post(being_written(exchange, "task", path=str(number)))
        await w.settle()
        assert w.tally.outcomes == {}
        assert w.prophet.asked_beside == []


async def test_calls_of_the_same_turn_are_not_expected_again() -> None:
    async with world() as w:
        exchange = await w.hear(user("read both"))
        w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id="c", name="read", arguments={"path": "a"})))
        w.hub.post(being_written(exchange, "read", order=1))
        await w.settle()
        assert w.prophet.asked_beside == [{READ.key}]
        assert (w.backend.started, w.backend.cancelled) == ([READ], [])


async def test_parts_that_find_no_room_are_no_loss() -> None:
    async with world(after_user, inbox=3) as w:
        exchange = await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"1"))
        await w.settle()
        for number in range(50):
            w.hub.post(being_written(exchange, "read", path=str(number)))
        assert w.tally.dropped == 0
        await w.settle()
        assert isinstance(await w.ask(READ), ServeIt)


async def test_a_sealed_call_is_launched_before_the_turn_ends_and_pairs_with_the_agents_call() -> None:
    async with world() as w:
        exchange = await w.hear(user("go"))
        w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id="call_0", name="read", arguments={"path": "a"})))
        await w.settle()
        assert w.backend.started == [READ]
        w.backend.answer.set_result(ToolResult(body=b"1"))
        w.hub.post(AnswerSeen(exchange, TurnEnd(text="", calls=(), complete=True, digest=b"d"), 1.0))
        decision = await w.ask(READ, call_id="call_0")
        assert isinstance(decision, ServeIt)
        tool_call = next(event for event in w.log.events if isinstance(event, ToolCall))
        assert (tool_call.turn, tool_call.call_id) == (exchange.turn, "call_0")
        speculation = next(event for event in w.log.events if isinstance(event, Speculation))
        assert speculation.source == SEALED


async def test_a_connection_without_a_session_name_is_tied_to_the_turn_that_asked() -> None:
    async with world() as w:
        for name in ("alice", "bob"):
            await w.hear(user("go"), session=name)
        exchange = await w.hear(user("go"), user("more"), session="bob")
        w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id="x", name="mcp__fs__cat", arguments={"f": 1})))
        decision = await asyncio.wait_for(
            w.hub.ask(AgentCall(invocation=Invocation("fs/cat", {"f": 1}), scope="conn-7")), 5
        )
        assert isinstance(decision, RunIt)
        # The spelling resolves only once the server's tools are known, so the first call makes its own session.
        w.hub.offer("conn-7", "fs", w.backend, ["fs/cat"])
        w.hub.post(CallSeen(exchange, SeenCall(order=1, call_id="y", name="mcp__fs__cat", arguments={"f": 2})))
        await w.settle()
        asked = asyncio.create_task(
            w.hub.ask(AgentCall(invocation=Invocation("fs/cat", {"f": 2}), scope="conn-7", call_id="y"))
        )
        await w.settle()
        w.backend.answer.set_result(ToolResult(body=b'{"content":[]}'))
        await asyncio.wait_for(asked, 5)
        calls = [event for event in w.log.events if isinstance(event, ToolCall)]
        assert [call.session for call in calls] == ["conn-7", "bob"]


async def test_observe_mode_runs_nothing_and_reports_what_would_have_been_saved() -> None:
    async with world(after_user, mode=Mode.OBSERVE) as w:
        await w.hear(user("read a"))
        assert w.backend.started == []
        w.clock.advance(3.0)
        decision = await w.ask(READ)
        assert isinstance(decision, RunIt)
        w.clock.advance(2.0)
        w.hub.ended(decision.ticket, ToolResult(body=b"1"))
        await w.settle()
        assert w.tally.shadow_outcomes == {"reused": 1}
        assert w.tally.would_save_s == pytest.approx(2.0)
        assert w.tally.saved_s == 0


async def test_the_job_of_an_agent_that_gave_up_waiting_is_speculative_again() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        asked = asyncio.create_task(w.ask(READ))
        await w.settle()
        asked.cancel()
        await w.settle()
        assert w.backend.cancelled == []
        await w.ask(WRITE)
        await w.settle()
        assert w.backend.cancelled == [READ]


async def test_what_must_not_be_run_ahead_is_refused_after_the_rest_has_begun_and_nothing_follows_from_it() -> None:
    async with world(lambda event: [READ] if isinstance(event, UserMessage | ToolOutput) else []) as w:
        w.prophet.barred = [Candidate(invocation=WRITE, confidence=0.9, source="prophet")]
        order: list[str] = []
        w.backend.takes = lambda: order.append(f"{w.tally.side_effecting} refused")
        await w.hear(user("write a"))
        assert (w.backend.started, order) == ([READ], ["0 refused"])
        assert w.tally.refused == {"policy": 1}
        assert w.tally.side_effecting == 1


async def test_a_fault_while_barred_calls_are_looked_for_is_contained() -> None:
    async with world(after_user) as w:
        w.prophet.barred = [None]  # type: ignore[list-item]
        await w.hear(user("read a"))
        assert w.backend.started == [READ]
        assert w.tally.faults == {"glimpse": 1}


async def test_a_fault_in_prediction_is_contained_and_the_call_runs() -> None:
    def broken(event: Event) -> list[Invocation]:
        raise RuntimeError("a bug in the miner")

    async with world(broken) as w:
        assert isinstance(await w.ask(READ), RunIt)
        await w.settle()
        assert w.tally.faults["hub"] >= 1
        assert isinstance(await w.ask(READ), RunIt)


async def test_a_full_inbox_lets_calls_run_and_voids_what_was_speculated() -> None:
    async with world(after_user, inbox=3) as w:
        await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"old"))
        await w.settle()
        for _ in range(5):
            w.hub.post(CallSeen(Exchange(), SeenCall(order=0, call_id="", name="x", arguments={})))
        assert isinstance(await w.ask(WRITE), RunIt)
        await w.settle()
        assert isinstance(await w.ask(READ), RunIt)
        assert w.tally.dropped > 0


async def test_a_stopped_hub_lets_waiting_and_later_calls_run() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        asked = asyncio.create_task(w.ask(READ))
        await w.settle()
        await w.hub.close()
        assert isinstance(await asked, RunIt)
        assert isinstance(await w.ask(READ), RunIt)


async def test_a_results_unasked_for_time_is_bounded_by_a_tick() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"1"))
        await w.settle()
        w.clock.advance(1_000)
        assert isinstance(await w.ask(READ), RunIt)
        assert w.tally.outcomes == {"discarded": 1}


async def test_turns_are_events_with_their_times() -> None:
    async with world() as w:
        exchange = await w.hear(user("hello"))
        w.hub.post(AnswerSeen(exchange, TurnEnd(text="hi", calls=(), complete=True, digest=b"d"), 0.5))
        await w.settle()
        kinds = [type(event) for event in w.log.events]
        assert kinds == [UserMessage, TurnStarted, LlmTurn]
        assert w.tally.llm_s == 0.5


async def test_a_long_history_is_caught_up_with_and_only_its_end_predicted_from() -> None:
    async with world(after_user) as w:
        await w.hear(user("first"), user("second"), user("third"))
        assert [event.text for event in w.prophet.heard if isinstance(event, UserMessage)] == [
            "first",
            "second",
            "third",
        ]
        assert w.tally.launched == 1
        assert w.tally.refused == {}


async def test_what_follows_a_result_nobody_has_asked_for_yet_runs_ahead_as_well() -> None:
    then = Invocation("read", {"path": "b"})

    def chain(event: Event) -> list[Invocation]:
        match event:
            case UserMessage():
                return [READ]
            case ToolOutput(output="see b"):
                return [then]
            case _:
                return []

    async with world(chain) as w:
        w.backend.takes = lambda: w.clock.advance(1.0)
        await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b'"see b"'))
        await w.settle()
        assert w.backend.started == [READ, then]
        assert not any(isinstance(event, ToolOutput) for event in w.log.events)
        decision = await w.ask(then)
        assert isinstance(decision, ServeIt)
        assert w.tally.outcomes == {"reused": 1}


@pytest.mark.parametrize(("slots", "supposed"), [(1, 0), (2, 1)])
async def test_a_guess_on_top_of_guesses_is_not_made_where_others_wait_for_room(slots: int, supposed: int) -> None:
    outputs: list[Event] = []

    def says(event: Event) -> list[Invocation]:
        if isinstance(event, ToolOutput):
            outputs.append(event)
        return [Invocation("read", {"path": path}) for path in "abc"] if isinstance(event, UserMessage) else []

    async with world(says, slots=slots) as w:
        first, last = w.backend.answer, asyncio.Future[ToolResult]()
        w.backend.takes = lambda: setattr(w.backend, "answer", first if len(w.backend.started) == 1 else last)
        await w.hear(user("go"))
        first.set_result(ToolResult(body=b"1"))
        await w.settle()
        assert len(w.backend.started) == slots + 1
        assert len(outputs) == supposed


async def test_a_chain_of_guesses_is_not_followed_for_ever() -> None:
    def always_another(event: Event) -> list[Invocation]:
        match event:
            case UserMessage():
                return [Invocation("read", {"path": "0"})]
            case ToolOutput(output=output):
                return [Invocation("read", {"path": f"{output}{len(w.backend.started)}"})]
            case _:
                return []

    async with world(always_another) as w:
        w.backend.takes = lambda: w.clock.advance(1.0)
        w.backend.answer.set_result(ToolResult(body=b'"x"'))
        await w.hear(user("go"))
        await w.settle()
        assert len(w.backend.started) == 3


async def test_more_sessions_than_may_be_held_are_let_go_at_once() -> None:
    async with world() as live:
        for number in range(40):
            await live.ask(WRITE, session=f"s{number}")
        assert len(live.sessions) <= 10


async def test_a_call_given_up_before_the_hub_took_it_up_voids_nothing() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"1"))
        await w.settle()
        given_up = asyncio.create_task(w.hub.ask(AgentCall(invocation=WRITE, session="s")))
        asyncio.get_running_loop().call_soon(given_up.cancel)
        await asyncio.wait([given_up])
        assert given_up.cancelled()
        await w.settle()
        assert isinstance(await w.ask(READ), ServeIt)


async def test_a_call_given_up_as_it_is_served_voids_nothing() -> None:
    async with world(lambda event: [READ, OTHER] if isinstance(event, UserMessage) else []) as w:
        await w.hear(user("read both"))
        w.backend.answer.set_result(ToolResult(body=b"1"))
        await w.settle()
        given_up = asyncio.create_task(w.hub.ask(AgentCall(invocation=READ, session="s")))
        while not w.tally.calls["reused"]:  # noqa: ASYNC110 - every turn of the loop counts
            await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.wait([given_up])
        await w.settle()
        assert isinstance(await w.ask(OTHER), ServeIt)


async def test_a_session_that_tool_calls_name_and_llm_requests_do_not_is_the_one_that_asked() -> None:
    async with world() as w:
        exchange = await w.hear(user("go"), session="known-by-its-history")
        w.hub.offer("sdk-1", "", w.backend, ["look"], session="task-42")
        w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id="c", name="look", arguments={})))
        decision = await w.ask(Invocation("look", {}), session="task-42", scope="sdk-1")
        assert isinstance(decision, RunIt)
        w.hub.ended(decision.ticket, ToolResult(body=b"1"))
        again = await w.ask(Invocation("look", {"at": 1}), session="task-42", scope="sdk-1")
        assert isinstance(again, RunIt)
        calls = [event for event in w.log.events if isinstance(event, ToolCall)]
        assert [call.session for call in calls] == ["known-by-its-history"] * 2


async def test_an_agent_that_keeps_its_name_for_the_next_task_is_found_there() -> None:
    async with world() as w:
        w.hub.offer("sdk-1", "", w.backend, ["look"], session="worker-1")
        for task in ("first", "second"):
            exchange = await w.hear(user(f"go {task}"), session=task)
            w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id="c", name="look", arguments={"at": task})))
            for place in (task, "elsewhere"):
                decision = await w.ask(Invocation("look", {"at": place}), session="worker-1", scope="sdk-1")
                assert isinstance(decision, RunIt)
                w.hub.ended(decision.ticket, ToolResult(body=b"1"))
        calls = [event for event in w.log.events if isinstance(event, ToolCall)]
        assert [call.session for call in calls] == ["first", "first", "second", "second"]


async def test_two_agents_that_ask_the_same_under_their_own_names_stay_apart() -> None:
    async with world() as w:
        exchange = await w.hear(user("go"), session="one")
        w.hub.post(CallSeen(exchange, SeenCall(order=0, call_id="c", name="read", arguments={"path": "a"})))
        await w.settle()
        assert isinstance(await w.ask(READ, session="another"), RunIt)


async def test_the_log_tells_the_call_before_its_answer_and_the_tools_own_time() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        w.clock.advance(5.0)
        w.backend.answer.set_result(ToolResult(body=b'"x"', took_s=2.0))
        await w.settle()
        await w.ask(READ)
        told = [event for event in w.log.events if isinstance(event, ToolCall | ToolOutput)]
        assert [type(event) for event in told] == [ToolCall, ToolOutput]
        assert isinstance(told[1], ToolOutput)
        assert told[1].duration_s == 2.0
        assert w.tally.saved_s == pytest.approx(2.0)


async def test_nothing_is_run_ahead_for_one_session_through_the_connection_of_another() -> None:
    cat = Invocation("fs/cat", {"f": 1})

    def always_cat(event: Event) -> list[Invocation]:
        return [cat] if isinstance(event, UserMessage) else []

    async with world(always_cat) as w:
        w.hub.offer("conn-alice", "fs", w.backend, ["fs/cat"])
        decision = await w.ask(Invocation("fs/cat", {"f": 2}), session="alice", scope="conn-alice")
        assert isinstance(decision, RunIt)
        w.clock.advance(1.0)
        w.hub.ended(decision.ticket, ToolResult(body=b"{}"))
        await w.hear(user("go"), session="bob")
        assert w.backend.started == []
        await w.hear(user("go"), session="alice")
        assert w.backend.started == [cat]
