"""The toolbox: spellings of tools and who can run them."""

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.hub.toolbox import Toolbox


class Still:
    """A backend that is never asked."""

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        raise AssertionError(invocation)

    async def close(self) -> None:
        return


def offered(*tools: str, servers: tuple[str, ...] = ("fs", "my_web")) -> Toolbox:
    toolbox = Toolbox(servers)
    for tool in tools:
        server = tool.partition("/")[0]
        toolbox.offer("conn", server, Still(), [t for t in tools if t.startswith(server + "/")])
    return toolbox


@pytest.mark.parametrize(
    ("spelling", "identity"),
    [
        ("fs/read", "fs/read"),
        ("read", "fs/read"),
        ("mcp__fs__read", "fs/read"),
        ("mcp_fs_read", "fs/read"),
        ("fs__read", "fs/read"),
        ("mcp__my_web__fetch", "my_web/fetch"),
        ("mcp_my_web_fetch", "my_web/fetch"),
        ("unheard_of", "unheard_of"),
    ],
)
def test_every_spelling_of_a_tool_leads_to_its_identity(spelling: str, identity: str) -> None:
    assert offered("fs/read", "my_web/fetch").identify(spelling) == identity


def test_a_bare_name_that_two_servers_offer_is_left_alone() -> None:
    toolbox = offered("fs/read", "my_web/read")
    assert toolbox.identify("read") == "read"
    assert toolbox.identify("mcp__my_web__read") == "my_web/read"


def test_a_session_is_served_through_its_own_connection() -> None:
    toolbox = Toolbox(["fs"])
    mine, other = Still(), Still()
    toolbox.offer("other", "fs", other, ["fs/read"])
    toolbox.offer("mine", "fs", mine, ["fs/read"])
    found = toolbox.find("fs/read", "s", ["mine"])
    assert found is not None
    assert found.backend is mine


def test_a_session_new_to_a_server_uses_its_only_connection_and_none_of_several() -> None:
    toolbox = offered("fs/read")
    assert toolbox.find("fs/read", "s", []) is not None
    toolbox.offer("second", "fs", Still(), ["fs/read"])
    assert toolbox.find("fs/read", "s", []) is None


def test_a_tool_is_on_offer_under_any_of_its_spellings() -> None:
    toolbox = offered("fs/read")
    assert all(toolbox.offered(name) for name in ("fs/read", "read", "mcp__fs__read"))
    assert not toolbox.offered("write")


def test_a_connection_known_to_be_a_sessions_serves_it_before_its_first_call_and_no_other() -> None:
    toolbox = Toolbox(["fs"])
    mine = Still()
    toolbox.offer("conn-1", "fs", Still(), ["fs/read"], session="other")
    assert toolbox.find("fs/read", "mine", []) is None
    toolbox.offer("conn-2", "fs", mine, ["fs/read"], session="mine")
    found = toolbox.find("fs/read", "mine", [])
    assert found is not None
    assert found.backend is mine


def test_a_connection_that_one_session_has_used_is_not_lent_to_another() -> None:
    toolbox = offered("fs/read")
    toolbox.belongs("conn", "mine")
    assert toolbox.find("fs/read", "other", []) is None
    assert toolbox.find("fs/read", "mine", []) is not None
    assert toolbox.find("fs/read", "other", ["conn"]) is not None, "one connection may serve several sessions"


def test_a_withdrawn_connection_serves_nothing_but_its_server_stays_known() -> None:
    toolbox = offered("fs/read")
    toolbox.withdraw("conn")
    assert toolbox.find("fs/read", "s", ["conn"]) is None
    assert toolbox.identify("read") == "read"
    assert toolbox.knows("fs/read")


def test_a_new_offer_replaces_the_old_one_of_its_connection() -> None:
    toolbox = offered("fs/read")
    toolbox.offer("conn", "fs", Still(), ["fs/write"])
    assert toolbox.find("fs/read", "s", ["conn"]) is None
    assert toolbox.find("fs/write", "s", ["conn"]) is not None
