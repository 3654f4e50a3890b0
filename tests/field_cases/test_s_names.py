"""Field cases of kind S: what no rule names is never run ahead, through a whole sidecar and sockets."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.agents.sdk import Sidecar as Sdk
from tests.field_cases.mcp_world import World, endpoint, speculating
from tests.field_cases.tool_servers import Naming
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import until

LIKE_LOOK = {
    "in capitals": "LOOK",
    "with a capital": "Look",
    "longer": "look2",
    "longer by a line": "look_",
    "shorter": "loo",
    "with a digit": "lo0k",
    "with a word before": "overlook",
    "with Cyrillic letters": "l\u043e\u043ek",
    "in full width": "\uff4c\uff4f\uff4f\uff4b",
    "with the Kelvin sign": "loo\u212a",
    "with a space of no width": "look\u200b",
    "with a combining mark": "look\u0301",
    "with white space after it": "look ",
    "with white space before it": " look",
    "with a line end": "look\n",
    "with a NUL": "look\0",
    "with its server before it": "s/look",
    "below another": "look/look",
    "a step up": "../s/look",
    "prefixed once more": "mcp__s__look",
    "with a glob": "loo?",
    "with nothing in it": "",
}
SPELLED = ("mcp__s__{}", "mcp_s_{}", "s__{}", "s/{}", "{}")


async def nothing_ahead(world: World, server: McpHttpServer) -> None:
    """Nothing was launched or is going to be, and nothing has reached the server."""
    await world.settled()
    assert world.tally.launched == 0
    assert not [one for one in server.seen if one.method == "tools/call"]


@pytest.mark.parametrize("name", LIKE_LOOK)
@pytest.mark.parametrize("spelled", SPELLED)
async def test_b49_a_tool_that_only_looks_like_an_allowed_one_is_not_run_ahead(
    tmp_path: Path, name: str, spelled: str
) -> None:
    server, tool = Naming("look", LIKE_LOOK[name]), LIKE_LOOK[name]
    async with endpoint(server) as there, speculating(tmp_path, "s/look", s=there) as world:
        client = await world.client("s").open()
        await world.llm_asks((spelled.format(tool), {"q": 1}))
        if spelled.format(tool) in (form.format("look") for form in SPELLED):  # it is as good a name of `look`
            await world.settled()
            assert not server.calls(tool)
            return
        await nothing_ahead(world, server)
        await client.call(tool, q=1)
        assert len(server.calls(tool)) == 1


@pytest.mark.parametrize(
    ("allowed", "asked"),
    [
        ("s/read-file", "read_file"),
        ("s/read.file", "read-file"),
        ("s/get_*", "GET_all"),
        ("s/get_*", "forget_all"),
        ("s/[a-z]ook", "Look"),
        ("S/look", "look"),
        ("x/look", "look"),
        ("look", "look"),
    ],
)
async def test_b49_what_a_rule_names_is_named_letter_for_letter(tmp_path: Path, allowed: str, asked: str) -> None:
    server = Naming(asked)
    async with endpoint(server) as there, speculating(tmp_path, allowed, s=there) as world:
        await world.client("s").open()
        for spelled in SPELLED:
            await world.llm_asks((spelled.format(asked), {"q": 1}))
        await nothing_ahead(world, server)


async def test_b49_where_a_name_may_mean_two_tools_neither_is_run_ahead(tmp_path: Path) -> None:
    one, other = Naming("read-file", "read_file", "x_look"), Naming("look")
    async with (
        endpoint(one) as there,
        endpoint(other) as beside,
        speculating(tmp_path, "s/read-file", "s_x/look", s=there, s_x=beside) as world,
    ):
        for server in ("s", "s_x"):
            await world.client(server).open()
        await world.llm_asks(("mcp__s__read_file", {"q": 1}), ("mcp_s_read_file", {"q": 2}), ("mcp_s_x_look", {"q": 3}))
        await nothing_ahead(world, one)
        await nothing_ahead(world, other)


async def test_b49_a_pattern_sure_of_an_unknown_tool_runs_nothing(tmp_path: Path) -> None:
    tools = ("look", "delete", "look_up", "Look")
    patterns = "".join(
        f'[[pattern]]\nid = "{tool}"\ntool = "s/{tool}"\nconfidence = 1\narguments.q = {{ constant = 1 }}\n'
        for tool in tools
    )
    server = Naming(*tools)
    async with endpoint(server) as there, speculating(tmp_path, "s/look", patterns=patterns, s=there) as world:
        await world.client("s").open()
        await world.llm_asks()
        await until(lambda: server.calls("look"))
        await world.settled()
        assert [one.message["params"]["name"] for one in server.seen if one.method == "tools/call"] == ["look"]
        assert world.tally.launched == 1


@pytest.mark.parametrize("word", ['effect = "write"', 'effect = "read"\nspeculate = false', 'mode = "off"'])
async def test_b49_a_tool_of_which_a_rule_says_no_is_not_run_ahead(tmp_path: Path, word: str) -> None:
    server, effect = Naming("look"), "" if "effect" in word else 'effect = "read"\n'
    rules = f'[[rule]]\ntool = "s/look"\n{effect}{word}\n'
    async with endpoint(server) as there, speculating(tmp_path, "s/*", rules=rules, s=there) as world:
        await world.client("s").open()
        await world.llm_asks(("mcp__s__look", {"q": 1}))
        await nothing_ahead(world, server)


@pytest.mark.parametrize("name", ["s/look", "/look", "s//look"])
async def test_b49_a_tool_of_a_program_s_own_is_only_what_it_is_called(tmp_path: Path, name: str) -> None:
    ran: list[str] = []

    def dispatch(name: str, arguments: dict[str, Any]) -> str:
        ran.append(name)
        return "done"

    server = Naming("look")
    async with endpoint(server) as there, speculating(tmp_path, "s/look", "look", s=there) as world:
        client = await world.client("s").open()
        sdk = Sdk(world.base, session="task-1")
        call = sdk.wrap(dispatch, tools=[name, "other"])
        async with sdk:
            await until(lambda: world.sidecar._toolbox.offered("other"))
            await world.run_ahead(("mcp__s__look", {"q": 1}))
            await until(lambda: server.calls("look"))
            assert await asyncio.to_thread(call, name, {"q": 1}) == "done"
            assert ran == [name], "once, when it was called"
            await client.call("look", q=1)
    assert len(server.calls("look")) == 2, "what was read ahead of an unknown tool's call is void"
