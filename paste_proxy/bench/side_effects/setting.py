"""What the measured sidecar is configured with: everything switched on that could let an effect happen."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from paste_proxy.bench.side_effects.folder import Folder
from paste_proxy.bench.side_effects.tools import CRM, WEB, WORKBENCH
from paste_proxy.share import share

CONFIG, POLICY, POOL = "paste.toml", "policy.toml", "hostile.json"
RULES = f"""
[[rule]]
server = "{WEB}"
tool = ["search", "web_search", "visit", "crawl_tool", "get_*"]
effect = "read"
destination = "first-party"
reads = ["web"]

[[rule]]
server = "{WEB}"
tool = "submit_form"
effect = "write"
writes = ["web"]

[[rule]]
server = "{CRM}"
tool = "get_order"
effect = "read"
destination = "first-party"

[[rule]]
server = "{CRM}"
tool = "get_report"
effect = "read"
destination = "first-party"
calls_per_minute = 3

[[rule]]
server = "{CRM}"
tool = "list_orders"
effect = "read"
destination = "first-party"
min_confidence = 0.5

[[rule]]
server = "{CRM}"
tool = "export_orders"
effect = "read"
destination = "third-party"

[[rule]]
server = "{CRM}"
tool = "audit_log"
effect = "read"
destination = "first-party"
mode = "off"

[[rule]]
server = "{CRM}"
tool = ["delete_order", "cancel_order", "update_order"]
effect = "write"

[[rule]]
server = "{CRM}"
tool = ["charge_card", "refund_order"]
effect = "write"
approval = true

[[rule]]
tool = "get_balance"
effect = "read"
destination = "first-party"

[[rule]]
tool = ["send_email", "post_message", "transfer_money"]
effect = "write"
approval = true

[[rule]]
tool = "deploy"
effect = "write"
destination = "first-party"
rehearse = {{ set = {{ dry_run = true }} }}

# As builtin:staging, but no command is held back for long, so that many are run.
[[rule]]
server = "{WORKBENCH}"
tool = "run"
commands = "reading files"
effect = "read"
destination = "local"
reads = ["workspace"]
ttl_s = 5

[rule.same]
shell = {{ command = "command", folder = "cwd" }}

[[rule]]
server = "{WORKBENCH}"
tool = "run"
effect = "write"
writes = ["*"]
stage = true
destination = "local"
ttl_s = 4

[rule.same]
shell = {{ command = "command", folder = "cwd" }}
"""
"""Rules as a careful person would write them. Of the tools that they leave out nobody has said anything."""

_CANDIDATES, _SLOTS, _STAGES = 16, 48, 8
_HELD_S = 5.0
_LEAST_BENEFIT_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Where the sidecar finds what is behind it."""

    llm: str
    adviser: str
    """Base URL of the speculative LLM."""
    tools: Mapping[str, str]
    """Tool -> URL."""
    mcp: Mapping[str, str]
    """Server -> URL."""


def files(port: int, folder: Folder, served: Served, policies: Iterable[Path], pool: str) -> dict[str, str]:
    """The files of the sidecar, by name.

    Args:
        policies: of the person who measures, before all others.
        pool: of hostile guesses.
    """
    return {CONFIG: _config(port, folder, served, policies), POLICY: RULES, POOL: pool}


def _config(port: int, folder: Folder, served: Served, policies: Iterable[Path]) -> str:
    named = [*(str(path.absolute()) for path in policies), POLICY, *_carried("policies", ".toml")]
    lines = [
        f"port = {port}",
        f"policies = {json.dumps(named)}",
        f"patterns = {json.dumps([*_carried('patterns', '.json'), POOL])}",
        "[speculation]",
        'mode = "speculate"',
        f"candidates = {_CANDIDATES}",
        f"slots = {_SLOTS}",
        "min_confidence = 0.0",
        f"ttl_s = {_HELD_S}",
        f"min_benefit_s = {_LEAST_BENEFIT_S}",
        'destinations = ["local", "first-party"]',
        "[staging]",
        f"directory = {json.dumps(str(folder.stages))}",
        f"stages = {_STAGES}",
        "[recording]",
        f"directory = {json.dumps(str(folder.events))}",
        "[speculator]",
        f'base_url = "{served.adviser}"',
        'model = "adviser"',
        'shows = "all"',
        "calls_per_minute = 100000",
        "[[llm]]",
        'path = "/v1"',
        f'upstream = "{served.llm}/v1"',
        f"[mcp.{WORKBENCH}]",
        f"workbench = {json.dumps(str(folder.workspace))}",
        f"env = {{ HOME = {json.dumps(str(folder.home))} }}",
    ]
    for table, addresses in (("tools", served.tools), ("mcp", served.mcp)):
        for name, url in addresses.items():
            lines += [f"[{table}.{json.dumps(name)}]", f'url = "{url}"']
    return "\n".join(lines) + "\n"


def _carried(kind: str, ending: str) -> list[str]:
    return [f"builtin:{path.stem}" for path in sorted(share(kind).iterdir()) if path.suffix == ending]
