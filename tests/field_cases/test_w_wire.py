"""Field cases of kind W: what event streams look like in the wild, on every wire, wherever they are cut."""

import asyncio
from pathlib import Path

import pytest

from paste_proxy.wire.protocols import WIRES
from tests.field_cases.samples import SAID, SAMPLES, Event, Sample, dumped, framed
from tests.field_cases.world import LINE_ENDS, Client, Steps, brief, cuts, everywhere, observing, read, wires
from tests.proxy.llm_world import NotingGate, sidecar, upstream

EACH = pytest.mark.parametrize("sample", wires(), ids=lambda sample: sample.wire)


async def relayed(sample: Sample, stream: bytes) -> None:
    """The bytes come through whole and at once in two writes cut anywhere, and the observer gets the same."""
    gate, steps = NotingGate(), Steps()
    async with upstream(steps) as there, sidecar(("/", there.url), gate=gate) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        client = Client(reader, writer, steps)
        for pieces in cuts(stream):
            assert await client.ask(sample.target, b"{}", pieces) == stream
        writer.close()
    assert {b"".join(turn.chunks) for turn in gate.turns} == {stream}
    assert all(turn.clean for turn in gate.turns)


def awkward(sample: Sample, end: bytes = b"\n", space: bytes = b" ") -> bytes:
    """A stream small enough to be relayed at every cut: the event that begins the text, and the last."""
    first = next(event for event in sample.events if SAID[:2] in str(event[1]))
    return framed(first, end, space) + framed(sample.events[-1], end, space)


STRAY: dict[str, tuple[tuple[Event, ...], tuple[Event, ...]]] = {
    "openai_chat": (
        ((None, {"choices": []}), (None, {"id": "c1"}), (None, {"choices": None})),
        ((None, {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 90}}),),
    ),
    "tagged_text": (
        ((None, {"choices": []}), (None, {"id": "c1"})),
        ((None, {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 90}}),),
    ),
    "openai_responses": (
        (("response.in_progress", {"type": "response.in_progress"}), ("x", {"type": "response.new.thing"})),
        ((None, {}),),
    ),
    "anthropic_messages": ((("ping", {"type": "ping"}), ("x", {"type": "x"})), (("ping", {"type": "ping"}),)),
    "gemini": (
        ((None, {}), (None, {"candidates": []}), (None, {"candidates": [{}]})),
        ((None, {"candidates": [], "usageMetadata": {"promptTokenCount": 70, "candidatesTokenCount": 90}}),),
    ),
}
"""Events without content that some server sends before or after the rest, by wire."""


@EACH
async def test_b08_events_without_content_are_passed_on_and_their_usage_is_taken(sample: Sample) -> None:
    before, after = STRAY[sample.form]
    stream = b"".join(map(framed, (*before, *sample.events, *after)))
    end = everywhere(sample.wire, stream)
    plain = read(sample.wire, [sample.stream()])[1]
    assert (end.text, end.calls, end.complete) == (plain.text, plain.calls, True)
    if "70" in str(after):
        assert (end.input_tokens, end.output_tokens) == (70, 90)
    await relayed(sample, b"".join(map(framed, (*before, *after))))


@EACH
async def test_b09_a_character_cut_by_the_transport_is_whole_on_both_sides(sample: Sample) -> None:
    assert everywhere(sample.wire, sample.stream()).text.startswith(SAID)
    await relayed(sample, awkward(sample))


@EACH
@pytest.mark.parametrize("end", LINE_ENDS, ids=["LF", "CRLF", "CR"])
async def test_b10_any_line_end_is_one_and_none_is_changed_or_waited_for(sample: Sample, end: bytes) -> None:
    plain = read(sample.wire, [sample.stream()])[1]
    assert everywhere(sample.wire, sample.stream(end)) == plain
    await relayed(sample, awkward(sample, end))


@EACH
async def test_b10_line_ends_may_be_mixed(sample: Sample) -> None:
    plain = read(sample.wire, [sample.stream()])[1]
    mixed = [framed(event, LINE_ENDS[n % 3]) for n, event in enumerate(sample.events)]
    odd = [framed(event, b"\n")[:-1] + b"\r\n" for event in sample.events]
    assert everywhere(sample.wire, b"".join(mixed)) == plain
    assert everywhere(sample.wire, b"".join(odd)) == plain


@EACH
async def test_b11_the_space_after_the_colon_is_optional(sample: Sample) -> None:
    plain = read(sample.wire, [sample.stream()])[1]
    assert everywhere(sample.wire, sample.stream(space=b"")) == plain
    await relayed(sample, awkward(sample, space=b""))


@EACH
async def test_b14_only_cr_and_lf_end_a_line(sample: Sample) -> None:
    stream = sample.stream()
    assert "\u2028".encode() in stream
    assert "\u0085".encode() in stream
    assert SAID in everywhere(sample.wire, stream).text
    await relayed(sample, 'data: {"x":"a\u2028b\u0085\x0b\x0c\x1c"}\n\n'.encode())


@EACH
async def test_b56_a_stream_without_its_end_is_passed_on_as_it_is_and_its_turn_is_incomplete(
    sample: Sample, tmp_path: Path
) -> None:
    stream = b"".join(map(framed, _without_end(sample)))
    async with observing(tmp_path, sample.wire) as side, side.client() as client:
        assert await client.ask(sample.target, sample.body, [stream]) == stream
        assert side.traffic.live == 0
    (turn,) = side.events("llm_turn")
    assert turn["complete"] is False
    assert turn["duration_s"] >= 0
    assert side.tally.incomplete_turns == 1
    assert not everywhere(sample.wire, stream).complete


def _without_end(sample: Sample) -> list[Event]:
    """All up to the first event that says that the answer is over."""
    marks = ('"finish_reason": "', "message_delta", "response.completed", "finishReason")
    ends = (n for n, event in enumerate(sample.events) if any(mark in _text(event) for mark in marks))
    return list(sample.events[: next(ends)])


def _text(event: Event) -> str:
    return framed(event).decode().replace('":"', '": "')


@pytest.mark.parametrize("quiet", [b": keep-alive\n\n", b":\r\n\r\n", b'event: ping\ndata: {"type":"ping"}\n\n'])
@EACH
async def test_b60_signs_of_life_reach_the_client_one_by_one(sample: Sample, quiet: bytes, tmp_path: Path) -> None:
    first, *rest = sample.events
    pieces = [framed(first), *[quiet] * 200, *map(framed, rest)]
    async with observing(tmp_path, sample.wire) as side, side.client() as client:
        assert await client.ask(sample.target, sample.body, pieces) == b"".join(pieces)
    (turn,) = side.events("llm_turn")
    assert turn["complete"] is True
    assert [(event["tool"], event["args"]) for event in side.events("call_sealed")] == list(sample.calls)


@EACH
def test_b09_b10_b11_b14_the_samples_read_to_what_they_say(sample: Sample) -> None:
    for pieces, kind in (([sample.stream()], "text/event-stream"), ([dumped(sample.whole)], "application/json")):
        seen, end = read(sample.wire, pieces, content_type=kind)
        assert brief(end.calls) == list(sample.calls), kind
        assert brief(seen) == list(sample.calls), kind
        assert end.complete
    assert set(WIRES) <= set(SAMPLES)
