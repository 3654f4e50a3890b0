"""The next request of a session, sent before its agent does."""

import asyncio
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from paste_proxy.clock import FakeClock
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.proxy.hub.observed import AnswerSeen, Exchange, OutputTold, RequestSeen
from paste_proxy.proxy.hub.ready_results import ReadyResults
from paste_proxy.proxy.hub.warming_desk import GiveUp, WarmingDesk, WarmUp
from paste_proxy.proxy.hub.warming_tally import WarmingTally
from paste_proxy.proxy.ports import Again, Waiting
from paste_proxy.wire.types import LlmRequest, Message, SeenCall, SeenOutput, TurnEnd

BODY = orjson.dumps(
    {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": {"name": "look"}}],
        "messages": [{"role": "user", "content": "hi"}],
    }
)


class Desk:
    """A desk, and what happens before it."""

    def __init__(self) -> None:
        self.ready, self.tally, self.clock, self.room = ReadyResults(), WarmingTally(), FakeClock(), True
        self.desk = WarmingDesk(
            self.ready,
            lambda call: Invocation(call.name, call.arguments),
            lambda gate: self.room,
            self.tally,
            self.clock,
        )
        self.jobs = 0

    def asked(self, *outputs: str, warm: bool = True) -> tuple[Exchange, list[GiveUp]]:
        waiting = Waiting("e", len(BODY), asyncio.get_running_loop().create_future())
        waiting.again = Again(target="http://e/", headers=(), proxy=None, body=BODY, warm_up=warm, tool_cache=False)
        exchange = Exchange(session="s", waiting=waiting)
        messages = tuple(
            Message(role="tool", text=text, digest=b"", output=SeenOutput(call_id="", output=text)) for text in outputs
        )
        request = LlmRequest(model="m", stream=True, messages=messages, tools=())
        item = RequestSeen(exchange, SimpleNamespace(request=request), None)  # type: ignore[arg-type]
        return exchange, list(self.desk.asked(item, "s"))

    def answered(self, exchange: Exchange, *names: str, complete: bool = True) -> list[WarmUp]:
        calls = tuple(
            SeenCall(order=order, call_id=f"c{order}", name=name, arguments={}) for order, name in enumerate(names)
        )
        end = TurnEnd(text="well", calls=calls, complete=complete, response_id="r")
        return list(self.desk.answered(AnswerSeen(exchange, end, 1.0), "s"))

    def output(self, call_id: str, output: Any) -> list[WarmUp]:
        return list(self.desk.output("s", call_id, ToolResult(status=Status.OK, body=orjson.dumps(output))))

    def ran(self, name: str, text: str, status: Status = Status.OK) -> list[WarmUp]:
        self.jobs += 1
        job: Any = SimpleNamespace(
            job=self.jobs, session="s", invocation=Invocation(name, {}), staged=False, rehearsal=False
        )
        self.ready.ended(job, ToolResult(status=status, body=orjson.dumps(text)))
        return list(self.desk.look("s"))

    def told(self, name: str, output: str, response: str = "r", keep_s: float = 60.0) -> tuple[bool, list[WarmUp]]:
        done = asyncio.get_running_loop().create_future()
        item = OutputTold(response, name, None, output, keep_s, done)
        sent = list(self.desk.told(item))
        return item.kept, sent


@pytest.fixture
def desk() -> Desk:
    return Desk()


def messages(sent: list[WarmUp]) -> list[dict[str, Any]]:
    (one,) = sent
    found: list[dict[str, Any]] = orjson.loads(one.body)["messages"]
    return found


async def test_what_the_agent_was_given_makes_the_next_request(desk: Desk) -> None:
    exchange, _ = desk.asked()
    assert desk.answered(exchange, "look") == []
    sent = desk.output("c0", {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})
    request = orjson.loads(sent[0].body)
    assert request["messages"] == [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "well",
            "tool_calls": [{"id": "c0", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c0", "content": "a\nb"},
    ]
    assert (request["max_tokens"], request["stream"]) == (1, False)
    assert "stream_options" not in request
    assert request["tools"] == orjson.loads(BODY)["tools"]
    assert desk.output("c0", "again") == []


async def test_what_was_run_ahead_counts_before_it_is_asked_for(desk: Desk) -> None:
    exchange, _ = desk.asked()
    desk.ran("other", "x")
    assert desk.ran("look", "seen") == []
    assert messages(desk.answered(exchange, "look"))[-1]["content"] == "seen"


async def test_a_result_that_is_no_text_is_told_as_the_agent_was_given_it(desk: Desk) -> None:
    exchange, _ = desk.asked()
    desk.answered(exchange, "look")
    result = ToolResult(status=Status.OK, body=b'{"found": [1, 2]}\n')
    assert messages(list(desk.desk.output("s", "c0", result)))[-1]["content"] == '{"found": [1, 2]}\n'


async def test_all_calls_need_a_result(desk: Desk) -> None:
    exchange, _ = desk.asked()
    desk.answered(exchange, "look", "list")
    assert desk.output("c0", "one") == []
    assert desk.ran("list", "failed", Status.ERROR) == []
    assert [message["content"] for message in messages(desk.ran("list", "two"))[-2:]] == ["one", "two"]


@pytest.mark.parametrize("names", [(), ("look",)])
async def test_a_turn_that_is_cut_or_asks_for_nothing_is_not_gone_on_from(desk: Desk, names: tuple[str, ...]) -> None:
    exchange, _ = desk.asked()
    desk.ran("look", "seen")
    assert desk.answered(exchange, *names, complete=not names) == []


async def test_it_is_given_up_and_judged_when_the_agent_asks(desk: Desk) -> None:
    for outputs, hits in ((["seen"], 1), (["[seen]"], 1), (["before", "seen"], 2)):
        exchange, _ = desk.asked()
        desk.answered(exchange, "look")
        assert desk.output("c0", "seen")
        _, given_up = desk.asked(*outputs)
        assert given_up == [GiveUp(session="s")]
        assert desk.tally.hits == hits
    assert desk.tally.sent == 3


async def test_an_agent_with_words_of_its_own_is_left_alone(desk: Desk) -> None:
    sent = []
    for _ in range(8):
        exchange, _ = desk.asked("in words of its own")
        desk.answered(exchange, "look")
        sent.append(bool(desk.output("c0", "seen")))
    assert sent == [True] * 4 + [False] * 4


async def test_only_an_engine_with_room_and_a_route_that_asks_for_it(desk: Desk) -> None:
    exchange, _ = desk.asked(warm=False)
    desk.answered(exchange, "look")
    assert desk.output("c0", "seen") == []
    exchange, _ = desk.asked()
    desk.answered(exchange, "look")
    desk.room = False
    assert desk.output("c0", "seen") == []
    desk.room = True
    assert desk.ran("other", "x")


async def test_somebody_may_tell_an_output_before_or_after_the_answers_end(desk: Desk) -> None:
    exchange, _ = desk.asked()
    assert desk.told("look", "early") == (True, [])
    assert messages(desk.answered(exchange, "look"))[-1]["content"] == "early"
    exchange, _ = desk.asked("early")
    desk.answered(exchange, "look", "list")
    assert desk.told("look", "one") == (True, [])
    assert desk.told("look", "twice") == (False, [])
    assert desk.told("nothing", "of it") == (False, [])
    kept, sent = desk.told("list", "two")
    assert kept
    assert [message["content"] for message in messages(sent)[-2:]] == ["one", "two"]


async def test_outputs_for_answers_that_never_come_are_bounded(desk: Desk) -> None:
    kept = [desk.told("look", "x" * 2**20, response=f"r{number}")[0] for number in range(40)]
    assert kept == [True] * 32 + [False] * 8
    desk.clock.advance(61.0)
    assert desk.told("look", "x" * 2**20)[0]


async def test_ids_that_several_sessions_have_are_nobodys(desk: Desk) -> None:
    exchange, _ = desk.asked()
    desk.answered(exchange, "look")
    desk.desk._of_response["r"] = "another"
    exchange, _ = desk.asked()
    desk.answered(exchange, "look")
    assert desk.told("look", "whose") == (False, [])


async def test_an_output_that_nobody_asks_for_is_forgotten(desk: Desk) -> None:
    desk.told("look", "early", keep_s=5.0)
    desk.clock.advance(6.0)
    exchange, _ = desk.asked()
    assert desk.answered(exchange, "look") == []
