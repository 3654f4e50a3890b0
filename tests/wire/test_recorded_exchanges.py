"""Recorded traffic of real clients reads to what really happened."""

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.wire.jsonrpc import Request, Response, read_message
from paste_proxy.wire.mcp import Era, McpToolCall, tool_call, tool_result
from paste_proxy.wire.mcp_tools import listed_tools
from paste_proxy.wire.openai_chat import OpenAiChat
from paste_proxy.wire.sse import SseDecoder
from paste_proxy.wire.types import LlmRequest, TurnEnd
from tests.wire.streams import answered, brief, cuts

TARGET = "/v1/chat/completions"


def exchanges(folder: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Request bodies (as values) and response bodies, in their order."""
    for path in sorted(folder.glob("*_POST_*.json")):
        recorded = json.loads(path.read_text("utf-8"))
        yield recorded["request"]["body"], recorded["response"]["body"] or ""


def turns(folder: Path) -> list[tuple[LlmRequest, TurnEnd]]:
    found = []
    for asked, answer in exchanges(folder):
        request = OpenAiChat().read_request(json.dumps(asked).encode(), target=TARGET)
        assert request is not None
        found.append((request, answered([answer.encode()])[1]))
    return found


CALLS = [
    [("call_1_0", "read_file", {"file_path": "/lab/proj/hello.txt", "absolute_path": "/lab/proj/hello.txt"})],
    [
        (
            "call_2_0",
            "run_shell_command",
            {"command": "echo hi-from-shell", "description": "echo", "is_background": False},
        ),
        ("call_2_1", "mcp__labhttp__lookup", {"key": "q"}),
    ],
    [],
]


@pytest.mark.parametrize("run", ["q1", "q2"])
def test_a_qwen_code_session_reads_to_its_calls(corpus: Path, run: str) -> None:
    session = turns(corpus / "fixtures/qwen-code" / run)
    assert [[(c.call_id, c.name, c.arguments) for c in end.calls] for _, end in session] == CALLS
    assert [(end.complete, end.finish) for _, end in session] == [(True, "tool_calls")] * 2 + [(True, "stop")]
    assert [(end.input_tokens, end.output_tokens) for _, end in session] == [(100, 10)] * 3
    assert session[-1][1].text == "All done."
    assert all(request.stream and "read_file" in request.tools for request, _ in session)


@pytest.mark.parametrize("run", ["q1", "q2"])
def test_each_turn_of_a_qwen_code_session_is_known_again_in_the_next_request(corpus: Path, run: str) -> None:
    session = turns(corpus / "fixtures/qwen-code" / run)
    for (earlier, end), (later, _) in pairwise(session):
        digests = [message.digest for message in later.messages]
        assert digests[: len(earlier.messages)] == [message.digest for message in earlier.messages]
        assert digests[len(earlier.messages)] == end.digest
        answers = later.messages[len(earlier.messages) + 1 :]
        assert [m.output and m.output.call_id for m in answers] == [call.call_id for call in end.calls]


def test_a_recorded_stream_reads_the_same_wherever_it_is_cut(corpus: Path) -> None:
    _, stream = list(exchanges(corpus / "fixtures/qwen-code/q1"))[1]
    seen, end = answered([stream.encode()])
    for n, chunks in enumerate(cuts(stream.encode())):
        if n % 7 == 0:
            assert answered(chunks) == (seen, end)


def test_mutated_streams_and_requests_never_raise(corpus: Path) -> None:
    dice = random.Random(20)
    asked, stream = list(exchanges(corpus / "fixtures/qwen-code/q1"))[1]
    request = json.dumps(asked["messages"]).encode()
    for _ in range(1500):
        OpenAiChat().read_request(b'{"messages":' + mutated(request, dice) + b"}", target=TARGET)
        reader = OpenAiChat(max_answer_bytes=3000).reader(content_type="text/event-stream")
        body = mutated(stream.encode(), dice)
        at = dice.randrange(len(body))
        calls = [*reader.feed(body[:at]), *reader.feed(body[at:])]
        end = reader.close(clean=dice.random() < 0.5)
        assert set(map(str, end.calls)) <= set(map(str, calls))


def mutated(text: bytes, dice: random.Random) -> bytes:
    raw = bytearray(text)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(raw) - 40)
        match dice.randrange(4):
            case 0:
                raw[at] = dice.randrange(256)
            case 1:
                del raw[at : at + dice.randint(1, 30)]
            case 2:
                raw[at:at] = raw[dice.randrange(len(raw)) :][: dice.randint(1, 30)]
            case _:
                raw[at : at + 1] = dice.choice(
                    [b'"', b"\\", b"\n\n", b"{", b"}", b"null", b"[]", b"\\ud800", b"0" * 20]
                )
    return bytes(raw)


def tool_calls(folder: Path) -> list[tuple[McpToolCall, bytes]]:
    """The tool calls of an MCP recording, each with the result of its response."""
    found = []
    for asked, answer in exchanges(folder):
        request = read_message(json.dumps(asked).encode())
        call = tool_call(request) if isinstance(request, Request) else None
        if call is None:
            continue
        events = SseDecoder(1 << 20).feed(answer.encode())
        responses = [read_message(event.data) for event in events if event.data]
        results = [r.result_raw for r in responses if isinstance(r, Response) and r.id_raw == call.id_raw]
        assert len(results) == 1
        found.append((call, results[0] or b""))
    return found


@pytest.mark.parametrize(
    ("folder", "name", "era", "call_id"),
    [
        ("codex/mcphttp", "lookup", Era.SESSION, "call_2_0"),
        ("claude-code/mcphttp", "lookup", Era.SESSION, "toolu_00030"),
        ("claude-code/mcphttp_2026", "lookup", Era.STATELESS, "toolu_00020"),
        ("qwen-code/mcphttp", "slow_read", Era.SESSION, None),
        ("mcp/mcppy", "lookup", Era.STATELESS, None),
    ],
)
def test_recorded_mcp_calls_are_read_with_era_ids_and_results(
    corpus: Path, folder: str, name: str, era: Era, call_id: str | None
) -> None:
    call, result = tool_calls(corpus / "fixtures" / folder)[0]
    assert (call.name, call.era, call.call_id, call.plain) == (name, era, call_id, True)
    answer = tool_result(result)
    assert answer is not None
    assert answer.body == result


def test_codex_names_its_session_in_an_mcp_call(corpus: Path) -> None:
    calls = [call for call, _ in tool_calls(corpus / "fixtures/codex/mcphttp")]
    assert [(c.name, c.session) for c in calls] == [
        ("lookup", "01a22e4c-ff37-7751-8cd8-4e0f86be0b84"),
        ("write_note", "01a22e4c-ff37-7751-8cd8-4e0f86be0b84"),
    ]


def test_listed_tools_of_real_servers_carry_their_hints(corpus: Path) -> None:
    files = listed_tools((corpus / "fixtures/mcp/server-filesystem.stdio.tools.json").read_bytes())
    assert (len(files), sum(tool.read_only for tool in files)) == (14, 10)
    by_name = {tool.name: tool for tool in files}
    assert by_name["write_file"].destructive
    assert by_name["write_file"].idempotent
    everything = listed_tools((corpus / "fixtures/mcp/server-everything.stdio.tools.json").read_bytes())
    assert len(everything) == 13


def test_calls_are_given_while_the_stream_still_runs(corpus: Path) -> None:
    _, stream = list(exchanges(corpus / "fixtures/qwen-code/q1"))[1]
    before_finish = stream.encode().split(b'"finish_reason": "tool_calls"')[0]
    seen, _ = answered([before_finish], clean=False)
    assert [name for _, _, name, _ in brief(seen)] == ["run_shell_command", "mcp__labhttp__lookup"]
