"""Guesses that are allowed and never right, more of them than there is room for.

Whatever an answer holds is asked for next, in ways that no agent here asks. Each answer names new things, so that
guesses never run out.
"""

from paste_proxy.bench.interference.folder import SPIN
from paste_proxy.bench.interference.tool_servers import HTTP_TOOL, MCP_SERVER, MCP_TOOL
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.sources import Source
from paste_proxy.mining.storage import dump_pool
from paste_proxy.mining.templates import Template
from paste_proxy.mining.window import OUTPUT

WORKBENCH = "workbench"
_ITEM, _PART = "/items/*/id", "word:X6"
_RANKS = 8
_SEEN, _CAME = 1_000, 900
"""What the pool claims."""

POLICY = f"""
[[rule]]
tool = "{HTTP_TOOL}"
effect = "read"
reads = ["records"]

[[rule]]
server = "{MCP_SERVER}"
tool = "{MCP_TOOL}"
effect = "read"
reads = ["pages"]
"""


def pool_text() -> str:
    """The pool as a file holds it."""
    note = f"{WORKBENCH}/read"
    patterns = (
        _pattern(HTTP_TOOL, "id", Mapper(Source(OUTPUT, HTTP_TOOL), _ITEM), _RANKS),
        _pattern(f"{MCP_SERVER}/{MCP_TOOL}", "id", Mapper(Source(OUTPUT, f"{MCP_SERVER}/{MCP_TOOL}"), _ITEM), _RANKS),
        _pattern(f"{WORKBENCH}/run", "command", Mapper(Source(OUTPUT, note), _PART, frame=f"python3 {SPIN} {{}}"), 3),
        _pattern(f"{WORKBENCH}/grep", "pattern", Mapper(Source(OUTPUT, note), _PART), 3),
        _pattern(f"{WORKBENCH}/glob", "pattern", Mapper(Source(OUTPUT, note), _PART, frame="*{}*"), 2),
    )
    return dump_pool(Pool(patterns))


def _pattern(tool: str, argument: str, mapper: Mapper, ranks: int) -> Pattern:
    counts = tuple({"": Count(_SEEN, _CAME // ranks, _CAME)} for _ in range(ranks))
    return Pattern(Template(tool, ((argument, mapper),)), counts, groups=2, id=f"wrong {tool}")
