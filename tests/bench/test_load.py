import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.bench.load import drive
from paste_proxy.bench.measured import Measured
from paste_proxy.bench.origin import Origin
from paste_proxy.bench.overhead_table import table
from paste_proxy.bench.percentile import percentile
from paste_proxy.bench.prompt import prompt
from paste_proxy.errors import UpstreamFault
from paste_proxy.events.values import Json


async def load(chunks: int, pause_us: int = 0, expect: int | None = None) -> Measured:
    server = await asyncio.get_running_loop().create_server(Origin, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    front, back = prompt(20_000, stream=chunks > 0)

    def request(connection: int) -> bytes:
        body = front + b"%08d" % connection + back
        head = f"POST / HTTP/1.1\r\nx-bench: {chunks},{pause_us}\r\ncontent-length: {len(body)}\r\n\r\n"
        return head.encode() + body

    try:
        expected = chunks if expect is None else expect
        return Measured(await drive(port, request, connections=3, requests=10, chunks=expected), wall_s=1.0)
    finally:
        server.close()


@pytest.mark.parametrize(("chunks", "pause_us"), [(0, 0), (30, 0), (5, 1000)])
async def test_every_request_is_answered_and_every_chunk_is_timed(chunks: int, pause_us: int) -> None:
    measured = await load(chunks, pause_us)
    assert len(measured.samples) == 10
    assert all(len(sample.delays_ns) == chunks for sample in measured.samples)
    assert all(0 < sample.first_ns <= sample.total_ns for sample in measured.samples)
    assert measured.figures()["requests"] == 10


async def test_an_answer_that_lacks_chunks_is_a_fault() -> None:
    with pytest.raises(UpstreamFault, match="unexpected answer with 3 chunks"):
        await load(3, expect=4)


@pytest.mark.parametrize("size", [2_000, 20_000, 1_000_000])
def test_a_prompt_has_the_size_asked_for(size: int) -> None:
    front, back = prompt(size, stream=True)
    assert len(front) + 8 + len(back) == pytest.approx(size, rel=0.02)
    assert re.search(rb'"stream":true', front)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_percentile_is_the_least_value_that_covers_its_share(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-6
    assert sum(value < found for value in values) < share * len(values)


def test_the_table_shows_every_row_below_its_load() -> None:
    row: dict[str, Json] = {"path": "direct", "case": "json", "body_kb": 20, "p50_ms": 0.5}
    assert table({"cases": [dict(row), {**row, "path": "paste"}]}).row_count == 3
