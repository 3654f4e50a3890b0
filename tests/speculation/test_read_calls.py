"""Which calls a measurement takes for reads."""

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.share import find
from paste_proxy.speculation.plainly_reading import only_reads
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.read_calls import reading_commands, runnable, runnable_tools

CODING = Policy.parse(find("policies", "builtin:coding").read_text("utf-8"), "coding")


def call(tool: str, **arguments: Json) -> Invocation:
    return Invocation(tool, arguments)


def test_a_tool_that_its_rule_lets_be_run_ahead_reads_and_a_shell_does_not() -> None:
    reads = runnable(CODING)
    assert reads(call("Read", file_path="a"))
    assert not reads(call("Bash", command="git status"))
    assert not reads(call("mcp/anything"))


def test_a_glob_adds_tools_and_without_a_word_every_call_counts() -> None:
    assert runnable(CODING, ["mcp/*"])(call("mcp/anything"))
    assert runnable(Policy(), ["get_*"])(call("get_user"))
    assert not runnable(Policy(), ["get_*"])(call("set_user"))
    assert runnable(Policy())(call("anything"))


def test_a_tool_some_of_whose_calls_may_be_run_ahead_is_looked_into() -> None:
    policy = Policy.parse('[[rule]]\ntool = "t"\neffect = "read"\nwhen = { a = 1 }\n', "policy")
    assert [runnable_tools(policy)(tool) for tool in ("t", "u")] == [True, False]
    assert runnable_tools(policy, ["u*"])("u")
    assert runnable_tools(Policy())("u")
    assert [runnable(policy)(call("t", a=a)) for a in (1, 2)] == [True, False]


def test_a_command_that_reads_is_told_from_one_that_does_not() -> None:
    reads = reading_commands(CODING)
    assert reads(call("Bash", command="git status", description="look"))
    assert reads(call("exec_command", cmd="ls -la"))
    assert not reads(call("Bash", command="git commit -m x"))
    assert not reads(call("Bash", command=["ls"]))
    assert not reads(call("Read", file_path="a"))


def test_where_it_runs_counts_and_what_else_its_call_says() -> None:
    reads = reading_commands(CODING)
    assert not reads(call("Bash", command="cd /dev && cat kmsg | wc"))
    assert not reads(call("exec_command", cmd="cat fd/0 | wc", workdir="/proc/self"))
    assert reads(call("exec_command", cmd="cat a | wc", workdir="/home/a", yield_time_ms=1_000))
    assert not reads(call("exec_command", cmd="cat a | wc", tty=True))


def test_a_shell_that_may_be_run_ahead_is_not_counted_twice() -> None:
    rule = '[[rule]]\ntool = "sh"\neffect = "read"\nsame = { shell = { command = "command" } }\n'
    policy = Policy.parse(rule, "policy")
    assert runnable(policy)(call("sh", command="ls"))
    assert not reading_commands(policy)(call("sh", command="ls"))


@pytest.mark.parametrize(
    "command",
    [
        *("ls", "cat a", "head -5 a", "grep -n x a | head -3", "git status", "git status --short", "git log --oneline"),
        *("git -C sub diff HEAD", "git --no-pager show HEAD", "git diff main...HEAD | head -100", "git log | wc -l"),
    ],
)
def test_what_only_reads(command: str) -> None:
    assert only_reads(command)


@pytest.mark.parametrize(
    "command",
    [
        *("", "rm a", "cat", "cat a > b", "git", "git -C", "git push", "git branch x", "git -c core.pager=x log"),
        *("git diff --output=a", "git grep -Oless x", "git log --ext-diff", "git log; rm a", "git log | tee a"),
        *("git log | git diff", "git status && rm a", "ls | git log", "go test ./..."),
    ],
)
def test_what_is_not_plainly_a_read(command: str) -> None:
    assert not only_reads(command)
