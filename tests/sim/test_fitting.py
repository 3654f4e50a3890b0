"""An engine's parameters from what it was seen to do: made figures, and a small engine behind a socket."""

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import AsyncOpenAI

from paste_proxy.errors import InputFault
from paste_proxy.sim.engine_model import PAPER, EngineModel
from paste_proxy.sim.fitting import Decoding, Prefilling, fit, least_squares
from paste_proxy.sim.probing import Stream, probe, written_together

REAL = EngineModel(name="real", step_s=0.01, turn_s=0.0004, crowd_s=0.00002, context_s=3e-8, prompt_s=0.00005)


def seen(model: EngineModel, loads: Iterable[int], noise: Random | None = None) -> list[Decoding]:
    return [
        Decoding(
            streams=streams,
            context=streams * each,
            token_s=model.step_seconds(streams, streams * each) * (noise.gauss(1, 0.02) if noise else 1.0),
        )
        for streams in loads
        for each in (100.0, 4_000.0)
    ]


def test_an_engine_that_is_as_the_model_has_it_is_found() -> None:
    prompts = [Prefilling(tokens=tokens, first_s=0.02 + tokens * REAL.prompt_s) for tokens in (100.0, 4_000.0)]
    fitted = fit(seen(REAL, (1, 2, 4, 8, 16, 32, 64)), prompts, name="real")
    for key, weight in REAL.report().items():
        assert getattr(fitted.model, key) == (weight if isinstance(weight, str) else pytest.approx(weight, rel=1e-3))
    assert fitted.worst < 1e-3
    assert fitted.explained > 0.999


def test_where_figures_are_noisy_steps_come_out_nearly_right() -> None:
    fitted = fit(seen(REAL, (1, 2, 4, 8, 16, 32, 64), Random(1)), [], name="real")
    for streams in (1, 10, 50):
        assert fitted.model.step_seconds(streams) == pytest.approx(REAL.step_seconds(streams), rel=0.05)
    assert 0.0 < fitted.typical <= fitted.worst < 0.1


def test_a_crowd_that_shows_gives_a_knee() -> None:
    fitted = fit(seen(replace(PAPER, context_s=1e-9), (1, 4, 16, 32, 64)), [], name="p", max_batch=64)
    assert fitted.model.knee == pytest.approx(33, rel=0.02)
    assert fitted.model.max_batch == 64


@settings(deadline=None)
@given(
    weights=st.lists(st.floats(0, 10), min_size=3, max_size=3),
    rows=st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=3), min_size=4, max_size=12),
)
def test_no_weight_is_below_zero_and_none_fits_much_worse_than_the_true_ones(
    weights: list[float], rows: list[list[float]]
) -> None:
    amounts = np.array(rows)
    wanted = amounts @ np.array(weights)
    found = least_squares(amounts, wanted)
    assert (found >= 0.0).all()
    assert ((amounts @ found - wanted) ** 2).sum() <= 0.004 * (wanted**2).sum() + 1e-9


def test_only_the_time_in_which_all_write_is_looked_at() -> None:
    one = Stream(0.0, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], prompt_tokens=100, answer_tokens=6)
    other = Stream(0.0, [2.5, 3.5, 4.5, 5.5, 6.5], prompt_tokens=10, answer_tokens=10)
    decoded = written_together([one, other])
    assert decoded is not None
    assert decoded.streams == 2
    assert decoded.token_s == pytest.approx(3.5 * 2 / (4 + 3 * 2))
    assert written_together([one, Stream(0.0, [7.0, 8.0], 1, 2)]) is None


class SmallEngine:
    """Chat completions in batches, in a time of its own that goes on once all that was sent has been read.

    The client looks at the clock once for each request, before it is sent, and once for each piece that it gets.
    """

    def __init__(self, model: EngineModel) -> None:
        self._model = model
        self._now, self._looks = 0.0, 0
        self._moved = asyncio.Event()
        """Somebody looked at the clock, or came."""
        self._read = 0
        """Looks that are accounted for."""
        self._joining: list[tuple[int, asyncio.Queue[bool]]] = []
        self._running: list[tuple[int, asyncio.Queue[bool]]] = []
        self._work: asyncio.Task[None] | None = None

    def clock(self) -> float:
        self._looks += 1
        self._moved.set()
        return self._now

    async def complete(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        assert asked["stream_options"] == {"include_usage": True}
        prompt, most = len(asked["messages"][0]["content"].split()), asked["max_tokens"]
        tokens = asyncio.Queue[bool]()
        self._joining.append((prompt, tokens))
        self._moved.set()
        if self._work is None:
            self._work = asyncio.ensure_future(self._steps())
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for _ in range(most):
            await tokens.get()
            await self._send(response, choices=[{"index": 0, "delta": {"content": "on "}}])
        self._running = [one for one in self._running if one[1] is not tokens]
        usage = {"prompt_tokens": prompt, "completion_tokens": most, "total_tokens": prompt + most}
        await self._send(response, choices=[], usage=usage)
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _send(self, response: web.StreamResponse, **more: object) -> None:
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    async def _steps(self) -> None:
        asked = self._looks - self._read
        self._read = self._looks
        await self._until(lambda: len(self._joining) == asked)
        self._now += self._model.prompt_s * sum(prompt for prompt, _ in self._joining)
        self._running, self._joining = self._joining, []
        written = 0
        while self._running:
            written += 1
            context = sum(prompt + written for prompt, _ in self._running)
            self._now += self._model.step_seconds(len(self._running), context)
            self._read += len(self._running)
            for _, tokens in self._running:
                tokens.put_nowait(True)
            await self._until(lambda: self._looks >= self._read)
        self._work = None

    async def _until(self, so: Callable[[], bool]) -> None:
        while not so():
            self._moved.clear()
            await self._moved.wait()


async def test_an_engine_behind_a_socket_is_found_too() -> None:
    engine = SmallEngine(REAL)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", engine.complete)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        (host, port), *_ = runner.addresses
        async with AsyncOpenAI(base_url=f"http://{host}:{port}/v1", api_key="k", max_retries=0) as client:
            rounds = list[int]()
            loads = (1, 2, 4, 8)
            probed = await probe(client, "m", loads=loads, answer_tokens=12, on_round=rounds.append, clock=engine.clock)
    finally:
        await runner.cleanup()
    assert rounds == list(loads)
    fitted = fit(probed.decoded, probed.prefilled, name="real", max_batch=probed.max_batch)
    assert fitted.model.prompt_s == pytest.approx(REAL.prompt_s, rel=0.02)
    assert fitted.model.context_s == pytest.approx(REAL.context_s, rel=0.1)
    for streams in (1, 2, 4, 8):
        assert fitted.model.step_seconds(streams) == pytest.approx(REAL.step_seconds(streams), rel=0.02)
    assert fitted.worst < 0.01


async def test_what_does_not_answer_is_named() -> None:
    async with AsyncOpenAI(base_url="http://127.0.0.1:9/v1", api_key="k", max_retries=0) as client:
        with pytest.raises(InputFault, match=r"127\.0\.0\.1:9"):
            await probe(client, "m")
