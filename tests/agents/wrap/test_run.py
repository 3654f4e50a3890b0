"""A run from end to end: a program that goes by a client's name, behind a real sidecar."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

STAND_IN = f"""#!{sys.executable}
import json, os, pathlib, sys, urllib.request
base = os.environ["GOOGLE_GEMINI_BASE_URL"]
home = pathlib.Path(os.environ["GEMINI_CLI_HOME"])
def get(url):
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code
if "--wait" in sys.argv:
    print(base.removesuffix("/llm"), os.getpid(), flush=True)
    sys.stdin.read()
if "--kill-sidecar" in sys.argv:
    log = next(home.parent.glob("sidecar/sidecar.log"))
    import signal, subprocess
    found = subprocess.run(["pgrep", "-f", str(log.with_name("paste.toml"))], capture_output=True, text=True)
    os.kill(int(found.stdout.split()[0]), signal.SIGKILL)
(home / ".gemini/history.txt").write_text("new")
ready = 0 if "--kill-sidecar" in sys.argv else get(base.removesuffix("/llm") + "/readyz")
private = oct(home.parent.stat().st_mode & 0o777)
print(json.dumps({{"args": sys.argv[1:], "ready": ready, "place": str(home), "private": private}}))
sys.exit(5)
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    for name in ("bin", "home", "work", "tmp"):
        (tmp_path / name).mkdir()
    program = tmp_path / "bin/gemini"
    program.write_text(STAND_IN)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {
        **os.environ,
        "HOME": str(tmp_path / "home"),
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "TMPDIR": str(tmp_path / "tmp"),
        "GEMINI_API_KEY": "k",
    }


def wrap(tmp_path: Path, env: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "paste_proxy", "wrap", *words]
    return subprocess.run(
        command, cwd=tmp_path / "work", env=env, check=False, capture_output=True, text=True, timeout=90
    )


def test_the_clients_code_and_output_are_the_runs_and_nothing_is_left_but_what_it_leaves(
    tmp_path: Path, env: dict[str, str]
) -> None:
    done = wrap(tmp_path, env, "--json", "account.json", "gemini", "--mode", "x", "--", "--json", "y")
    assert done.returncode == 5, done.stderr
    said = json.loads(done.stdout)
    assert said["args"] == ["--mode", "x", "--", "--json", "y"]
    assert said["ready"] == 200
    assert said["private"] == "0o700"
    assert "paste-proxy: gemini-cli took" in done.stderr
    account = json.loads((tmp_path / "work/account.json").read_text())
    assert (account["client"], account["exit_code"], account["mode"]) == ("gemini-cli", 5, "observe")
    assert not Path(said["place"]).exists()
    assert list((tmp_path / "tmp").iterdir()) == []
    left = [str(path.relative_to(tmp_path / "home")) for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert left == [".gemini/history.txt"]


def test_a_sidecar_that_dies_is_told_of_at_the_end_and_the_client_goes_on(tmp_path: Path, env: dict[str, str]) -> None:
    done = wrap(tmp_path, env, "gemini", "--kill-sidecar")
    assert done.returncode == 5
    assert "the sidecar ended during the run" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["something", "-x"], "one of gemini-cli, qwen-code, codex, claude-code; for any other agent run"),
        (["/nowhere/gemini"], "/nowhere/gemini"),
        (["--policy", "none.toml", "gemini"], "none.toml"),
        (["--policy", "builtin:none", "gemini"], "builtin:none"),
        (["--pattern", "none.json", "gemini"], "none.json"),
        (["--config", "none.toml", "gemini"], "none.toml"),
        (["--config", "names_none.toml", "gemini"], "missing.toml"),
    ],
)
def test_what_cannot_be_run_is_told_and_nothing_is_started(
    tmp_path: Path, env: dict[str, str], words: list[str], told: str
) -> None:
    (tmp_path / "work/names_none.toml").write_text('policies = ["missing.toml"]')
    done = wrap(tmp_path, env, *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("paste-proxy: ") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list((tmp_path / "tmp").iterdir()) == []


def test_no_sidecar_outlives_its_wrapper_and_client_however_they_end(tmp_path: Path, env: dict[str, str]) -> None:
    command = [sys.executable, "-m", "paste_proxy", "wrap", "gemini", "--wait"]
    with subprocess.Popen(
        command, cwd=tmp_path / "work", env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as wrapper:
        assert wrapper.stdout is not None
        url, client = wrapper.stdout.readline().split()
        wrapper.kill()
        wrapper.wait()
        assert _answers(url), "the client still needs it"
        os.kill(int(client), signal.SIGKILL)
        deadline = time.monotonic() + 30
        while _answers(url):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5):
            return True
    except OSError:
        return False
