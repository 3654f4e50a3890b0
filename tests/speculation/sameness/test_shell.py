"""What is told of a command from another is what bash says when it runs it."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import dumps
from paste_proxy.speculation.sameness.sameness import Sameness
from paste_proxy.speculation.sameness.shell import Shell, answer_of

from .bash import Runner, run

_TRIES = 5
"""Programs of one pipe that all write errors have answers in more than one order."""
SAME = Sameness(shell=Shell("command", "cwd"), seconds={"timeout": 0.001})


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("shell"))


def check(runner: Runner, asked: Invocation) -> bool:
    """Run a call and its core; true if the one was told from the other."""
    core = SAME.core(asked)
    assert SAME.core(core) == core
    ran = runner.run(core.arguments) if core != asked else None
    told = None if ran is None else SAME.derived(asked, core, ran, 0.5)
    if told is None:
        return False
    answers = (runner.run(asked.arguments) for _ in range(_TRIES))
    assert told in answers, (asked, core)
    return True


@pytest.mark.parametrize(
    ("command", "core"),
    [
        ("./speak 2>&1", "./speak"),
        ("./speak 9 3 2>&1 | tail -n 4", "./speak 9 3"),
        ("./speak 2>&1 | head -3", "./speak"),
        ("./speak 30 2>&1|tail", "./speak 30"),
        ("./speak 2>/dev/null | head -n2", "./speak 2>/dev/null"),
        ("A=1 ./speak 3 2>&1 | tail -0", "A=1 ./speak 3"),
        ('grep -E "o|w$" a.txt 2>&1 | head -50', 'grep -E "o|w$" a.txt'),
        ("cat nowhere 2>&1 | tail -5", "cat nowhere"),
        ("./speak && ./speak 2 4 2>&1", "./speak && ./speak 2 4"),
        ("true | ./speak 2>&1 ", "true | ./speak"),
        ("find . \\( -name x -o ! -name s \\) 2>&1 | head -1", "find . \\( -name x -o ! -name s \\)"),
    ],
)
def test_a_command_s_core_gives_its_answer(runner: Runner, command: str, core: str) -> None:
    assert SAME.core(run(command)) == run(core)
    assert check(runner, run(command))


@pytest.mark.parametrize(
    ("command", "folder", "core", "where"),
    [
        ("cd sub && ./speak 2>&1 | tail -2", None, "./speak", "sub"),
        ("cd 'sub dir' && pwd", None, "pwd", "sub dir"),
        ('cd . && cd "sub dir"&& pwd && ls', None, "pwd && ls", "sub dir"),
        ("cd ./inner && pwd", "sub", "pwd", "sub/inner"),
        ("cd ./inner && pwd", "link", "pwd", "link/inner"),
        ("cd /tmp && pwd", None, "pwd", "/tmp"),
        ("cd sub/. && cd inner && pwd || ls", None, "pwd || ls", "sub/inner"),
    ],
)
def test_a_folder_gone_to_is_the_folder_it_runs_in(
    runner: Runner, command: str, folder: str | None, core: str, where: str
) -> None:
    asked = run(command, **({} if folder is None else {"cwd": folder}))
    assert SAME.core(asked) == run(core, cwd=where)
    assert check(runner, asked)


@pytest.mark.parametrize(
    "command",
    [
        "./speak | tail -2",
        "./speak | cat 2>&1 | tail -2",
        "./speak; ./speak 2>&1 | tail -1",
        "./speak && ./speak 2>&1 | head -1",
        "./speak > out.txt 2>&1",
        "./speak >/dev/null 2>&1",
        "./speak $X 2>&1 | tail -1",
        'grep "$X" a.txt 2>&1 | tail -1',
        "echo $(./speak) 2>&1 | tail -1",
        'echo "`./speak`" 2>&1',
        "echo '2>&1 | tail -2'",
        "! ./speak 2>&1 | tail -2",
        "time ./speak 2>&1 | tail -2",
        "{ ./speak; } 2>&1 | tail -2",
        "(./speak) 2>&1 | tail -2",
        "./speak & 2>&1",
        "nosuch ; 2>&1",
        "./speak # 2>&1",
        "./speak 2>&1 | head -n -1",
        "./speak 2>&1 | tail -n +2",
        "./speak 2>&1 | head -c 3",
        "cd ~ && pwd",
        "cd sub/../link && pwd",
        "cd nowhere/.. && pwd",
        "cd - && pwd",
        "cd $X && pwd",
        "cd sub && cd - && pwd",
        "cd sub && env",
        "cd sub && ./speak & ls",
        "cd sub; ls",
        "echo 'a",
        "cat <<E 2>&1\na\nE",
        "./speak 2>&1 | head -1\n",
    ],
)
def test_what_may_be_another_answer_is_a_core_of_its_own(command: str) -> None:
    assert SAME.core(run(command)) == run(command)


@pytest.mark.parametrize("command", ["cd .. && pwd", "cd /tmp && pwd", "cd ./../sub && pwd"])
def test_a_folder_left_again_may_not_be_there(command: str) -> None:
    assert SAME.core(run(command, cwd="nowhere")) == run(command, cwd="nowhere")


PIECES = (
    "./speak", "./speak 9 3", "cat a.txt", "./speak 5", "nosuch", "printf '%s\\n' a b", "echo x", "pwd", "true",
    "exit 3", "A=b",
    "'2>&1'", '"| tail"', '"$X"', "$X", "\\|", "2>&1", "2>/dev/null", ">/dev/null", "<a.txt", "|", "&&", "||", ";", "&",
    "| head -2", "| tail -1", "| head -n 3", "2>&1 | tail", "2>&1 | head -1", "2>/dev/null | tail -2", "cd sub &&",
    "cd link &&", "cd 'sub dir' &&", "cd nowhere &&", "cd - ;", "(", ")", "{", "}", "!", "#", "seq 5",
)  # fmt: skip
anything = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map(" ".join)
likely = st.tuples(
    st.sampled_from(("", "cd sub && ", "cd 'sub dir' && ", "A=b ", "cd link && cd .. && ")),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=2).map(" ".join),
    st.sampled_from((" 2>&1", " 2>/dev/null", "")),
    st.sampled_from((" | head -2", " | tail -n 3", " | tail", " | head -0", "", " 2>&1")),
).map("".join)
RACE = re.compile(r"speak.*(?<!2>&1 )(?<!2>/dev/null )(?<!\|)\|(?!\|)")
"""Errors that pass a pipe by come in another order every time."""
lines = st.one_of(anything, likely).filter(lambda line: not RACE.search(line))


@settings(
    max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(line=lines, folder=st.sampled_from((None, "sub", "link", "sub dir/..")))
def test_whatever_is_told_is_what_bash_says(runner: Runner, line: str, folder: str | None) -> None:
    check(runner, run(line, **({} if folder is None else {"cwd": folder})))


@settings(max_examples=500, derandomize=True)
@given(line=st.text(alphabet="ab 2>&1|;'\"\\$`(){}#\n-~!cdheadtail", max_size=40))
def test_any_text_has_one_core(line: str) -> None:
    core = SAME.core(run(line))
    assert SAME.core(core) == core
    assert SAME.plain(core) == core


def test_an_answer_of_another_form_tells_nothing(runner: Runner) -> None:
    asked, core = run("./speak 2>&1 | tail -2"), run("./speak")
    whole = runner.run(core.arguments)
    assert whole is not None
    for other in (b'"out 1\\nout 2"', b'{"content":[]}', whole.body.replace(b"[exit 0]", b"[exit 0, cut]")):
        assert SAME.derived(asked, core, type(whole)(body=other), 0.5) is None


def test_what_the_shell_says_of_a_command_tells_nothing(runner: Runner) -> None:
    assert not check(runner, run("nosuch 2>&1 | tail -2"))
    assert not check(runner, run("./a.txt 2>&1 | tail -2"))
    assert not check(runner, run("./die 2>&1 | tail -2"))


def test_a_result_serves_calls_that_would_have_waited_for_it(runner: Runner) -> None:
    core = run("true")
    result = runner.run(core.arguments)
    assert result is not None
    assert SAME.derived(run("true", timeout=1_000), core, result, 0.9) == result
    assert SAME.derived(run("true", timeout=1_000), core, result, 1.0) is None
    assert SAME.derived(core, run("true", timeout=1_000), result, 0.1) is None


def test_a_call_waits_for_its_core_unless_it_may_be_done_before() -> None:
    assert SAME.promising(run("make 2>&1 | tail -3"), 30.0)
    assert not SAME.promising(run("make 2>&1 | head -3"), 30.0)
    assert SAME.promising(run("make", timeout=60_000), 30.0)
    assert not SAME.promising(run("make", timeout=20_000), 30.0)


def test_the_form_of_an_answer() -> None:
    assert answer_of(2, "no\n") == "[exit 2]\nno\n"


@pytest.mark.parametrize(
    ("command", "output", "all_"),
    [
        ("make 2>&1 | tail -1", "one\ntwo\n", True),
        ("make 2>&1 | head -1", "one\ntwo\n", False),
        ("make 2>&1 | head -2", "one\ntwo\n", True),
        ("make 2>&1 | head -2", "one\ntwo\nthree", False),
        ("make 2>&1 | head -3", "one\ntwo\nthree", True),
        ("make 2>&1 | head -0", "", True),
    ],
)
def test_a_head_that_shows_all_has_stopped_nothing(command: str, output: str, all_: bool) -> None:
    assert SAME.does_all(run(command), ToolResult(body=dumps(answer_of(2, output)))) is all_


def test_of_a_run_that_has_not_ended_nobody_knows_whether_a_head_would_stop_it() -> None:
    assert not SAME.does_all(run("make 2>&1 | head -9"), None)
    assert SAME.does_all(run("make 2>&1 | tail -9"), None)
