"""Views of a user without rights. As root, another user is taken."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.staging.copying import clear

USER = 4321
ROOT = Path(__file__).parents[2]

_RUN = """
import asyncio, json, os, sys
from dataclasses import asdict
from paste_proxy.staging.forks import Forks
from paste_proxy.staging.normal import run
from paste_proxy.staging.probe import probe
from paste_proxy.staging.types import Staged
from paste_proxy.staging.view import make_overlays, run_in_view

async def main(base, workspace, command):
    forks = Forks()
    tier, reason = await probe(base, forks)
    if tier != "user":
        return {"reason": reason}
    env = (("HOME", base), ("PATH", "/usr/bin:/bin"))
    argv = ("/bin/sh", "-c", command)
    staged = Staged(argv=argv, workspace=workspace, cwd=workspace, env=env, umask=0o22, timeout_s=30)
    folder = base + "/stage"
    os.mkdir(folder)
    ran = await run_in_view(staged, make_overlays(workspace, folder), tier, forks, folder=folder, output_bytes=9999)
    await forks.close()
    came = sorted(os.listdir(workspace))
    normal = await run(staged, output_bytes=9999)
    said = [(each.output.decode(), each.exit_code) for each in (ran, normal)]
    return {"said": said, "poisons": ran.poisons, "came": came}

print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
"""


@pytest.fixture
def base() -> Iterator[Path]:
    """The user's own, with a workspace in it."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    workspace = folder / "workspace"
    (workspace / "old").mkdir(parents=True)
    (workspace / "file").write_text("file\n")
    if os.geteuid() == 0:
        for path in (folder, workspace, workspace / "old", workspace / "file"):
            os.chown(path, USER, USER)
    yield folder
    clear(str(folder))


def run_as_user(base: Path, command: str) -> dict[str, Any]:
    become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--", "env"]
    become = (
        become if os.geteuid() == 0 else []
    )  # by `env`: setpriv itself still has its rights when it starts a program
    if become and not shutil.which("setpriv"):
        pytest.skip("needs setpriv to become another user")
    python = next((python for python in (sys.executable, "/usr/bin/python3") if _can_run([*become, python])), None)
    if python is None:
        pytest.skip("no Python of this version that the other user may run")
    env = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(base), "PATH": os.environ["PATH"]}
    ran = subprocess.run(
        [*become, python, "-c", _RUN, str(base), str(base / "workspace"), command],
        env=env, cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    if "reason" in told:
        pytest.skip(f"no views for a user here: {told['reason']}")
    return told


def _can_run(python: list[str]) -> bool:
    wanted = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import paste_proxy.staging.view"
    try:
        return subprocess.run([*python, "-c", wanted], capture_output=True, cwd="/", check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.parametrize(
    "command",
    [
        "echo more >>file; mkdir made; mv made named; cat file; ls; exit 3",
        "umask; pwd; env | sort; ulimit -a",
        "whoami; test -w .; echo $?; mktemp -u -p /var/tmp x; cat /etc/shadow; echo $?",
        "t=$(mktemp) && echo x >$t && cat $t; u=$(mktemp -p /var/tmp) && rm $t $u; mkdir ~/cache && echo y >~/cache/z",
    ],
)
def test_a_command_says_the_same_and_changes_nothing(base: Path, command: str) -> None:
    told = run_as_user(base, command)
    assert told["poisons"] == []
    assert told["came"] == ["file", "old"]
    staged, normal = told["said"]
    assert staged == normal


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("mv old new", "a border of the view"),
        ("/usr/bin/python3 -c 'import os; os.chown(\"file\", 1, 1)'", "an owner who is not known"),
        ("id", "owners of files"),
        ("ls -la", "owners of files"),
        ("su -c true </dev/null", "the rights of others"),
        ("test -w /etc", "open only here"),
        ("curl -s http://192.0.2.1", "the network"),
        ("sleep 60 &", "left processes behind"),
        ("echo x >/new-in-the-root", "read-only"),
    ],
)
def test_where_it_comes_upon_the_walls_it_is_not_committed(base: Path, command: str, why: str) -> None:
    told = run_as_user(base, command)
    assert why in str(told["poisons"]), told
