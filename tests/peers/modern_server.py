"""The official Python SDK's server, which speaks the stateless protocol of 2026-07-28; run as a program.

`modern_server.py stdio`, or `modern_server.py http PORT`.
"""

import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("modern")
looked_up = 0


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def lookup(key: str, ctx: Context) -> str:
    """Look a key up."""
    global looked_up
    looked_up += 1
    await ctx.report_progress(1, 2, "half")
    return f"value of {key}"


@server.tool()
def write_note(text: str) -> str:
    """Write a note."""
    if not text:
        raise ValueError("nothing to write")
    return "written"


@server.tool()
def lookups() -> int:
    """How often `lookup` ran."""
    return looked_up


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
