"""What predictors may foresee for running, and what only to be told of."""

import asyncio

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.hub.permission import Permission
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Destination, Mode
from paste_proxy.tools.backend import Held

POLICY = """
[[rule]]
tool = "fs/read"
effect = "read"
destination = "local"

[[rule]]
tool = "fs/write"
effect = "write"

[[rule]]
tool = "fs/run"
commands = "reading"
effect = "read"
destination = "local"
same = { shell = { command = "command" } }

[[rule]]
tool = "fs/run"
effect = "write"
same = { shell = { command = "command" } }

[[rule]]
tool = "fs/ask"
effect = "read"
approval = true

[[rule]]
tool = "fs/search"
effect = "read"
destination = "third-party"

[[rule]]
tool = "fs/idle"
effect = "read"
mode = "off"

[[rule]]
tool = "fs/build"
effect = "write"
stage = true
destination = "local"
"""
TOOLS = ("read", "write", "run", "ask", "search", "idle", "build", "strange")


class Bench:
    """A backend whose machine can hold effects back, or cannot."""

    def __init__(self, able: bool) -> None:
        self.able = able

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        raise AssertionError(invocation)

    def stages(self, invocation: Invocation) -> bool:
        return self.able

    async def stage(self, invocation: Invocation, wanted: asyncio.Event) -> Held:
        raise AssertionError(invocation)

    async def close(self) -> None:
        return


def permission(able: bool = True, mode: Mode = Mode.SPECULATE) -> Permission:
    toolbox = Toolbox(["fs"])
    toolbox.offer("", "fs", Bench(able), [f"fs/{tool}" for tool in TOOLS])
    return Permission(toolbox, Policy.parse(POLICY, "test"), frozenset({Destination.LOCAL}), mode)


@pytest.mark.parametrize(
    ("tool", "runs"), [(tool, tool in ("read", "run", "build")) for tool in TOOLS] + [("elsewhere", False)]
)
def test_a_tool_runs_or_is_barred_unless_nobody_offers_it(tool: str, runs: bool) -> None:
    made = permission()
    assert made.runs(tool) is runs
    assert made.barred(0.3).tool(tool) is (not runs and tool != "elsewhere")


@pytest.mark.parametrize(
    ("tool", "command", "barred"),
    [
        ("run", "git status", False),
        ("run", "make", True),
        ("fs/run", "make", True),
        ("read", "", False),
        ("write", "", True),
        ("strange", "", True),
        ("elsewhere", "", False),
    ],
)
def test_calls_are_told_apart_where_rules_tell_them_apart(tool: str, command: str, barred: bool) -> None:
    assert permission().barred(0.3).call(Invocation(tool, {"command": command})) is barred


def test_what_would_have_to_be_staged_is_barred_where_nothing_can_be() -> None:
    build = Invocation("build", {})
    assert not permission().barred(0.3).call(build)
    made = permission(able=False)
    assert (made.runs("build"), made.barred(0.3).tool("build"), made.barred(0.3).call(build)) == (False, True, True)


def test_in_mode_off_nothing_runs() -> None:
    assert not permission(mode=Mode.OFF).runs("read")
