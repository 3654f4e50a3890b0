"""Many mutations, shared among processes; each is made again from the seed and its number."""

import resource
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random

from tests.fuzz.mutations import mutated
from tests.fuzz.parsers import Parser, parsers

_SHOWN = 5
_AT_ONCE = 5_000
Progress = Callable[[int], None]


@dataclass
class Outcome:
    """What came of it."""

    mutations: int = 0
    parsers: int = 0
    faults: list[str] = field(default_factory=list)
    """The first few, with their numbers."""
    faulty: int = 0
    rss_growth_mb: float = 0.0
    """The most that a process grew after its first thousand mutations."""


def campaign(
    mutations: int,
    *,
    seed: int,
    processes: int = 1,
    recordings: Path | None = None,
    progress: Progress = lambda _: None,
) -> Outcome:
    """Read `mutations` mutated texts, the parsers taking turns."""
    spans = [range(start, min(start + _AT_ONCE, mutations)) for start in range(0, mutations, _AT_ONCE)]
    outcome = Outcome(parsers=len(parsers(recordings)))
    for part in _run(spans, seed, processes, recordings):
        outcome.mutations += part.mutations
        outcome.faulty += part.faulty
        outcome.faults = [*outcome.faults, *part.faults][:_SHOWN]
        outcome.rss_growth_mb = max(outcome.rss_growth_mb, part.rss_growth_mb)
        progress(outcome.mutations)
    return outcome


def one(number: int, *, seed: int, recordings: Path | None = None) -> tuple[Parser, bytes, Random]:
    """The mutation of that number: its parser, its bytes, and the dice as the parser gets them."""
    return _one(parsers(recordings), number, seed)


def _one(among: list[Parser], number: int, seed: int) -> tuple[Parser, bytes, Random]:
    dice, parser = Random(seed << 40 | number), among[number % len(among)]
    return parser, mutated(parser.seeds, dice), dice


def _run(spans: list[range], seed: int, processes: int, recordings: Path | None) -> Iterator[Outcome]:
    if processes == 1:
        worker = _Worker(seed, recordings)
        yield from map(worker.span, spans)
        return
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(seed, recordings)
    ) as pool:
        yield from pool.map(_span, spans)


class _Worker:
    def __init__(self, seed: int, recordings: Path | None) -> None:
        self._seed, self._among = seed, parsers(recordings)
        self._base: float | None = None

    def span(self, numbers: range) -> Outcome:
        outcome = Outcome(mutations=len(numbers))
        for number in numbers:
            parser, data, dice = _one(self._among, number, self._seed)
            try:
                parser.check(data, dice)
            except Exception:  # noqa: BLE001 - any is a find
                outcome.faulty += 1
                outcome.faults.append(f"{number} ({parser.name}):\n{traceback.format_exc(limit=-4)}")
        outcome.faults = outcome.faults[:_SHOWN]
        self._base = _rss_mb() if self._base is None else self._base
        outcome.rss_growth_mb = _rss_mb() - self._base
        return outcome


_worker: _Worker | None = None


def _begin(seed: int, recordings: Path | None) -> None:
    global _worker
    _worker = _Worker(seed, recordings)


def _span(numbers: range) -> Outcome:
    assert _worker is not None
    return _worker.span(numbers)


def _rss_mb() -> float:
    """The most this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def timed(into: list[float]) -> Iterator[None]:
    """Appends the seconds that the block took."""
    begun = time.monotonic()
    yield
    into.append(time.monotonic() - begun)
