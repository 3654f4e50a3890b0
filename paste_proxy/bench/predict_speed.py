"""How long the predictor takes for an event, with a large pool and a window full of large outputs.

The session is made up (`made_session`), its outputs are all of one size. Patterns are added to a pool until there are
as many as asked for, in the contexts of another stretch of the same session. Nothing is measured before the window is
full; what comes then has not been seen by the predictor, so contexts that are new to it are part of the figures.
"""

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from time import perf_counter_ns, thread_time_ns
from typing import TypeVar

from paste_proxy.bench.made_outputs import FORMS
from paste_proxy.bench.made_pool import made_patterns, moments
from paste_proxy.bench.made_session import Session, Tool, made_tools
from paste_proxy.bench.percentile import percentile
from paste_proxy.events.types import ToolCall
from paste_proxy.events.values import Json
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.templates import Template

_Result = TypeVar("_Result")

WINDOW = 64
OUTPUT_CHARACTERS = 20_000
_TOOLS = 24
_SHORT = 100
"""Characters of an output where only its tool matters."""
_MOMENTS = 4_000
_COLLECTED_AFTER = 20_000, 20, 50
"""As `proxy.server` has it."""
_EVENTS_OF_ONE = 4
"""Events of a session for one observation, at most."""


@dataclass(slots=True)
class _Times:
    """Microseconds of steps."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """Of this thread: what the step takes on a machine that does nothing else."""

    def figures(self) -> dict[str, Json]:
        return {
            "events": len(self.wall),
            "predict_us_p50": round(percentile(self.wall, 0.50), 1),
            "predict_us_p99": round(percentile(self.wall, 0.99), 1),
            "predict_us_max": round(max(self.wall), 1),
            "cpu_us_p50": round(percentile(self.cpu, 0.50), 1),
            "cpu_us_p99": round(percentile(self.cpu, 0.99), 1),
        }


def padded(pool: Pool, patterns: int) -> tuple[Pool, list[Tool]]:
    """The pool with made-up patterns up to a number, and tools to work with: the pool's own first."""
    tools = _tools(pool)
    seen = list(moments(islice(Session(tools, _SHORT, seed=3).events(), _MOMENTS)))
    made = made_patterns(tools, seen, max(0, patterns - len(pool.patterns)))
    return replace(pool, patterns=(*pool.patterns, *made)), tools


def measure(
    pool: Pool, tools: Sequence[Tool], events: int, on_event: Callable[[], None] = lambda: None
) -> dict[str, Json]:
    """Step through `events` events with a full window; microseconds in all and by kind of event."""
    predictor = Predictor(pool, window=WINDOW)
    session = Session(tools, OUTPUT_CHARACTERS).events()
    every, by_kind, candidates = _Times(), defaultdict[str, _Times](_Times), 0
    ahead = _Times()
    with _as_the_sidecar_collects():
        for event in islice(session, WINDOW * _EVENTS_OF_ONE):
            predictor.step(event)
        for event in islice(session, events):
            prediction = _timed(partial(predictor.step, event), every, by_kind[type(event).__name__])
            candidates += len(prediction.candidates)
            if isinstance(event, ToolCall):  # as the sidecar does once the call is on its way
                _timed(predictor.look_ahead, ahead)
            on_event()
    return {
        "patterns": len(pool.patterns),
        "window": WINDOW,
        "output_characters": OUTPUT_CHARACTERS,
        "candidates": candidates,
        **every.figures(),
        "look_ahead": ahead.figures() if ahead.wall else {},
        "by_event": {kind: times.figures() for kind, times in sorted(by_kind.items())},
    }


def _timed(work: Callable[[], _Result], *into: _Times) -> _Result:
    wall, cpu = perf_counter_ns(), thread_time_ns()
    result = work()
    cpu, wall = thread_time_ns() - cpu, perf_counter_ns() - wall
    for times in into:
        times.wall.append(wall / 1_000)
        times.cpu.append(cpu / 1_000)
    return result


@contextmanager
def _as_the_sidecar_collects() -> Iterator[None]:
    """Garbage is collected as in the sidecar: seldom, and what it has at its start, the pool above all, is left out."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTED_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _tools(pool: Pool) -> list[Tool]:
    arguments: dict[str, tuple[str, ...]] = {}
    for pattern in pool.patterns:
        if isinstance(pattern.template, Template):
            arguments.setdefault(pattern.template.tool, tuple(name for name, _ in pattern.template.arguments))
    known = sorted(arguments, key=lambda tool: (-pool.tools[tool].calls if tool in pool.tools else 0, tool))[:_TOOLS]
    own = [Tool(name, arguments[name], FORMS[at % len(FORMS)]) for at, name in enumerate(known)]
    return [*own, *made_tools(_TOOLS - len(own))]
