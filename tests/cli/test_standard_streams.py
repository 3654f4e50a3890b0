"""The commands where stdin, stdout or stderr is closed, full, unread or no pipe."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

PASTE = (sys.executable, "-m", "paste_proxy")
TRACE = b'{"session":"t\\ud800","seq":0,"ts":1,"type":"user","output":"look"}\n' * 3
STREAMS = """
import os, socket
from paste_proxy.cli.standard_streams import hold_standard_streams
hold_standard_streams()
print("said")
assert socket.socket().fileno() > 2
assert all(os.get_inheritable(number) for number in range(3))
"""


def closing(*numbers: int) -> Callable[[], None]:
    def close() -> None:
        for number in numbers:
            os.close(number)

    return close


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(TRACE)
    return path


@pytest.mark.parametrize("numbers", [(1,), (0, 1, 2)])
def test_what_is_opened_never_takes_the_number_of_a_closed_stream(numbers: tuple[int, ...]) -> None:
    run = subprocess.run(
        (sys.executable, "-c", STREAMS), capture_output=True, preexec_fn=closing(*numbers), timeout=30, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"" if 1 in numbers else b"said\n", b"")


def test_a_closed_stdout_is_a_null_device(trace: Path) -> None:
    command = (*PASTE, "import", "neutral", str(trace), "-o", "-")
    run = subprocess.run(command, stderr=subprocess.PIPE, preexec_fn=closing(1), timeout=30, check=False)
    assert (run.returncode, run.stderr) == (0, b"1 session, 3 events\n")


@pytest.mark.parametrize("command", ["import neutral TRACE -o -", "evaluate TRACE --pool builtin:research"])
def test_a_full_stdout_is_one_sentence(trace: Path, command: str) -> None:
    with ExitStack() as stack:
        full = stack.enter_context(Path("/dev/full").open("wb"))
        words = command.replace("TRACE", str(trace)).split()
        run = subprocess.run((*PASTE, *words), stdout=full, stderr=subprocess.PIPE, timeout=30, check=False)
    assert run.returncode == 1
    assert b"paste-proxy: [Errno 28] No space left on device" in run.stderr
    assert b"Traceback" not in run.stderr


def test_a_reader_that_leaves_early_is_no_fault(trace: Path) -> None:
    trace.write_bytes(TRACE * 20_000)
    command = (*PASTE, "import", "neutral", str(trace), "-o", "-")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        run.stdout.readline()
        run.stdout.close()
        _, said = run.communicate(timeout=60)
    assert (run.returncode, said) == (1, b"")


def test_a_tool_name_that_is_no_text_is_shown_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b'{"session":"s","seq":0,"type":"tool_call","tool":"t\\u00e9\\ud800","call_id":"1","args":{}}\n')
    command = (*PASTE, "evaluate", str(path), "--pool", "builtin:research")
    run = subprocess.run(command, capture_output=True, timeout=30, check=False)
    assert (run.returncode, run.stderr, b"calls 1" in run.stdout) == (0, b"", True)


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
@pytest.mark.parametrize("how", ["closed", "null device"])
def test_an_mcp_server_without_pipes_is_one_sentence(tmp_path: Path, stream: str, how: str) -> None:
    with ExitStack() as stack:
        there = {"null device": Path(os.devnull), "file": tmp_path / "file"}.get(how)
        given = stack.enter_context(there.open("w+b")).fileno() if there is not None else subprocess.PIPE
        number = 0 if stream == "stdin" else 1
        run = stack.enter_context(
            subprocess.Popen(
                (*PASTE, "mcp", "--", "cat"),
                stdin=given if stream == "stdin" else subprocess.PIPE,
                stdout=given if stream == "stdout" else subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=tmp_path,
                preexec_fn=closing(number) if how == "closed" else None,
            )
        )
        _, said = run.communicate(timeout=30)
    assert run.returncode == 1
    assert (
        said.decode().splitlines()[-1]
        == f"paste-proxy: {stream} is no pipe; an MCP client talks to this command through pipes"
    )


def test_a_client_that_stops_reading_ends_the_server_quietly(tmp_path: Path) -> None:
    command = (
        *PASTE,
        "mcp",
        "--mode",
        "off",
        "--",
        "sh",
        "-c",
        "while echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do :; done",
    )
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    ) as run:
        assert run.stdout is not None
        run.stdout.readline()
        run.stdout.close()
        assert run.stderr is not None
        assert run.stderr.read() == b""
