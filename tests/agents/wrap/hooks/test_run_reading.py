"""The shell that runs commands ahead: the client's, and no further than the working folder."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paste_proxy.agents.wrap.client import User
from paste_proxy.agents.wrap.hooks import run_reading
from paste_proxy.agents.wrap.hooks.ahead import with_reading_shell
from paste_proxy.config import Config
from paste_proxy.proxy.composition import compose
from paste_proxy.speculation.reading_commands import READ_SHELL
from tests.agents.wrap.hooks.program import program

OWN = """# Snapshot file
unalias -a 2>/dev/null || true
shopt -s expand_aliases
function grep {
  echo mine
}
alias -- ll='ls -l'
alias ls='ls --color=auto'
"""


async def run(folder: Path, command: str, *more: str) -> tuple[int | None, bytes]:
    return await program(run_reading.__file__, str(folder), *more, asked={"command": command})


async def test_errors_stand_where_they_were_written_and_the_exit_code_is_the_commands(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    code, said = await run(tmp_path, "grep x none a")
    assert code == 2
    assert said.splitlines()[1:] == [b"a:x"]
    assert b"none" in said.splitlines()[0]


async def test_a_writer_whose_reader_has_enough_ends_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("".join(f"{number}\n" for number in range(200_000)))
    assert await run(tmp_path, "sort -n a | head -2") == (0, b"0\n1\n")


@pytest.mark.parametrize(
    "command",
    [
        "grep x ../outside",
        "grep x /etc/passwd",
        "ls ..",
        "ls link",
        "grep x folder/../../outside",
        "wc -l pipe",
        "grep x folder/out",
        "grep x note | tail -n 1 pipe",
        "rm note",
        "echo x > note",
        "cat note",
    ],
)
async def test_what_leads_out_of_the_folder_or_to_no_file_is_not_run_whoever_asks(tmp_path: Path, command: str) -> None:
    (tmp_path / "outside").write_text("x\n")
    folder = tmp_path / "work"
    (folder / "folder").mkdir(parents=True)
    (folder / "note").write_text("x\n")
    (folder / "link").symlink_to(tmp_path)
    (folder / "folder/out").symlink_to(tmp_path / "outside")
    os.mkfifo(folder / "pipe")
    assert await run(folder, command) == (125, b"")
    assert await run(folder, "grep -r x . | wc -l") == (0, b"1\n")
    assert await run(folder, f"ls {folder}/note") == (0, f"{folder}/note\n".encode())


async def test_a_program_that_is_not_the_systems_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ls").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "ls").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert await run(tmp_path, "ls") == (125, b"")
    assert not (tmp_path / "ran").exists()


def snapshot(tmp_path: Path, text: str) -> str:
    folder = tmp_path / "shell-snapshots"
    folder.mkdir(exist_ok=True)
    (folder / "snapshot-bash-1.sh").write_text(text)
    return str(folder)


async def test_the_clients_own_functions_are_the_shells(tmp_path: Path) -> None:
    place = snapshot(tmp_path, f"{OWN}export PATH=/usr/bin:/bin\n")
    (tmp_path / "a").write_text("x\n")
    assert await run(tmp_path, "grep x a", place, "0") == (0, b"mine\n")
    assert await run(tmp_path, "ls a", place, "0") == (0, b"a\n")
    assert await run(tmp_path, "ls a", place, str(time.time() + 60)) == (125, b"")


@pytest.mark.parametrize(
    "users",
    [
        "function ls {\n  touch ran\n}\n",
        'eval "$(echo bHMgKCkgeyB0b3VjaCByYW47IH0= | base64 -d)"\n',
        "alias ls='touch ran;ls'\n",
        "alias -- ls='touch\n  ran'\n",
        "ls () {\n  touch ran\n}\n",
    ],
)
async def test_where_the_user_gives_programs_another_meaning_nothing_is_run(tmp_path: Path, users: str) -> None:
    place = snapshot(tmp_path, f"{OWN}{users}export PATH=/usr/bin:/bin\n")
    assert await run(tmp_path, "ls", place, "0") == (125, b"")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("text", [OWN, ""])
async def test_with_half_a_snapshot_nothing_is_run(tmp_path: Path, text: str) -> None:
    assert await run(tmp_path, "ls", snapshot(tmp_path, text), "0") == (125, b"")
    assert await run(tmp_path, "ls", str(tmp_path / "none"), "0") == (125, b"")


_SETTABLE = sum(1 << (number - 1) for number in signal.valid_signals())
"""The bits of the signals that a program can set: libc keeps two for its threads, and some sandboxes ignore one."""


def test_a_program_that_takes_our_place_finds_no_signal_ignored() -> None:
    heard = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "  # who starts the tests may not hear it
    becoming = heard + "from paste_proxy.tools.become import become; become(['grep', 'SigIgn', '/proc/self/status'])"
    done = subprocess.run([sys.executable, "-c", becoming], capture_output=True, check=True, timeout=20)
    assert not int(done.stdout.split()[1], 16) & _SETTABLE


def test_a_sidecar_can_be_made_of_it_and_the_users_policies_come_first(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('default = "deny"\n')
    user = User(command=("claude", "-p"), home=tmp_path, folder=tmp_path, env={})
    config = with_reading_shell(Config(policies=(str(mine),)), "claude-code", user)
    assert config.policies == (str(mine), "builtin:shell")
    assert list(config.tools) == [READ_SHELL]
    compose(config)
