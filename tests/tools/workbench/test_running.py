"""`run`: a command by a shell of its own."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.staging.types import Ran, Staged
from paste_proxy.tools.workbench.output import left_out, shown
from tests.speculation.sameness.bash import Runner
from tests.tools.workbench.bench import Bench, text


async def test_output_and_errors_come_in_order_after_the_exit_code(bench: Bench) -> None:
    said = await bench.ask("run", command="echo one; echo two >&2; printf three; exit 7")
    assert said == "[exit 7]\none\ntwo\nthree"
    assert await bench.ask("run", command="kill -9 $$") == "[exit 137]\n"
    assert await bench.ask("run", command="cat; true") == "[exit 0]\n"
    assert await bench.ask("run", command="printf '\\351'") == "[exit 0]\n\ufffd"


async def test_each_command_has_a_shell_of_its_own_in_its_folder(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.root / "sub").mkdir()
    (bench.root / "link").symlink_to("sub")
    monkeypatch.setenv("CDPATH", "/")
    here = Bench(bench.root, env={"OURS": "x y"})
    assert await here.ask("run", command="cd sub; X=1; pwd") == f"[exit 0]\n{bench.root}/sub\n"
    assert await here.ask("run", command='pwd; echo "$X$OURS$CDPATH$OLDPWD"') == f"[exit 0]\n{bench.root}\nx y\n"
    assert await here.ask("run", command="pwd", cwd="./link/../link") == f"[exit 0]\n{bench.root}/link\n"
    assert "is not there" in await here.fails("run", command="pwd", cwd="nowhere")


COMMANDS = [
    "./speak",
    "./speak 3 2",
    "./die",
    "cat a.txt",
    "cd sub && ./speak 2>&1 | tail -3",
    "nope",
    "echo 'x",
    "pwd; ls",
]


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(command=st.sampled_from(COMMANDS), cwd=st.sampled_from(["", "sub", "link", "sub dir", "sub/../sub dir"]))
async def test_it_is_such_a_tool_as_equal_commands_need(
    tmp_path_factory: pytest.TempPathFactory, command: str, cwd: str
) -> None:
    root = tmp_path_factory.mktemp("work")
    tool = await asyncio.to_thread(Runner, root)
    known = await asyncio.to_thread(tool.run, {"command": command, "cwd": cwd})
    bench = Bench(root, env={"LC_ALL": "C", "X": "x y"})
    assert known is not None
    assert await bench.ask("run", command=command, cwd=cwd) == text(known)


async def test_of_much_output_beginning_and_end_are_kept(bench: Bench) -> None:
    said = await bench.ask("run", command="seq 200000; echo end")
    head, _, rest = said.partition("\n1\n2\n")
    assert head == "[exit 0, 1258899 bytes of output left out in the middle]"
    assert rest.endswith("\n200000\nend\n")
    assert "[... 1258899 bytes left out; send the output to a file" in rest
    assert len(said) < 31_000


@given(data=st.binary(max_size=100).map(lambda piece: piece * 700))
def test_output_is_shown_whole_up_to_a_bound(data: bytes) -> None:
    assert left_out(data) == max(0, len(data) - 30_000)
    if not left_out(data):
        assert shown(data) == data.decode("utf-8", "replace")
    assert len(shown(data)) < 30_100


async def test_what_is_out_of_time_is_stopped_with_all_that_it_started(bench: Bench) -> None:
    said = await bench.fails("run", command="echo begun; sleep 321 & sleep 322", timeout=0.5)
    assert said.startswith("[stopped: it was not done within 0.5 s; raise timeout")
    assert said.endswith("\nbegun\n")
    assert running(bench.root) == []


async def test_what_is_cancelled_ends_with_all_that_it_started_even_if_it_does_not_want_to(bench: Bench) -> None:
    command = "trap '' TERM; touch begun; sleep 323 & while :; do sleep 1; done"
    asking = asyncio.create_task(bench.result("run", command=command))
    async with asyncio.timeout(20):
        while not (bench.root / "begun").exists():  # noqa: ASYNC110 - a process of its own has no event for us
            await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert running(bench.root) == []


async def test_what_is_left_in_the_background_goes_on(bench: Bench) -> None:
    said = await bench.ask("run", command="sleep 324 > log 2>&1 & echo $!")
    left = int(said.split("\n")[1])
    assert running(bench.root) == [left]
    os.kill(left, 9)


async def test_a_runner_is_given_all_that_the_command_depends_on(bench: Bench) -> None:
    given: list[Staged] = []

    async def runner(command: Staged, *, started: Callable[[int], None] = lambda pid: None) -> Ran:
        given.append(command)
        return Ran(exit_code=3, output=b"ran\n", ran_s=0.1, poisons=(), looked_at=frozenset())

    (bench.root / "sub").mkdir()
    other = Bench(bench.root, env={"A": "1"}, runner=runner)
    assert await other.ask("run", command="make", cwd="sub", timeout=5) == "[exit 3]\nran\n"
    await other.ask("run", command="make", cwd="./sub/", timeout=5)
    first, second = given
    assert first == second
    assert first.argv[1:] == ("-c", "make")
    assert (first.workspace, first.cwd, first.timeout_s) == (str(bench.root), f"{bench.root}/sub", 5)
    assert dict(first.env)["A"] == "1"
    assert dict(first.env)["PWD"] == first.cwd


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "command: Field required. The arguments of run are command, cwd, timeout"),
        ({"command": ""}, "command"),
        ({"command": "echo \0"}, "NUL"),
        ({"command": "x" * 2_100_000}, "too long"),
        ({"command": "true", "timeout": 0}, "timeout: Input should be greater than 0"),
        ({"command": ["a"]}, "command: Input should be a valid string"),
    ],
)
async def test_bad_arguments_are_told(bench: Bench, arguments: dict[str, object], why: str) -> None:
    assert why in await bench.fails("run", **arguments)


def running(cwd: Path) -> list[int]:
    """Processes that work in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and (process / "cwd").readlink() == cwd:
                found.append(int(process.name))
        except OSError:
            continue
    return found


GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
SETUP = "git init -q && echo one > same.txt && echo one > other.txt && git add . && git commit -qm first"


@pytest.mark.parametrize("command", ["git status", "git -C . status --short", "git status --porcelain=v2 | head -20"])
async def test_git_asked_ahead_says_the_same_and_leaves_its_index_as_it_is(tmp_path: Path, command: str) -> None:
    bench = Bench(tmp_path, env={**GIT, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"})
    await bench.ask("run", command=SETUP)
    await bench.ask("run", command="touch -d 2001-01-01 same.txt && echo two >> other.txt")
    index, call = tmp_path / ".git" / "index", Invocation("workbench/run", {"command": command})
    before = index.read_bytes()
    aside = await bench.workbench.run_aside(call, asyncio.Event())
    ahead = await bench.workbench.run(call, speculative=True)
    assert index.read_bytes() == before
    assert aside == ahead == await bench.result("run", command=command)
    assert index.read_bytes() != before, "git renews it when it is asked"


async def test_what_is_no_reading_command_is_run_as_it_always_is(bench: Bench) -> None:
    call = Invocation("workbench/run", {"command": 'echo "[$GIT_OPTIONAL_LOCKS]"'})
    assert text(await bench.workbench.run(call, speculative=True)) == "[exit 0]\n[]\n"


@pytest.mark.parametrize("command", ["cat pipe", "cat file sub/../pipe", "head -n 1 pipe"])
async def test_a_pipe_is_for_the_agent_to_empty(bench: Bench, command: str) -> None:
    (bench.root / "sub").mkdir()
    (bench.root / "file").write_text("text\n")
    os.mkfifo(bench.root / "pipe")
    with pytest.raises(UpstreamFault, match="for the agent to empty"):
        await bench.workbench.run(Invocation("workbench/run", {"command": command}), speculative=True)
    ahead = await bench.workbench.run(
        Invocation("workbench/run", {"command": "cat file sub/../file"}), speculative=True
    )
    assert text(ahead) == "[exit 0]\ntext\ntext\n"
