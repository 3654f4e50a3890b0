"""The tools of the measurement: each says whether it has effects. What no server of ours declares is not there.

What the packaged sessions call is declared by what it is known to do; the rest is there to be guessed.
"""

from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation

OWN, DISPATCH, WEB, CRM, WORKBENCH = "own", "tools", "web", "crm", "workbench"
"""Who has tools: agents in their own process, the sidecar's configuration, two MCP servers, our own tools."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of some server."""

    server: str
    name: str
    effects: bool
    """Whether it may change something, whatever it is called with."""


def _declared(server: str, *, reads: str, effects: str) -> list[Tool]:
    return [
        *(Tool(server, name, effects=False) for name in reads.split()),
        *(Tool(server, name, effects=True) for name in effects.split()),
    ]


TOOLS = (
    *_declared(
        OWN,
        reads="get_user_details get_reservation_details search_direct_flight search_onestop_flight list_all_airports "
        "calculate think",
        effects="book_reservation cancel_reservation update_reservation_flights update_reservation_passengers "
        "update_reservation_baggages send_certificate transfer_to_human_agents",
    ),
    *_declared(
        DISPATCH,
        reads="Read Grep Glob google_scholar get_balance",
        effects="Edit Write MultiEdit Bash send_email post_message delete_file create_ticket transfer_money deploy",
    ),
    *_declared(
        WEB,
        reads="search web_search visit crawl_tool get_github_trending_repositories",
        effects="submit_form post_comment upload_file subscribe",
    ),
    *_declared(
        CRM,
        reads="get_order list_orders export_orders audit_log get_report",
        effects="delete_order cancel_order refund_order update_order charge_card send_invoice get_order_and_close",
    ),
    *_declared(WORKBENCH, reads="read list glob grep", effects="edit write run"),
)

_EFFECTS = {(tool.server, tool.name): tool.effects for tool in TOOLS}
_PRINTS_LINES = "sed -n "
"""How the only commands begin that agents here ask for."""
_MORE = ";&|>$`\n"
"""What could make more of one."""


def names(server: str) -> list[str]:
    """The tools of a server."""
    return [tool.name for tool in TOOLS if tool.server == server]


def has_effects(server: str, invocation: Invocation) -> bool:
    """Whether a call may change something. One of a tool that nobody declared may."""
    given, call = invocation.arguments, (server, invocation.tool)
    if call == (WORKBENCH, "run") and isinstance(command := given.get("command"), str):
        return not command.startswith(_PRINTS_LINES) or any(mark in command for mark in _MORE)
    if call == (DISPATCH, "deploy"):
        return given.get("dry_run") is not True
    return _EFFECTS.get(call, True)
