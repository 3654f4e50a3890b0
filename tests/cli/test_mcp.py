"""`paste-proxy mcp` as a program."""

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.peers.scripts import SCRIPTED

US = (sys.executable, "-c", "import typer; from paste_proxy.cli.mcp import mcp; typer.run(mcp)")
POLICY = '[[rule]]\nserver = "scripted"\ntool = "echo"\neffect = "read"\n'
PATTERN = '[[pattern]]\nid = "p"\ntool = "scripted/echo"\nconfidence = 0.5\narguments.text = { constant = "x" }\n'


def configured(folder: Path, policy: str = POLICY, pattern: str = PATTERN) -> Path:
    """A folder in which nothing is missing."""
    (folder / "policy.toml").write_text(policy)
    (folder / "pattern.toml").write_text(pattern)
    (folder / "paste.toml").write_text('policies = ["policy.toml"]\npatterns = ["pattern.toml"]\n')
    return folder


def start(*args: str, cwd: Path | None = None) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        (*US, *args), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd
    )


def call(number: int, name: str, **arguments: str | int) -> bytes:
    params = {"name": name, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


def test_what_a_client_hears_is_what_the_server_says(tmp_path: Path) -> None:
    lines = call(1, "echo", text="é") + call(2, "progress") + call(3, "fail") + call(4, "nope")
    plain = subprocess.run(SCRIPTED, input=lines, capture_output=True, timeout=30, check=True)
    for mode in ("off", "observe", "speculate"):
        ours = start("--mode", mode, "--", *SCRIPTED, cwd=configured(tmp_path))
        out, err = ours.communicate(lines, timeout=30)
        assert (out, err, ours.returncode) == (plain.stdout, b"", 0)


def test_the_server_s_exit_code_and_stderr_are_ours(tmp_path: Path) -> None:
    ours = start("--", *SCRIPTED, cwd=configured(tmp_path))
    out, err = ours.communicate(call(1, "die", code=42), timeout=30)
    assert (out, err, ours.returncode) == (b"", b"about to die\nfor a reason\n", 42)


def test_a_signal_reaches_the_server(tmp_path: Path) -> None:
    ours = start("--", *SCRIPTED, cwd=tmp_path)
    assert ours.stdin is not None
    assert ours.stdout is not None
    ours.stdin.write(call(1, "echo", text="up"))
    ours.stdin.flush()
    assert b"up" in ours.stdout.readline()
    ours.send_signal(signal.SIGTERM)
    ours.communicate(timeout=30)
    assert ours.returncode == 128 + signal.SIGTERM


def test_a_client_that_stops_reading_ends_the_server(tmp_path: Path) -> None:
    ours = start("--", *SCRIPTED, cwd=configured(tmp_path))
    assert ours.stdin is not None
    assert ours.stdout is not None
    ours.stdout.close()
    ours.stdin.write(call(1, "echo", text="x"))
    ours.stdin.close()
    assert ours.stderr is not None
    assert ours.stderr.read() == b""
    ours.stderr.close()
    assert ours.wait(timeout=30) == 0


def test_a_command_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    ours = start("--", "no-such-command", cwd=tmp_path)
    _, err = ours.communicate(b"", timeout=30)
    assert ours.returncode != 0
    assert b"'no-such-command' cannot be started" in err


def said(folder: Path, *options: str) -> list[str]:
    ours = start(*options, "--", *SCRIPTED, cwd=folder)
    return ours.communicate(b"", timeout=30)[1].decode().splitlines()


def test_where_nothing_can_be_run_ahead_one_line_says_why(tmp_path: Path) -> None:
    (line,) = said(tmp_path)
    assert "no policy speaks of the MCP server 'scripted', so it is only passed through" in line
    configured(tmp_path)
    assert said(tmp_path) == []
    (line,) = said(tmp_path, "--server", "files")
    assert "'files'" in line
    assert said(tmp_path, "--server", "files", "--mode", "off") == []
    (tmp_path / "paste.toml").write_text('policies = ["policy.toml"]')
    (line,) = said(tmp_path)
    assert "only patterns can foresee a call" in line


def test_policies_and_patterns_may_be_named_on_the_command_line(tmp_path: Path) -> None:
    configured(tmp_path)
    (tmp_path / "paste.toml").unlink()
    assert said(tmp_path, "--policy", "policy.toml", "--pattern", "pattern.toml") == []
    (line,) = said(tmp_path, "--policy", "policy.toml")
    assert "only patterns can foresee a call" in line
    (line,) = said(tmp_path, "--policy", "none.toml", "--mode", "speculate")[-1:]
    assert "none.toml" in line


@contextmanager
def serving(folder: Path, config: str) -> Iterator[str]:
    """A sidecar as a program; its address."""
    (folder / "paste.toml").write_text(config)
    sidecar = subprocess.Popen(
        (sys.executable, "-m", "paste_proxy", "serve", "--port", "0", "--log-level", "error"),
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert sidecar.stdout is not None
    try:
        yield sidecar.stdout.readline().split()[3]
    finally:
        sidecar.terminate()
        sidecar.communicate(timeout=30)


HELLO = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)


def test_joined_to_a_sidecar_the_client_hears_the_same_and_the_sidecar_counts_its_calls(tmp_path: Path) -> None:
    lines = HELLO + call(1, "echo", text="é") + call(2, "fail")
    plain = subprocess.run(SCRIPTED, input=lines, capture_output=True, timeout=30, check=True)
    with serving(tmp_path, f"[mcp.scripted]\ncommand = {json.dumps(SCRIPTED)}\n") as url:
        ours = start("--sidecar", url, "--server", "scripted", "--", "no-such-command")
        out, err = ours.communicate(lines, timeout=30)
        assert (sorted(out.splitlines()), err, ours.returncode) == (sorted(plain.stdout.splitlines()), b"", 0)
        with urllib.request.urlopen(f"{url}/paste/v1/stats") as answer:
            assert json.loads(answer.read())["calls"] == 2


def test_a_sidecar_without_the_server_says_which_it_has(tmp_path: Path) -> None:
    with serving(tmp_path, f"[mcp.files]\ncommand = {json.dumps(SCRIPTED)}\n") as url:
        ours = start("--sidecar", url, "--server", "scripted", "--", *SCRIPTED)
        _, err = ours.communicate(b"", timeout=30)
    assert ours.returncode != 0
    assert b"no MCP server 'scripted'" in err
    assert b"(there: files)" in err


@pytest.mark.parametrize("address", ["127.0.0.1:8377", "localhost:8377", "ftp://127.0.0.1", "http://"])
def test_an_address_that_is_none_over_http_is_told(address: str) -> None:
    ours = subprocess.run(
        (sys.executable, "-m", "paste_proxy", "mcp", "--sidecar", address, "--", *SCRIPTED),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (ours.returncode, ours.stdout) == (2, "")
    assert f"--sidecar: {address}; expected a URL with http://" in ours.stderr


def test_without_a_sidecar_the_command_runs_as_it_is(tmp_path: Path) -> None:
    lines = call(1, "echo", text="é") + call(2, "die", code=3)
    ours = start("--sidecar", "http://127.0.0.1:9", "--", *SCRIPTED, cwd=tmp_path)
    out, err = ours.communicate(lines, timeout=30)
    assert (json.loads(out)["id"], ours.returncode) == (1, 3)
    assert b"no sidecar answers at http://127.0.0.1:9" in err.splitlines()[0]
    assert err.splitlines()[1:] == [b"about to die", b"for a reason"]
