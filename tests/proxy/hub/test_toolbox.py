"""The toolbox: spellings of tools and who can run them."""

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.toolbox import Toolbox

LONG = "git.hub/a_long_name_for_a_tool_that_no_other_tool_has_and_that_nobody_would_ever_want_to_read"


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


@pytest.mark.parametrize(
    ("spelling", "sure"),
    [("fs/read", True), ("mcp__fs__read", True), ("fs__read", True), ("read", False), ("unheard_of", True)],
)
def test_a_bare_name_may_be_a_tool_of_the_client_s_own(spelling: str, sure: bool) -> None:
    assert offered("fs/read").resolve(spelling, {}).sure is sure


@pytest.mark.parametrize(
    ("spelling", "identity"),
    [
        ("mcp_git_hub_list_repos", "git.hub/list-repos"),
        ("mcp__git_hub__list_repos", "git.hub/list-repos"),
        ("mcp_git_hub_a_long_name_for_a_...t_nobody_would_ever_want_to_read", LONG),
        ("mcp_git_hub_a_long_name_for___and_that_nobody_would_ever_want_to_read", LONG),
    ],
)
def test_a_name_that_a_client_has_changed_to_fit_an_api_is_known(spelling: str, identity: str) -> None:
    assert offered("git.hub/list-repos", LONG, "git.hub/other").identify(spelling) == identity


def test_spellings_that_two_tools_share_are_left_alone() -> None:
    toolbox = offered("a_b/c", "a/b_c")
    assert toolbox.identify("mcp_a_b_c") == "mcp_a_b_c"
    assert toolbox.identify("mcp__a__b_c") == "a/b_c"


def test_a_client_that_spells_servers_means_its_own_tool_by_a_bare_name() -> None:
    toolbox = offered("fs/read")
    assert toolbox.prefixed("mcp_fs_read")
    assert not toolbox.prefixed("read")
    assert toolbox.identify("read", bare=False) == "read"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("tool_call", {"name": "mcp__fs__read", "arguments": {"path": "a"}}),
        ("mcp__fs__read", {"path": "a"}),
        ("use_tool", {"tool_name": "fs/read", "arguments": {"path": "a"}}),
    ],
)
def test_a_call_through_another_tool_is_the_call_that_it_makes(name: str, arguments: dict[str, Json]) -> None:
    assert offered("fs/read").resolve(name, arguments).invocation == Invocation("fs/read", {"path": "a"})


@pytest.mark.parametrize("arguments", [{}, {"name": 1}, {"name": "tool_call"}, {"name": "x", "arguments": "y"}])
def test_a_calling_tool_that_names_no_other_is_itself(arguments: dict[str, Json]) -> None:
    assert offered("fs/read").resolve("tool_call", arguments).invocation == Invocation("tool_call", arguments)


def test_a_tool_of_that_name_on_offer_is_called_itself() -> None:
    toolbox = Toolbox()
    toolbox.offer("conn", "", Still(), ["tool_call"])
    arguments: dict[str, Json] = {"name": "read", "arguments": {}}
    assert toolbox.resolve("tool_call", arguments).invocation == Invocation("tool_call", arguments)


def test_arguments_that_a_tool_takes_no_notice_of_make_no_other_call() -> None:
    toolbox = Toolbox(["fs"])
    toolbox.offer("conn", "fs", Still(), ["fs/read", "fs/list"], beside={"fs/read": frozenset({"wait"})})
    assert toolbox.resolve("mcp_fs_read", {"path": "a", "wait": True}).invocation == Invocation(
        "fs/read", {"path": "a"}
    )
    assert toolbox.resolve("mcp_fs_list", {"wait": True}).invocation == Invocation("fs/list", {"wait": True})


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


def test_a_tool_is_shared_if_nothing_that_runs_it_is_a_session_s_own() -> None:
    toolbox = Toolbox(["files", "crm"], alike=["files"])
    toolbox.offer("", "", Still(), ["lookup"])
    toolbox.offer("mcp:files:1", "files", Still(), ["files/look"], session="mine")
    toolbox.offer("mcp:crm:1", "crm", Still(), ["crm/orders"])
    toolbox.offer("peer", "", Still(), ["search"])
    shared = ["lookup", "files/look", "crm/orders", "search", "unheard_of"]
    assert [tool for tool in shared if toolbox.shared(tool)] == ["lookup", "files/look"]
    toolbox.withdraw("mcp:files:1")
    assert toolbox.shared("files/look"), "the session has ended, what it showed is still to be learned"
    toolbox.offer("peer", "", Still(), ["search", "lookup", "files/look"])
    assert [tool for tool in shared if toolbox.shared(tool)] == []


def test_what_a_name_means_changes_with_the_offers() -> None:
    toolbox = Toolbox(["fs", "disk"])
    assert toolbox.identify("read") == "read"
    toolbox.offer("", "fs", Still(), ["fs/read"])
    assert toolbox.identify("read") == toolbox.identify("read") == "fs/read"
    assert toolbox.identify("read", bare=False) == "read"
    toolbox.offer("d", "disk", Still(), ["disk/read"])
    assert toolbox.identify("read") == "read", "it may be either"
    toolbox.withdraw("")
    assert toolbox.identify("read") == "disk/read"
