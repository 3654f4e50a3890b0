"""`/mcp/{server}`: in front of MCP servers of either transport and era, transparent at the JSON-RPC level."""
