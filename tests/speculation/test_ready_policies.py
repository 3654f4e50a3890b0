"""The policies that come along: what each says of its tools' calls, and that none speaks past another."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.share import share
from paste_proxy.speculation.policy import Policy, combine
from paste_proxy.speculation.rules import Effect
from paste_proxy.speculation.types import Destination

FILES = {path.stem: path for path in sorted(share("policies").glob("*.toml")) if path.stem != "staging"}
"""All but the one that is there to change what another says."""
READY = {stem: Policy.parse(path.read_text("utf-8"), stem) for stem, path in FILES.items()}
ALL = combine(READY.values())
LOCAL, FIRST, THIRD = Destination.LOCAL, Destination.FIRST_PARTY, Destination.THIRD_PARTY


@pytest.mark.parametrize(
    ("stem", "tool", "arguments", "ahead", "effect"),
    [
        ("coding", "Read", {}, True, Effect.READ),
        ("coding", "list_directory", {}, True, Effect.READ),
        ("coding", "AskUserQuestion", {}, False, Effect.WRITE),
        ("coding", "multi_agent_v1__spawn_agent", {}, False, Effect.WRITE),
        ("coding", "Bash", {"command": "git status"}, False, Effect.READ),
        ("coding", "Bash", {"command": "cd src && git log --oneline -5 2>&1"}, False, Effect.READ),
        ("coding", "exec_command", {"cmd": "rg -n x src | head"}, False, Effect.READ),
        ("coding", "run_shell_command", {"command": "sed -n 1,20p a"}, False, Effect.READ),
        ("coding", "shell_command", {"command": "ls -la"}, False, Effect.READ),
        ("coding", "Bash", {"command": "git status && make"}, False, Effect.WRITE),
        ("coding", "Bash", {"command": "git status; rm a"}, False, Effect.WRITE),
        ("coding", "Bash", {"command": "cat $(make)"}, False, Effect.WRITE),
        ("coding", "exec_command", {"cmd": "npm test"}, False, Effect.WRITE),
        ("coding", "shell", {"command": ["git", "status"]}, False, Effect.WRITE),
        ("workbench", "workbench/run", {"command": "grep -rn x src"}, True, Effect.READ),
        ("coding", "Bash", {"command": "ls", "run_in_background": False, "description": "x"}, False, Effect.READ),
        ("coding", "Bash", {"command": "ls", "run_in_background": True}, False, Effect.WRITE),
        ("coding", "Bash", {"command": "ls", "dangerouslyDisableSandbox": True}, False, Effect.WRITE),
        ("coding", "exec_command", {"cmd": "ls", "login": True, "tty": False}, False, Effect.READ),
        ("coding", "exec_command", {"cmd": "ls", "login": False, "justification": "x"}, False, Effect.READ),
        ("coding", "exec_command", {"cmd": "ls", "tty": True}, False, Effect.WRITE),
        ("coding", "exec_command", {"cmd": "ls", "shell": "/tmp/x"}, False, Effect.WRITE),
        ("coding", "exec_command", {"cmd": "ls", "login": True, "shell": "bash"}, False, Effect.WRITE),
        ("coding", "exec_command", {"cmd": "ls", "sandbox_permissions": "use_default"}, False, Effect.READ),
        ("coding", "exec_command", {"cmd": "ls", "sandbox_permissions": "require_escalated"}, False, Effect.WRITE),
        ("coding", "exec_command", {"cmd": "ls", "prefix_rule": ["ls"]}, False, Effect.WRITE),
        ("coding", "shell_command", {"command": "ls", "login": True, "timeout_ms": 9}, False, Effect.READ),
        ("coding", "shell_command", {"command": "ls", "with_escalated_permissions": True}, False, Effect.WRITE),
        ("coding", "run_shell_command", {"command": "ls", "dir_path": "a"}, False, Effect.READ),
        ("coding", "run_shell_command", {"command": "ls", "directory": "/a", "timeout": 9}, False, Effect.READ),
        ("coding", "run_shell_command", {"command": "cat kmsg", "directory": "/dev"}, False, Effect.WRITE),
        ("coding", "run_shell_command", {"command": "ls", "directory": "/a", "dir_path": "b"}, False, Effect.WRITE),
        ("coding", "run_shell_command", {"command": "ls", "is_background": True}, False, Effect.WRITE),
        ("workbench", "workbench/run", {"command": "git status"}, False, Effect.READ),
        ("workbench", "workbench/run", {"command": "'git' -C src log -3"}, True, Effect.READ),
        ("workbench", "workbench/run", {"command": "git diff --stat"}, False, Effect.READ),
        ("workbench", "workbench/run", {"command": "make"}, False, Effect.WRITE),
        ("research", "google_scholar", {}, True, Effect.READ),
        ("research", "parse_file", {}, False, Effect.READ),
        ("mcp-git", "git/git_log", {}, True, Effect.READ),
        ("mcp-git", "mcp-server-git/git_status", {}, False, Effect.READ),
        ("mcp-git", "git/git_commit", {}, False, Effect.WRITE),
        ("mcp-fetch", "fetch/fetch", {}, True, Effect.READ),
        ("mcp-memory", "memory/open_nodes", {}, True, Effect.READ),
        ("mcp-memory", "memory/add_observations", {}, False, Effect.WRITE),
        ("mcp-time", "time/get_current_time", {}, False, Effect.READ),
        ("mcp-thinking", "sequential-thinking/sequentialthinking", {}, False, Effect.WRITE),
        ("mcp-sqlite", "sqlite/read_query", {}, True, Effect.READ),
        ("mcp-sqlite", "sqlite/write_query", {}, False, Effect.WRITE),
        ("mcp-postgres", "postgres/query", {"sql": "select * from a;\n"}, True, Effect.READ),
        ("mcp-postgres", "postgres/query", {"sql": "SELECT\n1"}, True, Effect.READ),
        ("mcp-postgres", "postgres/query", {"sql": "SELECT 1; COMMIT; DROP TABLE a"}, False, Effect.WRITE),
        ("mcp-postgres", "postgres/query", {"sql": "\nDROP TABLE a -- SELECT 1"}, False, Effect.WRITE),
        ("mcp-postgres", "postgres/query", {"sql": "WITH x AS (DELETE FROM a) SELECT 1"}, False, Effect.WRITE),
        ("mcp-postgres", "postgres/query", {"sql": "select pg_terminate_backend(42)"}, False, Effect.WRITE),
        ("mcp-postgres", "postgres/query", {"sql": "select\n* from t where f ( a ) = 1"}, False, Effect.WRITE),
        ("mcp-postgres", "postgres/query", {"sql": "select count(*) from t"}, False, Effect.WRITE),
        ("mcp-postgres", "postgres/query", {}, False, Effect.WRITE),
        ("mcp-github", "github/get_file_contents", {}, True, Effect.READ),
        ("mcp-github", "github/search_code", {}, True, Effect.READ),
        ("mcp-github", "github/create_issue", {}, False, Effect.WRITE),
        ("mcp-browser", "playwright/browser_snapshot", {}, False, Effect.READ),
        ("mcp-browser", "playwright/browser_click", {}, False, Effect.WRITE),
        ("mcp-browser", "puppeteer/puppeteer_navigate", {}, False, Effect.WRITE),
        ("mcp-context7", "context7/resolve-library-id", {}, True, Effect.READ),
        ("mcp-search", "brave-search/brave_web_search", {}, False, Effect.READ),
        ("mcp-search", "tavily/tavily-search", {}, True, Effect.READ),
        ("mcp-search", "exa/web_search_exa", {}, True, Effect.READ),
    ],
)
def test_what_a_policy_says_of_a_call(
    stem: str, tool: str, arguments: dict[str, Json], ahead: bool, effect: Effect
) -> None:
    call = Invocation(tool, arguments)
    ruling = READY[stem].rule_for(call)
    assert (ruling.allowed, ruling.effect) == (ahead, effect)
    together = ALL.rule_for(call)
    assert (together.allowed, together.effect) == (ahead, effect), "another policy speaks of it, too"


def test_a_reading_command_of_the_agents_own_shell_voids_nothing() -> None:
    shells = [
        ("Bash", "command"),
        ("exec_command", "cmd"),
        ("run_shell_command", "command"),
        ("shell_command", "command"),
    ]
    for tool, argument in shells:
        reads = READY["coding"].rule_for(Invocation(tool, {argument: "git diff HEAD"}))
        writes = READY["coding"].rule_for(Invocation(tool, {argument: "git commit -m x"}))
        assert (reads.writes, writes.writes) == (frozenset(), frozenset({"*"})), tool
        assert reads.same == writes.same, tool


def test_whoever_may_be_told_of_a_guess_is_named() -> None:
    silent = [rule.place for rule in ALL.rules if rule.ahead and rule.destination is None]
    assert silent == []
    told = {tool: ALL.rule_for(Invocation(tool, {})).destination for tool in ("Read", "github/get_me", "fetch/fetch")}
    assert told == {"Read": LOCAL, "github/get_me": FIRST, "fetch/fetch": THIRD}


def test_the_rules_shown_to_people_are_rules() -> None:
    text = (share("policies") / "README.md").read_text("utf-8")
    shown = [block for block in re.findall(r"(?ms)^```toml\n(.*?)^```", text) if "[[rule]]" in block]
    assert [len(Policy.parse(block, "README").rules) for block in shown] == [2, 2, 2, 1]


def test_servers_of_like_names_are_left_alone() -> None:
    for tool in (
        "github/git_log",
        "gitlab/git_log",
        "timetable/get_current_time",
        "my-fetcher/fetch",
        "exam/web_search_exa",
    ):
        assert not ALL.of_tool(tool).allowed, tool


def declared(folder: Path) -> Iterator[str]:
    """The built-in tools that recorded requests of a client declare."""
    for path in sorted(folder.rglob("*.json")):
        recorded = json.loads(path.read_text("utf-8"))
        request = recorded.get("request", recorded) if isinstance(recorded, dict) else {}
        body = request.get("body") if isinstance(request, dict) else None
        for entry in (body.get("tools") or []) if isinstance(body, dict) else []:
            inner = entry.get("functionDeclarations") or entry.get("tools") or [entry.get("function") or entry]
            before = f"{entry['name']}__" if entry.get("type") == "namespace" else ""
            yield from (before + one["name"] for one in inner if "name" in one)


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini-cli", "qwen-code"])
def test_every_tool_that_a_recorded_client_declares_is_ruled_on(client: str, corpus: Path) -> None:
    others = ("mcp_", "discovered_", "DeferredToolPlaceholder", "tool_call")
    names = {name for name in declared(corpus / "fixtures" / client) if not name.startswith(others)}
    assert names
    assert {name for name in names if not READY["coding"].of_tool(name).named} == set()
