"""A run from end to end: a program that goes by a client's name, behind a real sidecar."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
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
if "--kill-sidecar" in sys.argv:
    log = home.parent / "sidecar.log"
    import signal, subprocess
    found = subprocess.run(["pgrep", "-f", f"lifeline {{home.parent}} "], capture_output=True, text=True)
    os.kill(int(found.stdout.split()[0]), signal.SIGKILL)
if "--change" in sys.argv:
    settings = json.loads((home / ".gemini/settings.json").read_text())
    (home / ".gemini/settings.json").write_text(json.dumps({{**settings, "ui": {{"theme": "light"}}}}))
(home / ".gemini/oauth_creds.json").unlink(missing_ok=True)
(home / ".gemini/oauth_creds.json").write_text("rotated")
(home / ".gemini/history.txt").write_text("new")
if "--wait" in sys.argv:
    print(base.removesuffix("/llm"), os.getpid(), flush=True)
    sys.stdin.read()
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
    assert sorted(left) == [".gemini/history.txt", ".gemini/oauth_creds.json"]


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


def test_what_the_client_changes_in_its_settings_is_the_users(tmp_path: Path, env: dict[str, str]) -> None:
    settings = tmp_path / "home/.gemini/settings.json"
    settings.parent.mkdir()
    for users, told in (('{"vim": true}', False), ('{"vim": true} // mine', True)):
        settings.write_text(users)
        done = wrap(tmp_path, env, "gemini", "--change")
        assert ("could not all be taken over" in done.stderr) is told
        if told:
            kept = Path(done.stderr.split()[-1])
            assert (settings.read_text(), json.loads(kept.read_text())["ui"]) == (users, {"theme": "light"})
        else:
            assert json.loads(settings.read_text()) == {"vim": True, "ui": {"theme": "light"}}


@pytest.mark.parametrize("client_too", [False, True])
def test_nothing_outlives_a_wrapper_that_was_killed_but_what_the_client_needs(
    tmp_path: Path, env: dict[str, str], client_too: bool
) -> None:
    settings = {"vim": True, "mcpServers": {"s": {"command": "s", "env": {"TOKEN": "SECRET"}}}}
    (tmp_path / "home/.gemini").mkdir()
    (tmp_path / "home/.gemini/settings.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "paste_proxy", "wrap", "gemini", "--change", "--wait"]
    with subprocess.Popen(
        command, cwd=tmp_path / "work", env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as wrapper:
        assert wrapper.stdout is not None
        url, client = wrapper.stdout.readline().split()
        place = next((tmp_path / "tmp").glob("paste-wrap-*"))
        assert not list(place.rglob("*.toml"))
        wrapper.kill()
        wrapper.wait()
        assert _answers(url), "the client still needs it"
        if client_too:
            sidecar = subprocess.run(["pgrep", "-f", f"lifeline {place} "], capture_output=True, text=True, check=True)
            for number in (*sidecar.stdout.split(), client):
                os.kill(int(number), signal.SIGKILL)
            _until(lambda: not _runs(int(client)))
            wrap(tmp_path, env, "gemini")
        else:
            os.kill(int(client), signal.SIGKILL)
        _until(lambda: not _answers(url) and not place.exists())
    assert (tmp_path / "home/.gemini/oauth_creds.json").read_text() == "rotated"
    kept = json.loads((tmp_path / "home/.gemini/settings.json").read_text())
    assert kept == {**settings, "ui": {"theme": "light"}}


def test_the_folder_of_a_run_that_goes_on_is_left_alone(tmp_path: Path, env: dict[str, str]) -> None:
    command = [sys.executable, "-m", "paste_proxy", "wrap", "gemini", "--wait"]
    with subprocess.Popen(
        command, cwd=tmp_path / "work", env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as wrapper:
        assert wrapper.stdout is not None
        assert wrapper.stdout.readline()
        place = next((tmp_path / "tmp").glob("paste-wrap-*"))
        assert wrap(tmp_path, env, "gemini").returncode == 5
        assert (place / "home/.gemini").is_dir()
        wrapper.communicate("")
        assert wrapper.returncode == 5
    assert list((tmp_path / "tmp").iterdir()) == []


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5):
            return True
    except OSError:
        return False
