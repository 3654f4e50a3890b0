"""What commands do in a view, and what of it keeps them from being committed."""

import asyncio
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from paste_proxy.staging.copying import attributes
from paste_proxy.staging.normal import run
from paste_proxy.staging.types import Refused
from paste_proxy.staging.view import look_alike
from tests.staging.runs import OUTPUT_BYTES, PROGRAM, Views
from tests.staging.trees import told
from tests.staging.workplace import staged

PYTHON = f"{PROGRAM} -c"


async def test_a_command_changes_what_it_sees_and_nothing_else(views: Views, place: Path) -> None:
    before = await asyncio.to_thread(told, place)
    ran = await views.run(staged(place, "echo more >>file; rm sub/inner; echo new >made; cat file; ls . sub; exit 7"))
    assert (ran.exit_code, ran.output, ran.poisons) == (7, b"file\nmore\n.:\nfile\nmade\nsub\n\nsub:\n", ())
    assert await asyncio.to_thread(told, place) == before
    assert views.changed() == {str(place / "file"), str(place / "made"), str(place / "sub" / "inner")}


async def test_stdout_and_stderr_keep_their_order(views: Views, place: Path) -> None:
    ran = await views.run(staged(place, "for i in 1 2 3; do echo out $i; echo err $i >&2; done"))
    assert ran.output == b"".join(b"out %d\nerr %d\n" % (i, i) for i in (1, 2, 3))


@pytest.mark.parametrize(
    ("command", "code"),
    [("kill -TERM $$", -15), ("kill -9 $$", -9), ("sh -c 'kill -9 $$'; exit 2", 2), ("nonesuch 2>/dev/null", 127)],
)
async def test_how_it_ends_is_told(views: Views, place: Path, command: str, code: int) -> None:
    ran = await views.run(staged(place, command))
    assert (ran.exit_code, ran.poisons) == (code, ())


SUITE = """
import http.server, multiprocessing, subprocess, tempfile, threading, urllib.request

def test_pool():
    with multiprocessing.Pool(2) as pool:
        assert pool.map(abs, [-1, 2]) == [1, 2]

def test_child(tmp_path):
    subprocess.run(["sh", "-c", "echo x >f; (echo y >>f) & wait"], cwd=tmp_path, check=True)

def test_file():
    with tempfile.TemporaryFile() as file:
        file.write(b"x")

def test_server():
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen(f"http://localhost:{server.server_port}/file") as answer:
        assert answer.read() == b"file\\n"
    server.shutdown()
    server.server_close()
"""


async def test_a_test_suite_with_workers_servers_and_temporary_files(views: Views, place: Path) -> None:
    await asyncio.to_thread((place / "test_it.py").write_text, SUITE)
    command = staged(place, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    ran = await views.run(replace(command, env=(*command.env, ("HOME", str(place)), ("no_proxy", "*"))))
    assert (ran.exit_code, ran.poisons) == (0, ()), ran.output
    assert b"4 passed" in ran.output


async def test_a_repository_is_found_and_its_state_is_told(views: Views, place: Path) -> None:
    git = "git -c user.name=n -c user.email=e@e"
    made = f"{git} init -q && {git} add file && {git} commit -qm one && echo x >>file"
    assert (await run(staged(place, made), output_bytes=OUTPUT_BYTES)).exit_code == 0
    ran = await views.run(
        staged(place, "git status --short && cd sub && git add . && git stash list; git log --format=%s")
    )
    assert (ran.output, ran.poisons) == (b" M file\n?? sub/\none\n", ())


OUTSIDE = [
    ("network", f"{PYTHON} 'import socket; socket.socket().connect((\"192.0.2.1\", 80))'"),
    ("network", f"{PYTHON} 'import socket; socket.getaddrinfo(\"example.com\", 80)'"),
    ("network", f'{PYTHON} \'import socket as s; s.socket(type=s.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 9))\''),
    ("network", f"{PYTHON} 'import socket as s; s.socket(s.AF_INET6).connect((\"2001:db8::1\", 80))'"),
    ("network", f"{PYTHON} 'import socket as s; s.socket().connect((\"127.0.0.1\", 1))'"),
    ("left processes behind (sleep)", "sleep 60 & echo gone"),
    ("left processes behind", "(trap '' HUP; setsid sleep 60 >/dev/null 2>&1 &) ; sleep 0.1"),
    ("shared memory", "echo x >/dev/shm/left"),
    ("a process that is not its own", "kill -0 99999"),
    ("processes", "cat /proc/99999/stat"),
    ("processes", "ls /proc >/dev/null"),
    ("mounts", "cat /proc/self/mountinfo >/dev/null"),
    ("limit", "ulimit -f 1; head -c 9999 /dev/zero >big"),
    ("its limit of open files", f"ulimit -n 9; {PYTHON} 'import os; [os.open(\".\", 0) for _ in range(9)]'"),
    ("tracing", "strace -o /dev/null true"),
    ("its own priority", f"{PYTHON} 'import os; os.sched_getscheduler(0)'"),
    *([("read-only", "echo x >/new-in-the-root")] if os.geteuid() else []),
    ("read-only", "touch /sys/kernel"),
    ("read-only", "chmod 666 /dev/null"),
    ("view of the machine", "unshare -m true"),
    ("links", "mkdir new; ls -la"),
    ("link counts", "stat file"),
    ("a device", f"{PYTHON} 'import os; os.listdir(\"/dev\")'"),
]


@pytest.mark.parametrize(("why", "command"), OUTSIDE, ids=[command[:50] for _, command in OUTSIDE])
async def test_where_it_comes_upon_the_walls_it_is_not_committed(
    views: Views, place: Path, why: str, command: str
) -> None:
    ran = await views.run(staged(place, command))
    assert any(why in poison for poison in ran.poisons), (ran.poisons, ran.output)


async def test_as_root_things_may_be_moved_across_the_whole_machine(views: Views, place: Path) -> None:
    if views.tier != "root":
        pytest.skip("elsewhere each directory of the root is a view of its own")
    ran = await views.run(
        staged(place, "cp -r sub /var/tmp/paste-moved; mv /var/tmp/paste-moved here; mv file /; ls here")
    )
    assert (ran.output, ran.poisons) == (b"inner\n", ())
    assert not await asyncio.to_thread(Path("/var/tmp/paste-moved").exists)


async def test_what_lies_below_cannot_be_written_to_by_any_way(views: Views, place: Path) -> None:
    ways = f"for way in /proc/1/fd/* /proc/1/root /proc/1/cwd; do echo x >$way{place}/written; done; true"
    ran = await views.run(staged(place, ways))
    assert ran.poisons
    assert not await asyncio.to_thread((place / "written").exists)


def test_a_directory_on_top_looks_like_the_one_below(place: Path) -> None:
    upper, lower = place / "sub", place / "lower"
    lower.mkdir()
    os.setxattr(upper, "user.own", b"1")
    os.setxattr(upper, "user.both", b"2")
    os.setxattr(lower, "user.both", b"3")
    os.setxattr(lower, "user.theirs", b"4")
    os.setxattr(lower, "user.overlay.origin", b"5")
    lower.chmod(0o3750)
    os.utime(lower, ns=(6, 7))
    look_alike(str(upper), str(lower))
    assert attributes(str(upper)) == {"user.both": b"3".hex(), "user.theirs": b"4".hex()}
    assert (upper.stat().st_mode, upper.stat().st_mtime_ns) == (lower.stat().st_mode, 7)


async def test_a_server_outside_is_not_reached(views: Views, place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place / "socket"))
        server.listen()
        server.setblocking(False)
        reaching = f"{PYTHON} 'import socket as s; s.socket(s.AF_UNIX).connect(\"socket\")'"
        ran = await views.run(staged(place, reaching))
        assert any("a server outside" in poison for poison in ran.poisons), ran
        with pytest.raises(BlockingIOError):
            server.accept()


async def test_a_server_of_its_own_is_reached(views: Views, place: Path) -> None:
    code = (
        "import os, socket as s; a = s.socket(s.AF_UNIX); a.bind('own'); a.listen(); b = s.socket(s.AF_UNIX); "
        "b.connect('own'); print(s.getaddrinfo('localhost', 80, s.AF_INET, s.SOCK_STREAM, 0, s.AI_ADDRCONFIG)[0][4])"
    )
    ran = await views.run(staged(place, PROGRAM, "-c", code))
    assert (ran.output, ran.poisons) == (b"('127.0.0.1', 80)\n", ())


async def test_its_time_is_bounded(views: Views, place: Path) -> None:
    ran = await views.run(staged(place, "sleep 60 & sleep 60", timeout_s=0.3))
    assert (ran.exit_code, ran.poisons) == (-9, ("it was not done within 0.3 s",))


async def test_what_it_writes_is_bounded(views: Views, place: Path) -> None:
    ran = await views.run(staged(place, "yes"), output_bytes=1000)
    assert len(ran.output) == 1000
    assert any("more than is kept" in poison for poison in ran.poisons)


async def test_what_it_looked_at_outside_is_told(views: Views, place: Path, tmp_path: Path) -> None:
    made = f"cd ..; mkdir real; echo x >real/data; ln -s real link; echo '#!{PROGRAM}' >script; chmod +x script"
    await run(staged(place, made), output_bytes=OUTPUT_BYTES)
    looks = (
        "cat ../link/data; test -e ../missing; cd ..; (cd real; cat nothing 2>/dev/null); ./script; cat workspace/file"
    )
    ran = await views.run(staged(place, looks))
    seen, absent = (
        {str(Path(path).relative_to(tmp_path)) for path in paths if Path(path).is_relative_to(tmp_path)}
        for paths in (ran.looked_at, ran.absent)
    )
    assert seen >= {"link", "real/data", "script", "real"}
    assert absent >= {"missing", "real/nothing"}
    assert not seen & absent
    assert not any(path.startswith("workspace/") for path in seen)
    assert any(path.startswith(PROGRAM) for path in ran.looked_at)
    assert not any(path.startswith(("/proc", "/dev", "/sys")) for path in ran.looked_at)


async def test_a_program_that_is_not_there_cannot_be_run(views: Views, place: Path) -> None:
    with pytest.raises(Refused, match="No such program"):
        await views.run(replace(staged(place, "true"), argv=("/no/such/program",)))


async def test_what_its_processes_take_of_the_cpu_is_counted(views: Views, place: Path) -> None:
    idle = await views.run(staged(place, "sleep 0.3"))
    busy = await views.run(staged(place, f"{PYTHON} 'import time\nwhile time.process_time() < 0.5: pass' & wait"))
    assert idle.cpu_s is not None
    assert busy.cpu_s is not None
    assert busy.cpu_s >= 0.5
    assert idle.cpu_s < busy.cpu_s
