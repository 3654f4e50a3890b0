import asyncio
from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.bench.agent import read_stream
from paste_proxy.bench.load import drive
from paste_proxy.bench.measured import Measured
from paste_proxy.bench.origin import Origin
from paste_proxy.bench.overhead_table import table
from paste_proxy.bench.percentile import percentile
from paste_proxy.bench.prompt import TURNS, Conversations
from paste_proxy.errors import UpstreamFault
from paste_proxy.events.values import Json


async def load(chunks: int, pause_us: int = 0, expect: int | None = None) -> Measured:
    server = await asyncio.get_running_loop().create_server(Origin, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    talk = Conversations(20_000, chunks, "test")

    def request(connection: int) -> bytes:
        _, body = talk.next(connection)
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


@pytest.mark.parametrize("size", [20_000, 1_000_000])
def test_a_conversation_grows_by_a_turn_a_request_around_the_size_asked_for(size: int) -> None:
    talk = Conversations(size, 30, "s")
    requests = [talk.next(0) for _ in range(TURNS)]
    bodies = [orjson.loads(body)["messages"] for _, body in requests]
    assert {session for session, _ in requests} == {"s-1"}
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(bodies))
    assert all(len(later) == len(earlier) + 2 for earlier, later in pairwise(bodies))
    assert sum(len(body) for _, body in requests) / TURNS == pytest.approx(size, rel=0.1)
    assert talk.next(0)[0] == "s-2"


class Wire(asyncio.WriteTransport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data


def test_the_history_repeats_what_the_scripted_llm_answers() -> None:
    wire = Wire()
    origin = Origin()
    origin.connection_made(wire)
    origin.data_received(b"POST / HTTP/1.1\r\nx-bench: 30,0\r\n\r\n")
    text, (call,) = read_stream(bytes(wire.written))
    said = orjson.loads(Conversations(2_000, 30, "s").next(0)[1])["messages"][-2]
    assert said["content"] == text
    assert said["tool_calls"][0]["id"] == call.id
    assert said["tool_calls"][0]["function"] == {"name": call.name, "arguments": call.arguments}


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_percentile_is_the_least_value_that_covers_its_share(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-6
    assert sum(value < found for value in values) < share * len(values)


def test_the_table_shows_every_row_below_its_load() -> None:
    row: dict[str, Json] = {"path": "direct", "case": "json", "body_kb": 20, "p50_ms": 0.5}
    assert table({"cases": [dict(row), {**row, "path": "paste"}]}).row_count == 3
