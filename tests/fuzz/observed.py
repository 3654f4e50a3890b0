"""Mutated exchanges as the relay shows them to the observer: through its decoding, the watch and the readers."""

import asyncio
import gzip
from random import Random

from paste_proxy.clock import FakeClock
from paste_proxy.proxy.http.observation import Observation
from paste_proxy.proxy.hub.observed import AnswerSeen, Observed
from paste_proxy.proxy.hub.turn_watch import TurnWatch
from paste_proxy.wire.protocols import WIRES
from tests.field_cases.samples import SAMPLES, dumped
from tests.fuzz.mutations import mutated, pieces

_ANSWER_BYTES = 2**15
_TYPES = ("text/event-stream", "text/event-stream; charset=utf-8", "application/json", "", "\udcff")
_CODINGS = ("identity", "identity", "gzip", "br", "deflate", "zstd", "made-up", "gzip, br")


async def observe(exchanges: int, *, seed: int) -> tuple[int, list[str]]:
    """Show that many exchanges; how many turns were read to an end, and the faults counted on the way."""
    posted: list[Observed] = []
    faults: list[str] = []
    watch = TurnWatch(
        posted.append, FakeClock(), session_headers=("x-session",), inline_bytes=2**30, fault=faults.append
    )
    for number in range(exchanges):
        _exchange(watch, Random(seed << 40 | number), faults)
        if number % 100 == 0:
            await asyncio.sleep(0)
    await watch.close()
    return sum(isinstance(item, AnswerSeen) for item in posted), faults


def _exchange(watch: TurnWatch, dice: Random, faults: list[str]) -> None:
    sample = SAMPLES[dice.choice(list(WIRES))]
    asked = sample.body if dice.random() < 0.5 else mutated([sample.body], dice)
    stream = mutated([sample.stream(), dumped(sample.whole)], dice)
    coding = dice.choice(_CODINGS)
    if coding == "gzip":
        stream = mutated([gzip.compress(stream, 1)], dice) if dice.random() < 0.5 else gzip.compress(stream, 1)
    seen = Observation(watch, sample.wire, sample.target, {"X-Session": "s"}, _ANSWER_BYTES, faults.append)
    seen.sent(pieces(asked, dice))
    seen.answer(dice.choice((200, 200, 200, 429)), {"content-type": dice.choice(_TYPES), "Content-Encoding": coding})
    for piece in pieces(stream, dice):
        seen.chunk(piece)
    seen.closed(clean=dice.random() < 0.7)
