"""Recorded sessions of gemini-cli read to what really happened."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.wire.gemini import Gemini
from tests.wire.reading import answered_by, recorded, request_of, session_of
from tests.wire.streams import cuts
from tests.wire.test_recorded_exchanges import mutated

WIRE = Gemini()
CALLS: dict[str, list[list[tuple[str, Any]]]] = {
    "gem1": [
        [("read_file", {"file_path": "hello.txt"})],
        [("grep_search", {"pattern": "second"}), ("glob", {"pattern": "*.txt"})],
        [("run_shell_command", {"command": "echo shell-$((6*7))", "description": "echo"})],
        [],
    ],
    "gemW": [
        [("run_shell_command", {"command": "sleep 5; echo expensive"})],
        [("read_file", {"file_path": "hello.txt"})],
        [],
    ],
    "pg": [
        [("mcp_labhttp_slow_read", {"key": "a"}), ("mcp_labhttp_slow_read", {"key": "b"})],
        [("mcp_labhttp_slow_write", {"key": "c"}), ("mcp_labhttp_slow_write", {"key": "d"})],
        [],
    ],
}
CALLS["gem2"] = CALLS["gem1"]
SESSIONS = [*CALLS, "gemC2", "gemM", "gemS"]


@pytest.mark.parametrize("run", CALLS)
def test_a_gemini_cli_session_reads_to_its_calls(corpus: Path, run: str) -> None:
    turns = session_of(WIRE, corpus / "fixtures/gemini-cli" / run)
    assert [[(c.name, c.arguments) for c in end.calls] for _, end in turns] == CALLS[run]
    assert all((end.complete, end.finish) == (True, "STOP") for _, end in turns)
    assert all((end.input_tokens, end.output_tokens) == (100, 10) for _, end in turns)
    assert all(request.stream and request.model.startswith("gemini-") and request.tools for request, _ in turns)


@pytest.mark.parametrize("run", SESSIONS)
def test_each_turn_is_known_again_in_the_next_request_and_its_results_are_paired(corpus: Path, run: str) -> None:
    turns = session_of(WIRE, corpus / "fixtures/gemini-cli" / run)
    assert len(turns) > 2
    for (earlier, end), (later, _) in pairwise(turns):
        digests = [message.digest for message in later.messages]
        assert digests[: len(earlier.messages)] == [message.digest for message in earlier.messages]
        assert digests[len(earlier.messages)] == end.digest
        answers = later.messages[len(earlier.messages) + 1 :]
        assert {m.output and m.output.call_id for m in answers} == {call.call_id for call in end.calls}
        assert later.messages[len(earlier.messages)].calls == end.calls


def test_side_questions_are_told_from_turns(corpus: Path) -> None:
    kinds = {
        run: [
            request_of(WIRE, asked, target).utility
            for target, asked, _, _ in recorded(corpus / "fixtures/gemini-cli" / run)
        ]
        for run in ("gem1", "gemS", "gemL_util", "gemM")
    }
    assert kinds == {
        "gem1": [True, False, False, False, False],
        "gemS": [False, False, True, False, False],
        "gemL_util": [True, True],
        "gemM": [False] * 4,
    }


def test_outputs_are_what_the_tools_said(corpus: Path) -> None:
    request = session_of(WIRE, corpus / "fixtures/gemini-cli/gemS")[-1][0]
    outputs = [message.output for message in request.messages if message.output]
    assert [(seen.output, seen.failed) for seen in outputs] == [
        ("Echo: hi", False),
        ("Long running operation completed. Duration: 1 seconds, Steps: 2.", False),
        ('No search results or information found for query: "speculative execution agents"', False),
        ("All requested URLs were skipped: [Blocked Host] http://127.0.0.1:8801/page", True),
    ]


def test_a_recorded_body_reads_the_same_wherever_it_is_cut(corpus: Path) -> None:
    for position in (0, 1, 2):
        _, _, body, content_type = recorded(corpus / "fixtures/gemini-cli/gem1")[position]
        whole = answered_by(WIRE, [body], content_type=content_type)
        assert whole[1].complete
        for chunks in cuts(body):
            assert answered_by(WIRE, chunks, content_type=content_type) == whole


def test_mutated_bodies_and_requests_never_raise(corpus: Path) -> None:
    dice = random.Random(22)
    target, asked, body, content_type = recorded(corpus / "fixtures/gemini-cli/gem1")[2]
    request = json.dumps({"contents": asked["contents"][1:]}).encode()
    for _ in range(1000):
        WIRE.read_request(mutated(request, dice), target=target)
        odd = mutated(body, dice)
        at = dice.randrange(len(odd))
        kind = dice.choice([content_type, "application/json"])
        seen, end = answered_by(WIRE, [odd[:at], odd[at:]], clean=dice.random() < 0.5, content_type=kind)
        assert set(map(str, end.calls)) <= set(map(str, seen))
