"""An MCP server is called after what runs, not after what launches it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.cli.server_name import server_name


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem .", "server-filesystem"),
        ("npx @modelcontextprotocol/server-filesystem@2025.8.21 /data", "server-filesystem"),
        ("npx -y --package=@acme/tools mcp-acme", "mcp-acme"),
        ("npx -p @acme/tools mcp-acme", "mcp-acme"),
        ("/usr/bin/npm exec -y -- @acme/weather@latest", "weather"),
        ("pnpm dlx @acme/weather", "weather"),
        ("uvx mcp-server-fetch", "mcp-server-fetch"),
        ("uvx --from git+https://example.com/acme/mcp.git mcp-acme[cli]", "mcp-acme"),
        ("uv --directory /srv/acme run acme-mcp", "acme-mcp"),
        ("uv tool run mcp-server-git==1.2", "mcp-server-git"),
        ("uv run python -m acme.server --stdio", "acme"),
        ("python3.12 -u -m mcp_server_time --local-timezone UTC", "mcp_server_time"),
        ("python -X dev /srv/weather.py", "weather"),
        ("node /srv/server-filesystem/dist/index.js /data", "server-filesystem"),
        ("deno run -A jsr:@acme/weather", "weather"),
        ("docker run -i --rm -e KEY mcp/filesystem:1.0", "filesystem"),
        ("env A=b C=d npx -y @acme/weather", "weather"),
        (r"C:\tools\npx.cmd -y @acme/weather", "weather"),
        ("/opt/acme/bin/mcp-acme --stdio", "mcp-acme"),
        ("node", "node"),
        ("npx -y", "npx"),
    ],
)
def test_the_package_or_script_gives_the_name(command: str, name: str) -> None:
    assert server_name(command.split(" ")) == name


@given(
    st.lists(
        st.sampled_from(["npx", "python", "-m", "-c", "", "/", "-", "a/b", "é", "--", "env", "@", "x:y"])
        | st.text(max_size=5),
        min_size=1,
    )
)
def test_any_command_gives_a_name_that_fits_into_a_tool_s(command: list[str]) -> None:
    name = server_name(command)
    assert name
    assert name.isascii()
    assert "/" not in name
