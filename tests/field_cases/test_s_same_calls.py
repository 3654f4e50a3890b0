"""Field cases of kind S: which calls are the same, through a whole sidecar and sockets."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from paste_proxy.config import DispatchTool
from tests.field_cases.mcp_world import World, endpoint, speculating
from tests.field_cases.tool_servers import FailingTool
from tests.proxy.mcp.client import McpHttpClient
from tests.proxy.mcp.http_server import McpHttpServer

SAME = [
    ('{"a":1,"b":2}', '{"b":2,"a":1}'),
    ('{"a":{"x":{"p":1,"q":[]},"y":[{"m":1,"n":2}]},"b":0}', '{"b":0,"a":{"y":[{"n":2,"m":1}],"x":{"q":[],"p":1}}}'),
    ('{"k":1}', ' {\r\n\t"k" : 1 } '),
    ('{"k":"\\u00e9\\ud83d\\ude00 a\\/b \\u0061"}', '{"k":"é😀 a/b a"}'),
    ('{"\\u006b":"\\n"}', '{"k":"\\u000A"}'),
    ('{"k":"\\ud83d"}', '{"k":"\\uD83D"}'),
    ('{"k":100.0}', '{"k":1e2}'),
    ('{"k":1.50}', '{"k":0.15E+1}'),
    ('{"k":18446744073709551617}', '{"k":18446744073709551617}'),
    ('{"k":0,"k":1}', '{"k":1}'),
    ("{}", ""),
    ("{}", "null"),
]
DIFFERENT = [
    ('{"k":1}', '{"k":1.0}'),
    ('{"k":1}', '{"k":"1"}'),
    ('{"k":1.0}', '{"k":"1.0"}'),
    ('{"k":1}', '{"k":true}'),
    ('{"k":0}', '{"k":false}'),
    ('{"k":1.0}', '{"k":true}'),
    ('{"k":100}', '{"k":1e2}'),
    ('{"k":null}', "{}"),
    ('{"k":null}', '{"k":"null"}'),
    ('{"k":""}', "{}"),
    ('{"k":[]}', '{"k":{}}'),
    ('{"k":[1,2]}', '{"k":[2,1]}'),
    ('{"k":{"p":1}}', '{"k":{"p":1.0}}'),
    ('{"k":18446744073709551617}', '{"k":18446744073709551616}'),
    ('{"k":9007199254740993}', '{"k":9007199254740992}'),
    ('{"k":"é"}', '{"k":"e\\u0301"}'),
    ('{"k":"a"}', '{"k":"A"}'),
    ('{"k":"a"}', '{"k":"a "}'),
    ('{"k":1}', '{"K":1}'),
    ('{"k":"\\ud83d"}', '{"k":"\\ud83e"}'),
    ('{"k":1,"k":0}', '{"k":1}'),
]


@dataclass
class Way:
    """A tool `look`, along one of the ways to call it."""

    world: World
    tool: str
    """Its name as the LLM has it."""
    call: Callable[[str], Awaitable[object]]
    """The agent's call with arguments as that text."""
    calls: Callable[[], int]
    """How often it was called, by whomever."""


@asynccontextmanager
async def over_mcp(folder: Path) -> AsyncIterator[Way]:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(folder, "s/look", s=there) as world:
        client = await world.client("s").open()
        yield Way(world, "mcp__s__look", lambda text: called(client, "look", text), lambda: len(server.calls("look")))


@asynccontextmanager
async def by_dispatch(folder: Path) -> AsyncIterator[Way]:
    tool = FailingTool()
    async with tool.listening() as url, speculating(folder, "look", tools={"look": DispatchTool(url=url)}) as world:
        yield Way(world, "look", lambda text: world.dispatch("look", text), lambda: len(tool.bodies))


Road = Callable[[Path], AbstractAsyncContextManager[Way]]
ROADS = pytest.mark.parametrize("road", [over_mcp, by_dispatch])


async def called(client: McpHttpClient, tool: str, arguments: str) -> int:
    """Call with arguments as this text; the status of the answer."""
    given = f',"arguments":{arguments}' if arguments else ""
    body = f'{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}"{given}}}}}'
    async with client.http.post(client.url, data=body.encode(), headers=client.headers) as answer:
        await answer.read()
        return answer.status


@ROADS
@pytest.mark.parametrize(("ahead", "asked"), SAME)
async def test_b25_a_call_is_the_same_however_its_arguments_are_written(
    tmp_path: Path, road: Road, ahead: str, asked: str
) -> None:
    for one, other in ((ahead, asked), (asked, ahead)):
        async with road(tmp_path) as way:
            await way.world.run_ahead((way.tool, one))
            await way.call(other)
            assert (way.world.served, way.calls()) == (1, 1)


@ROADS
@pytest.mark.parametrize(("ahead", "asked"), DIFFERENT)
async def test_b25_a_call_with_other_values_is_another(tmp_path: Path, road: Road, ahead: str, asked: str) -> None:
    for one, other in ((ahead, asked), (asked, ahead)):
        async with road(tmp_path) as way:
            await way.world.run_ahead((way.tool, one))
            await way.call(other)
            assert (way.world.served, way.calls()) == (0, 2)
