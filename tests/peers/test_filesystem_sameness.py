"""Part of a file, told from the whole of it, is what the official server says when asked for that part."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.policy import Policy
from tests.peers.npm import filesystem_command

pytestmark = pytest.mark.peer

POLICY = Policy.parse((Path(__file__).parents[2] / "policies" / "mcp-filesystem.toml").read_text(), "policy")
SAME = POLICY.rule_for(Invocation("filesystem/read_text_file", {})).same


@dataclass
class Server:
    """The server, asked one thing after the other."""

    ask: IO[bytes]
    hear: IO[bytes]
    file: Path
    number: int = 0

    def request(self, method: str, **params: Any) -> bytes:
        """The raw JSON of a result."""
        self.number += 1
        asked = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.ask.write(json.dumps(asked).encode() + b"\n")
        self.ask.flush()
        while (line := self.hear.readline()) and json.loads(line).get("id") != self.number:
            pass
        return line.removeprefix(b'{"result":').removesuffix(b',"jsonrpc":"2.0","id":%d}\n' % self.number)

    def read(self, **part: Any) -> ToolResult:
        """What it answers when asked for the file, or for part of it."""
        body = self.request("tools/call", name="read_text_file", arguments={"path": str(self.file), **part})
        return ToolResult(body=body, status=Status.ERROR if json.loads(body).get("isError") else Status.OK)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("files")
    process = subprocess.Popen(
        filesystem_command(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        server = Server(process.stdin, process.stdout, folder / "a.txt")
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        server.request("initialize", **hello)
        server.ask.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        yield server
        process.terminate()


def call(server: Server, **part: Any) -> Invocation:
    return Invocation("filesystem/read_text_file", {"path": str(server.file), **part})


words = st.one_of(
    st.text(max_size=12).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(
        (b"", b"\t", b"\r", b'"\\\x08\x0c\x01\x7f', "\u2028\ufeffé😀".encode(), b"x" * 1023, b"\xc3", b"\xff")
    ),
)
files = st.lists(st.tuples(words, st.sampled_from((b"\n", b"\r\n", b"\n", b"")))).map(
    lambda lines: b"".join(word + end for word, end in lines)
)
numbers = st.one_of(st.integers(0, 12), st.integers(0, 2**53), st.just(-1), st.just(1.5))
parts = st.dictionaries(st.sampled_from(("head", "tail")), numbers, max_size=2)


@settings(
    max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=files, part=parts)
def test_what_is_told_from_the_whole_file_is_what_the_server_says(
    server: Server, content: bytes, part: dict[str, Any]
) -> None:
    server.file.write_bytes(content)
    told = SAME.derived(call(server, **part), call(server), server.read(), 0.0)
    if told is not None:
        assert told == server.read(**part)


@pytest.mark.parametrize("content", [b"", b"one", b"one\n", b"one\r\ntwo\r\n\r\nthree", "é\n".encode() * 900])
@pytest.mark.parametrize("part", [{}, {"head": 0}, {"head": 1}, {"head": 2, "tail": 0}, {"tail": 2}, {"head": 9**9}])
def test_ordinary_parts_of_ordinary_files_are_told(server: Server, content: bytes, part: dict[str, Any]) -> None:
    server.file.write_bytes(content)
    assert SAME.derived(call(server, **part), call(server), server.read(), 0.0) == server.read(**part)


@pytest.mark.parametrize("part", [{"head": 1, "tail": 1}, {"head": -1}, {"tail": 2.0}, {"head": "1"}, {"head": True}])
def test_what_the_server_may_refuse_is_left_to_it(server: Server, part: dict[str, Any]) -> None:
    server.file.write_bytes(b"one\ntwo\n")
    assert SAME.core(call(server, **part)) == call(server, **part)
    assert SAME.derived(call(server, **part), call(server), server.read(), 0.0) is None


def test_a_failure_tells_of_no_other(server: Server) -> None:
    server.file.unlink(missing_ok=True)
    assert server.read().status is Status.ERROR
    assert SAME.derived(call(server, head=1), call(server), server.read(), 0.0) is None


def test_values_that_the_server_takes_for_granted_make_no_difference(server: Server) -> None:
    asks: dict[str, dict[str, Any]] = {
        "list_directory_with_sizes": {"sortBy": "name"},
        "directory_tree": {"excludePatterns": []},
        "search_files": {"pattern": "*", "excludePatterns": []},
    }
    for name, arguments in asks.items():
        asked = Invocation(f"filesystem/{name}", {"path": str(server.file.parent), **arguments})
        plain = POLICY.core(asked)
        assert plain != asked
        answers = [server.request("tools/call", name=name, arguments=each.arguments) for each in (asked, plain)]
        assert answers[0] == answers[1]
        assert b'"isError":true' not in answers[0]
