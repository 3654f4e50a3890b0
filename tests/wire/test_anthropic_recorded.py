"""Recorded sessions of Claude Code read to what really happened."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.wire.anthropic_messages import AnthropicMessages
from paste_proxy.wire.types import LlmRequest, TurnEnd
from tests.wire.reading import answered_by, recorded, request_of, session_of
from tests.wire.streams import cuts
from tests.wire.test_recorded_exchanges import mutated

WIRE = AnthropicMessages()
ECHOED = "/lab/proj/hello.txt"
"""The recordings' folder was renamed in the requests, not in the streams, where it lies across two deltas."""


def session(folder: Path) -> list[tuple[LlmRequest, TurnEnd]]:
    found = []
    exchanges = recorded(folder)
    streamed = str(answered_by(WIRE, [exchanges[0][2]])[1].calls[0].arguments["file_path"])
    assert streamed.endswith("/proj/hello.txt")
    for target, asked, answer, _ in exchanges:
        renamed = json.loads(json.dumps(asked).replace(f'"{ECHOED}"}}', f'"{streamed}"}}'))
        found.append((request_of(WIRE, renamed, target), answered_by(WIRE, [answer])[1]))
    return found


def calls(run: str, path: Any) -> list[list[tuple[str, str, Any]]]:
    first = {"a1": ("toolu_00020", "toolu_00021"), "a2": ("toolu_00010", "toolu_00011")}[run]
    second = {"a1": ("toolu_00030", "toolu_00031"), "a2": ("toolu_00020", "toolu_00021")}[run]
    shell = {"command": "echo hi-from-bash", "description": "echo"}
    return [
        [(first[0], "Read", {"file_path": path}), (first[1], "Bash", shell)],
        [(second[0], "mcp__labhttp__lookup", {"key": "a"}), (second[1], "mcp__labstdio__lookup", {"key": "b"})],
        [],
    ]


@pytest.mark.parametrize("run", ["a1", "a2"])
def test_a_claude_code_session_reads_to_its_calls(corpus: Path, run: str) -> None:
    turns = session(corpus / "fixtures/claude-code" / run)
    path = turns[0][1].calls[0].arguments["file_path"]
    assert [[(c.call_id, c.name, c.arguments) for c in end.calls] for _, end in turns] == calls(run, path)
    assert [(end.complete, end.finish) for _, end in turns] == [(True, "tool_use")] * 2 + [(True, "end_turn")]
    assert [(end.input_tokens, end.output_tokens) for _, end in turns] == [(100, 10)] * 3
    assert [end.text for _, end in turns] == ["I will read the file.", "", "All done."]
    assert all(request.stream and "Read" in request.tools and not request.utility for request, _ in turns)
    assert len({request.session_hint for request, _ in turns}) == 1
    assert turns[0][0].session_hint


@pytest.mark.parametrize("run", ["a1", "a2"])
def test_each_turn_of_a_claude_code_session_is_known_again_in_the_next_request(corpus: Path, run: str) -> None:
    for (earlier, end), (later, _) in pairwise(session(corpus / "fixtures/claude-code" / run)):
        digests = [message.digest for message in later.messages]
        assert digests[: len(earlier.messages)] == [message.digest for message in earlier.messages]
        assert digests[len(earlier.messages)] == end.digest
        answers = later.messages[len(earlier.messages) + 1 :]
        assert [m.output and m.output.call_id for m in answers] == [call.call_id for call in end.calls]


def test_outputs_are_what_the_tools_said(corpus: Path) -> None:
    request = session_of(WIRE, corpus / "fixtures/claude-code/a1")[-1][0]
    outputs = [message.output.output for message in request.messages if message.output]
    assert outputs == [
        "1\thello from the lab\n2\tsecond line\n3\t",
        "hi-from-bash",
        '{"result":"value-of-a"}',
        '{"result":"value-of-b"}',
    ]


def test_a_recorded_stream_reads_the_same_wherever_it_is_cut(corpus: Path) -> None:
    stream = recorded(corpus / "fixtures/claude-code/a1")[0][2]
    whole = answered_by(WIRE, [stream])
    for chunks in cuts(stream):
        assert answered_by(WIRE, chunks) == whole


def test_mutated_streams_and_requests_never_raise(corpus: Path) -> None:
    dice = random.Random(21)
    target, asked, stream, _ = recorded(corpus / "fixtures/claude-code/a1")[2]
    request = json.dumps({name: asked[name] for name in ("messages", "metadata")}).encode()
    stream = recorded(corpus / "fixtures/claude-code/a1")[1][2]
    for _ in range(1000):
        WIRE.read_request(mutated(request, dice), target=target)
        body = mutated(stream, dice)
        at = dice.randrange(len(body))
        seen, end = answered_by(WIRE, [body[:at], body[at:]], clean=dice.random() < 0.5)
        assert set(map(str, end.calls)) <= set(map(str, seen))
