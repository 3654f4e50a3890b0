"""What a command finds around it in a view is what it finds in a normal run."""

import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from paste_proxy.staging.normal import run
from tests.staging.runs import OUTPUT_BYTES, PROGRAM, Views
from tests.staging.workplace import staged

_SIGNALS = (
    "import signal; print([(s.name, str(signal.getsignal(s))) for s in signal.Signals], signal.pthread_sigmask(0, []))"
)
_STREAMS = (
    "import os; print([(n, os.readlink(f'/proc/self/fd/{n}') if n == 0 else os.fstat(n).st_mode) "
    "for n in sorted(map(int, os.listdir('/proc/self/fd')))[:-1]], os.fstat(1) == os.fstat(2), os.isatty(0))"
)
_SESSION = (
    "import os; p = os.getpid(); print(os.getsid(0) == p, os.getpgrp() == p, os.path.exists('/dev/tty'), os.nice(0))"
)
_TERMINAL = "import errno, os\ntry: os.open('/dev/tty', os.O_RDWR)\nexcept OSError as e: print(e)"
_PLACES = (
    "import os; places = '/', '/usr', '/etc', '/root', '.'; "
    "print([(p, os.stat(p).st_mode, os.stat(p).st_uid, os.stat(p).st_mtime_ns) for p in places])"
)


@pytest.mark.parametrize(
    "command",
    [
        ("env | sort",),
        ("pwd; cd ..; pwd",),
        ("umask; ulimit -a; ulimit -aH",),
        ("set",),
        ("ls / /etc /usr/bin; cat /etc/passwd; uname -a; hostname; nproc",),
        ("id; ls -lai; ls -la sub /usr/lib/os-release",),
        ("read line; echo $? $line; test -t 1; echo $?",),
        (PROGRAM, "-I", "-c", _SIGNALS),
        (PROGRAM, "-I", "-c", _STREAMS),
        (PROGRAM, "-I", "-c", _SESSION),
        (PROGRAM, "-I", "-c", _TERMINAL),
        (PROGRAM, "-I", "-c", _PLACES),
    ],
    ids=lambda command: command[-1][:40],
)
async def test_a_command_says_the_same_in_both(views: Views, place: Path, command: tuple[str, ...]) -> None:
    if views.tier != "root" and command[0].startswith("id"):
        pytest.skip("others are nobody in a user namespace")
    asked = replace(staged(place, *command), umask=0o027, cwd=str(place / "sub") if "pwd" in command[0] else str(place))
    asked = replace(asked, env=(*asked.env, ("EMPTY", ""), ("ODD", "é\n=\udcff")))
    normal, seen = await run(asked, output_bytes=OUTPUT_BYTES), await views.run(asked)
    assert seen.poisons == ()
    assert (_without_pids(seen.output), seen.exit_code) == (_without_pids(normal.output), normal.exit_code)


def _without_pids(text: bytes) -> bytes:
    return re.sub(rb"(?m)^(PPID=|.*pid).*$", b"", text)


DIFFERS = {
    *("Pid", "PPid", "Tgid", "Ngid", "NSpid", "NStgid", "NSpgid", "NSsid", "TracerPid"),
    *("NoNewPrivs", "Seccomp", "Seccomp_filters"),
    *("FDSize", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"),
}
"""Of what the kernel says of a process: its number, and that it is traced. To read that is a poison."""


async def test_the_kernel_says_the_same_of_it_but_that_it_is_traced(views: Views, place: Path) -> None:
    asked = staged(place, "/bin/cat", "/proc/self/status")
    seen = await views.run(asked)
    assert any("processes" in poison for poison in seen.poisons)
    if seen.exit_code:
        pytest.skip("it was stopped before it had said it")
    normal = await run(asked, output_bytes=OUTPUT_BYTES)
    assert {key for key, value in _status(normal.output).items() if _status(seen.output)[key] != value} <= DIFFERS


def _status(text: bytes) -> dict[str, str]:
    pairs = (line.split(":", 1) for line in text.decode().splitlines())
    return {key: value for key, value in pairs if not key.startswith(("Vm", "Rss", "Hugetlb"))}


async def test_what_we_ignore_it_ignores_in_both(views: Views, place: Path) -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        asked = staged(place, "kill -USR1 $$; echo alive; yes | head -n 1")
        normal, seen = await run(asked, output_bytes=OUTPUT_BYTES), await views.run(asked)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert normal.output == seen.output == b"alive\ny\n"


async def test_no_file_of_ours_is_open_in_it(views: Views, place: Path) -> None:
    ours = os.open(place / "file", os.O_RDONLY)
    try:
        seen = await views.run(
            staged(place, PROGRAM, "-I", "-c", "import os; print(sorted(os.listdir('/proc/self/fd')))")
        )
    finally:
        os.close(ours)
    assert seen.output == b"['0', '1', '2', '3']\n"
