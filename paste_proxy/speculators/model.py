"""The model speculator: a small LLM is asked for the turn that the agent's LLM is at.

One asyncio task a sample; stopping one closes its connection, so that the endpoint stops too. Whatever goes
wrong is the end of a sample and nothing else.
"""

import asyncio
from collections.abc import Callable, Sequence

import httpx2
from openai import APIConnectionError, APIStatusError, OpenAIError

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.values import Json, dumps
from paste_proxy.speculation.guessing.types import SampleEnd
from paste_proxy.speculators.endpoint import Endpoint, client_of
from paste_proxy.speculators.guess import Guessed
from paste_proxy.wire.protocols import WIRES
from paste_proxy.wire.types import TurnEnd

_TAG = b"<tool_call>"
"""Servers without a parser for a model's calls pass them on as text."""


class ModelSpeculator:
    """Asks the endpoint; tells `ended` exactly once for each sample asked for.

    Args:
        timeout_s: what takes longer is given up.
    """

    def __init__(self, endpoint: Endpoint, *, timeout_s: float, ended: Callable[[Guessed], None]) -> None:
        self._endpoint, self._timeout_s, self._ended = endpoint, timeout_s, ended
        self._client = client_of(endpoint)
        self._running: dict[int, asyncio.Task[Guessed]] = {}

    def body(self, messages: Sequence[Json], tools: Sequence[Json]) -> bytes:
        """The body of a request, for any number of samples; all in the form of Chat Completions."""
        endpoint = self._endpoint
        return dumps({**endpoint.parameters, "model": endpoint.model, "messages": messages, "tools": tools})

    def ask(self, sample: int, body: Callable[[], bytes]) -> None:
        """Ask once; the body is made when it is first needed."""
        task = asyncio.create_task(self._sample(sample, body), name=f"sample-{sample}")
        self._running[sample] = task
        task.add_done_callback(lambda done: self._finish(sample, done))

    def stop(self, sample: int) -> None:
        """Give a sample up if it is still awaited."""
        task = self._running.get(sample)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Give all up and let the connections go."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._client.close()

    async def _sample(self, sample: int, body: Callable[[], bytes]) -> Guessed:
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await self._client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    content=body(),
                    options={"headers": {"content-type": "application/json"}},
                )
        except TimeoutError:
            return Guessed(sample=sample, end=SampleEnd.TIMED_OUT, fault=f"no answer within {self._timeout_s:g} s")
        except (OpenAIError, httpx2.HTTPError, UpstreamFault) as fault:
            return Guessed(sample=sample, end=SampleEnd.FAILED, fault=_words(fault))
        end = _read(answer.content)
        if end.finish is None:
            return Guessed(sample=sample, end=SampleEnd.FAILED, fault="its answer is no chat completion")
        return Guessed(
            sample=sample,
            end=SampleEnd.ANSWERED,
            calls=end.calls if end.complete else (),
            input_tokens=end.input_tokens,
            output_tokens=end.output_tokens,
        )

    def _finish(self, sample: int, task: asyncio.Task[Guessed]) -> None:
        self._running.pop(sample, None)
        if task.cancelled():
            guessed = Guessed(sample=sample, end=SampleEnd.STOPPED)
        elif (fault := task.exception()) is not None:
            guessed = Guessed(sample=sample, end=SampleEnd.FAILED, fault=type(fault).__name__)
        else:
            guessed = task.result()
        self._ended(guessed)


def _read(answer: bytes) -> TurnEnd:
    """The turn in a whole answer; of calls in its text too, where it has no others."""
    end = _read_as("openai_chat", answer)
    return _read_as("hermes_text", answer) if _TAG in answer and not end.calls else end


def _read_as(wire: str, answer: bytes) -> TurnEnd:
    reader = WIRES[wire].reader(content_type="application/json")
    reader.feed(answer)
    return reader.close(clean=True)


def _words(fault: Exception) -> str:
    match fault:
        case APIStatusError():
            return f"it answered {fault.status_code}"
        case APIConnectionError():
            cause = fault.__cause__
            return (
                str(cause) if isinstance(cause, UpstreamFault) else f"no connection ({type(cause or fault).__name__})"
            )
        case UpstreamFault():
            return str(fault)
    return type(fault).__name__
