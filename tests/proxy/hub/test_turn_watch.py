"""The watch over LLM exchanges: what it posts, and in what order."""

import asyncio
from collections.abc import AsyncIterator, Callable

import orjson
import pytest

from paste_proxy.clock import FakeClock
from paste_proxy.proxy.hub.observed import AnswerSeen, CallSeen, Observed, RequestSeen
from paste_proxy.proxy.hub.turn_watch import TurnWatch

CALL = {"index": 0, "id": "c", "function": {"name": "read", "arguments": '{"path":"a"}'}}
STREAM = (
    b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}}]}) + b"\n\n",
    b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}) + b"\n\n",
    b"data: [DONE]\n\n",
)


class Inbox(list[Observed]):
    """What was posted."""

    def __init__(self) -> None:
        super().__init__()
        self._grew = asyncio.Event()

    def append(self, item: Observed) -> None:
        super().append(item)
        self._grew.set()

    async def until(self, full: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not full():
                self._grew.clear()
                await self._grew.wait()


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
async def watch(inbox: Inbox) -> AsyncIterator[TurnWatch]:
    faults: list[str] = []
    watch = TurnWatch(
        inbox.append, FakeClock(), session_headers=("x-paste-session",), inline_bytes=10_000, fault=faults.append
    )
    yield watch
    await watch.close()
    assert faults == []


def body(messages: int) -> bytes:
    history = [{"role": "user", "content": f"{number} " + "word " * 20} for number in range(messages)]
    return orjson.dumps({"model": "m", "stream": True, "messages": history})


def kinds(inbox: Inbox) -> list[type[Observed]]:
    return [type(item) for item in inbox]


@pytest.mark.parametrize("messages", [3, 2_000], ids=["read here", "read in the worker process"])
async def test_a_header_that_wants_nothing_run_ahead_comes_with_the_request(
    watch: TurnWatch, inbox: Inbox, messages: int
) -> None:
    for headers in ({"x-paste-speculate": "off"}, {"accept": "*/*"}):
        watch.opened(wire="openai_chat", target="/v1/chat/completions", headers=headers, body=[body(messages)])
    await inbox.until(lambda: len(inbox) == 2)
    assert sorted(item.ahead for item in inbox if isinstance(item, RequestSeen)) == [False, True]


@pytest.mark.parametrize("messages", [3, 2_000], ids=["read here", "read in the worker process"])
async def test_the_request_is_posted_before_what_its_answer_says(watch: TurnWatch, inbox: Inbox, messages: int) -> None:
    tee = watch.opened(
        wire="openai_chat", target="/v1/chat/completions", headers={"x-paste-session": "s"}, body=[body(messages)]
    )
    tee.answer(200, {"content-type": "text/event-stream"})
    for chunk in STREAM:
        tee.chunk(chunk)
    tee.closed(clean=True)
    await inbox.until(lambda: len(inbox) == 3)
    assert kinds(inbox) == [RequestSeen, CallSeen, AnswerSeen]
    seen = inbox[0]
    assert isinstance(seen, RequestSeen)
    assert (seen.header, seen.reading.left_out + len(seen.reading.request.messages)) == ("s", messages)
    assert len(seen.reading.whole.points) == messages
    assert seen.reading.after(messages - 1)[0].text.startswith(f"{messages - 1} ")


async def test_a_request_is_posted_although_its_answer_takes_long(watch: TurnWatch, inbox: Inbox) -> None:
    watch.opened(wire="openai_chat", target="/v1/chat/completions", headers={}, body=[body(1)])
    assert inbox == [], "the loop passes on what it has first"
    await inbox.until(lambda: len(inbox) == 1)
    assert kinds(inbox) == [RequestSeen]


async def test_what_is_no_agents_turn_posts_nothing(watch: TurnWatch, inbox: Inbox) -> None:
    for raw in (b"{}", b"\xff", b"[" * 100_000, b'{"messages":[]}'):
        tee = watch.opened(wire="openai_chat", target="/v1/chat/completions", headers={}, body=[raw])
        tee.answer(200, {"content-type": "text/event-stream"})
        for chunk in STREAM:
            tee.chunk(chunk)
        tee.closed(clean=True)
    good = watch.opened(wire="openai_chat", target="/v1/chat/completions", headers={}, body=[body(1)])
    good.closed(clean=False)
    await inbox.until(lambda: len(inbox) == 2)
    assert kinds(inbox) == [RequestSeen, AnswerSeen]


async def test_a_refused_request_ends_as_an_incomplete_turn(watch: TurnWatch, inbox: Inbox) -> None:
    tee = watch.opened(wire="openai_chat", target="/v1/chat/completions", headers={}, body=[body(1)])
    tee.answer(429, {"content-type": "application/json"})
    tee.chunk(b'{"error":{}}')
    tee.closed(clean=True)
    answer = inbox[-1]
    assert isinstance(answer, AnswerSeen)
    assert not answer.end.complete
