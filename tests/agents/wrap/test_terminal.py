"""The client's process: its exit code, and the signals that it and the wrapper get."""

import os
import pty
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

WRAPPER = """
import os, sys
from paste_proxy.agents.wrap.terminal import Terminal
with Terminal() as terminal:
    code = terminal.run(sys.argv[1:], dict(os.environ))
    print("code", code, flush=True)
    sys.exit(code)
"""
CLIENT = """
import os, signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append("int"))
signal.signal(signal.SIGTERM, lambda *_: (print("seen", *seen, "term", flush=True), os._exit(7)))
print("up", os.getpid(), flush=True)
told = 0
while True:
    time.sleep(0.02)
    if len(seen) > told:
        told = len(seen)
        print("woke", told, flush=True)
"""
_PATIENCE_S = 20.0


@pytest.fixture
def client(tmp_path: Path) -> list[str]:
    path = tmp_path / "client.py"
    path.write_text(CLIENT)
    return [sys.executable, str(path)]


class Spoken:
    """Lines from a file descriptor, waited for."""

    def __init__(self, number: int) -> None:
        self._number, self._text = number, ""

    def line_with(self, word: str) -> str:
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            while "\n" in self._text:
                line, _, self._text = self._text.partition("\n")
                if word in line:
                    return line.strip().replace("^C", "")  # the terminal echoes it
            if select.select([self._number], [], [], 0.5)[0]:
                self._text += os.read(self._number, 4096).decode()
        raise AssertionError(f"no {word!r} in {self._text!r}")


@pytest.fixture
def apart(client: list[str]) -> Iterator[tuple["subprocess.Popen[bytes]", Spoken]]:
    """A wrapper without a terminal and its client."""
    command = [sys.executable, "-c", WRAPPER, *client]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    yield process, Spoken(process.stdout.fileno())
    process.stdout.close()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(
    ("program", "code"), [("import sys; sys.exit(42)", 42), ("import os; os.kill(os.getpid(), 9)", 137), ("", 0)]
)
def test_the_exit_code_is_the_clients(program: str, code: int) -> None:
    command = [sys.executable, "-c", WRAPPER, sys.executable, "-c", program]
    assert subprocess.run(command, check=False, capture_output=True).returncode == code


def test_signals_sent_to_the_wrapper_alone_go_to_the_client(apart: tuple["subprocess.Popen[bytes]", Spoken]) -> None:
    process, said = apart
    said.line_with("up")
    process.send_signal(signal.SIGINT)
    assert said.line_with("woke") == "woke 1"
    process.send_signal(signal.SIGTERM)
    assert said.line_with("seen") == "seen int term"
    assert process.wait(_PATIENCE_S) == 7


def test_a_signal_before_there_is_a_client_ends_the_wrapper() -> None:
    program = textwrap.dedent("""
        import os, signal
        from paste_proxy.agents.wrap.terminal import Terminal
        with Terminal():
            os.kill(os.getpid(), signal.SIGTERM)
        """)
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 128 + signal.SIGTERM


def test_what_was_ignored_before_is_ignored_by_the_client_too(client: list[str]) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    shows = "import signal; print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, flush=True)"
    command = [sys.executable, "-c", WRAPPER, sys.executable, "-c", shows]
    done = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=ignore)
    assert done.stdout.splitlines()[0] == "True"


def test_ctrl_c_reaches_the_client_once_and_ctrl_z_stops_both(client: list[str]) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", WRAPPER, *client])
    try:
        said = Spoken(terminal)
        child = int(said.line_with("up ").split()[1])
        os.write(terminal, b"\x03")
        assert said.line_with("woke") == "woke 1"
        os.write(terminal, b"\x03")
        assert said.line_with("woke") == "woke 2"
        os.kill(child, signal.SIGSTOP)  # as a client does that gives the shell its terminal back
        stopped, status = os.waitpid(pid, os.WUNTRACED)
        assert stopped == pid
        assert os.WIFSTOPPED(status)
        os.kill(pid, signal.SIGCONT)
        os.write(terminal, b"\x03")
        assert said.line_with("woke") == "woke 3"
        os.kill(child, signal.SIGTERM)
        assert said.line_with("seen") == "seen int int int term"
        assert said.line_with("code") == "code 7"
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 7
    finally:
        os.close(terminal)
