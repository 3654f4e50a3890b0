"""A real engine under more and more streams: how long its tokens take, and how long a prompt does.

All streams of a round begin together. Looked at is the time in which all of them write: from the last one's first token
to the first one's last. Each prompt begins with a text of its own, so that no cache has it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from time import perf_counter

from openai import AsyncOpenAI, OpenAIError
from openai.types.chat import ChatCompletionUserMessageParam

from paste_proxy.errors import InputFault
from paste_proxy.sim.fitting import Decoding, Prefilling

LOADS = (1, 2, 4, 8, 16, 32, 64)
PROMPTS = (64, 2_048)
"""Words."""
_ALONE = 3
"""Prompts of each length that are sent alone, since a single one may come at a bad time."""


@dataclass(slots=True)
class Stream:
    """An answer as it came."""

    asked: float
    at: list[float] = field(default_factory=list)
    """Times of its pieces."""
    prompt_tokens: float = 0.0
    answer_tokens: float = 0.0

    @property
    def per_piece(self) -> float:
        """Tokens in each."""
        return self.answer_tokens / len(self.at)


@dataclass(slots=True)
class Probed:
    """All that was measured."""

    decoded: list[Decoding] = field(default_factory=list)
    prefilled: list[Prefilling] = field(default_factory=list)
    max_batch: int | None = None
    """More streams than this did not write at once."""


async def probe(
    client: AsyncOpenAI,
    model: str,
    *,
    loads: Sequence[int] = LOADS,
    prompts: Sequence[int] = PROMPTS,
    answer_tokens: int = 128,
    on_round: Callable[[int], None] = lambda streams: None,
    clock: Callable[[], float] = perf_counter,
) -> Probed:
    """Ask an engine under each of the loads, with prompts of each length.

    Raises:
        InputFault: it does not answer, or not with a stream that says how many tokens it came to.
    """
    probed = Probed()
    ask = partial(_ask, client, model, clock)
    for words in prompts:
        await ask(words, 8)  # what an engine does once only is not of interest
        for _ in range(_ALONE):
            stream = await ask(words, 8)
            first_s = stream.at[0] - stream.asked
            probed.prefilled.append(Prefilling(tokens=stream.prompt_tokens, first_s=first_s))
    for streams in sorted(loads):
        for words in prompts:
            came = await asyncio.gather(*(ask(words, answer_tokens) for _ in range(streams)))
            decoded = written_together(came)
            if decoded is None:
                return probed
            probed.decoded.append(decoded)
        probed.max_batch = None if streams == max(loads) else streams
        on_round(streams)
    return probed


def written_together(streams: Sequence[Stream]) -> Decoding | None:
    """The time in which all streams write; None: there is no such time."""
    begins, ends = max(one.at[0] for one in streams), min(one.at[-1] for one in streams)
    tokens = context = 0.0
    for one in streams:
        before = sum(at <= begins for at in one.at)
        within = sum(begins < at <= ends for at in one.at)
        tokens += within * one.per_piece
        context += one.prompt_tokens + (before + within / 2) * one.per_piece
    if tokens < 2 * len(streams):
        return None
    token_s = (ends - begins) * len(streams) / tokens
    return Decoding(streams=len(streams), context=context, token_s=token_s)


async def _ask(client: AsyncOpenAI, model: str, clock: Callable[[], float], words: int, answer_tokens: int) -> Stream:
    text = f"{token_hex(8)} Count up from one, on and on. " + "and on " * (words // 2)
    message: ChatCompletionUserMessageParam = {"role": "user", "content": text}
    stream = Stream(asked=clock())
    try:
        answer = await client.chat.completions.create(
            model=model,
            messages=[message],
            max_tokens=answer_tokens,
            stream=True,
            stream_options={"include_usage": True},
            temperature=0.0,
            extra_body={"ignore_eos": True},
        )
        async for chunk in answer:
            if chunk.usage is not None:
                stream.prompt_tokens, stream.answer_tokens = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
            if chunk.choices and chunk.choices[0].delta.content:
                stream.at.append(clock())
    except OpenAIError as fault:
        raise InputFault(str(client.base_url), f"no answer ({fault})", "an OpenAI-compatible engine") from fault
    if not stream.at or not stream.answer_tokens:
        raise InputFault(str(client.base_url), "an answer without text or usage", "chat completions in a stream")
    return stream
