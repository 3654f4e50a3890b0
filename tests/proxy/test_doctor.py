"""The doctor finds what will not work and says what to mend."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from paste_proxy.cli.doctor import doctor
from paste_proxy.config import load_config
from paste_proxy.proxy.checkup import Finding, check_endpoints, check_files
from paste_proxy.share import share
from tests.proxy.llm_world import answer, replying, upstream

cli = typer.Typer()
cli.command()(doctor)

STDIO_SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        info = {"name": "s", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked.get("method") == "tools/list":
        result = {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "paste.toml"
    path.write_text(text, "utf-8")
    return path


def found(findings: list[Finding], what: str) -> tuple[str, str]:
    """Level and words of the only finding about `what`."""
    (finding,) = [finding for finding in findings if finding.what == what]
    return finding.level.value, f"{finding.found} {finding.mend}"


def files(folder: Path, text: str) -> list[Finding]:
    return check_files(load_config(written(folder, text)))


async def endpoints(folder: Path, text: str) -> list[Finding]:
    return await check_endpoints(await asyncio.to_thread(load_config, written(folder, text)))


def test_a_sound_config_passes(tmp_path: Path) -> None:
    path = written(tmp_path, 'policies = ["builtin:tau_airline"]\n[tools.t]\ncommand = ["sh"]\n')
    result = CliRunner().invoke(cli, ["--config", str(path)])
    assert result.exit_code == 0, result.output
    assert "fail" not in result.output


def test_a_config_that_cannot_be_read_fails(tmp_path: Path) -> None:
    path = written(tmp_path, "prot = 1")
    result = CliRunner().invoke(cli, ["--config", str(path), "--json"])
    report = json.loads(result.stdout)
    assert (result.exit_code, report["ok"]) == (1, False)
    assert "prot" in report["findings"][0]["found"]


@pytest.mark.parametrize("kind", ["policies", "patterns"])
def test_a_missing_or_broken_file_fails_with_its_place(tmp_path: Path, kind: str) -> None:
    (tmp_path / "broken.toml").write_text("= [")
    what = {"policies": "policy", "patterns": "patterns"}[kind]
    findings = files(tmp_path, f'{kind} = ["missing.toml", "broken.toml"]')
    assert found(findings, f"{what} {tmp_path / 'missing.toml'}")[0] == "fail"
    level, words = found(findings, f"{what} {tmp_path / 'broken.toml'}")
    assert level == "fail"
    assert "broken.toml" in words


def test_tools_that_patterns_predict_and_no_rule_names_are_told(tmp_path: Path) -> None:
    pools = [path.name.partition(".")[0] for path in share("patterns").glob("*.json")]
    findings = files(tmp_path, f"patterns = {json.dumps([f'builtin:{pool}' for pool in pools])}")
    level, words = found(findings, "policies")
    assert level == "warn"
    assert "no rule names" in words


def test_a_program_that_is_not_there_fails(tmp_path: Path) -> None:
    findings = files(tmp_path, '[tools.t]\ncommand = ["no-such-program"]\n')
    assert found(findings, "tool t")[0] == "fail"


def test_a_host_that_others_can_reach_is_told(tmp_path: Path) -> None:
    assert found(files(tmp_path, 'host = "0.0.0.0"'), "host")[0] == "warn"


async def test_upstreams_are_reached_or_named(tmp_path: Path) -> None:
    async with upstream(replying(answer(b""))) as there:
        text = f'[[llm]]\npath = "/v1"\nupstream = "{there.url}/v1"\n[[llm]]\npath = "/v2"\nupstream = "{there.url}"\n'
        text += '[[llm]]\npath = "/off"\nupstream = "http://127.0.0.1:9"\n[tools.t]\nurl = "http://127.0.0.1:9/t"\n'
        findings = await endpoints(tmp_path, text)
    assert found(findings, "llm /v1")[0] == "ok"
    assert found(findings, "llm /v2")[0] == "warn"
    assert found(findings, "llm /off")[0] == "fail"
    assert "127.0.0.1:9" in found(findings, "tool t")[1]


async def test_an_upstream_that_is_the_sidecar_itself_fails(tmp_path: Path) -> None:
    findings = await endpoints(tmp_path, 'port = 4321\n[[llm]]\npath = "/"\nupstream = "http://localhost:4321"\n')
    assert found(findings, "llm /")[0] == "fail"


async def test_mcp_servers_are_started_and_asked_for_their_tools(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(STDIO_SERVER)
    text = f"[mcp.good]\ncommand = {json.dumps([sys.executable, str(tmp_path / 'server.py')])}\n"
    text += '[mcp.dies]\ncommand = ["sh", "-c", "read line; echo last words >&2; exit 3"]\n'
    text += '[mcp.absent]\ncommand = ["no-such-program"]\n[mcp.web]\nurl = "http://127.0.0.1:9/mcp"\n'
    findings = await endpoints(tmp_path, text)
    assert found(findings, "mcp good") == ("ok", "1 tools ")
    assert found(findings, "mcp dies")[0] == "fail"
    assert "last words" in found(findings, "mcp dies")[1]
    assert "no-such-program" in found(findings, "mcp absent")[1]
    assert found(findings, "mcp web")[0] == "fail"
