"""The doctor finds what will not work and says what to mend."""

import asyncio
import json
import socket
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from paste_proxy.cli.doctor import doctor
from paste_proxy.config import load_config
from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forecast.adaptation import Place
from paste_proxy.mining.forecast.lessons import Lesson
from paste_proxy.mining.forecast.memory import text_of
from paste_proxy.proxy.checkup import check_files
from paste_proxy.proxy.finding import Finding
from paste_proxy.proxy.memory import paths
from paste_proxy.proxy.reach import check_endpoints
from paste_proxy.share import share
from tests.proxy.llm_world import answer, replying, sidecar, upstream

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
    path = written(tmp_path, 'port = 0\npolicies = ["builtin:tau_airline"]\n[tools.t]\ncommand = ["sh"]\n')
    result = CliRunner().invoke(cli, ["--config", str(path)])
    assert result.exit_code == 0, result.output
    assert "fail" not in result.output


def test_a_config_that_cannot_be_read_fails(tmp_path: Path) -> None:
    path = written(tmp_path, "prot = 1")
    result = CliRunner().invoke(cli, ["--config", str(path), "--json"])
    report = json.loads(result.stdout)
    assert (result.exit_code, report["ok"]) == (2, False)
    assert "prot" in report["findings"][0]["found"]


@pytest.mark.parametrize("kind", ["policies", "patterns"])
def test_a_missing_or_broken_file_fails_with_its_place(tmp_path: Path, kind: str) -> None:
    (tmp_path / "broken.toml").write_text("= [")
    what = {"policies": "policy", "patterns": "patterns"}[kind]
    findings = files(tmp_path, f'{kind} = ["missing.toml", "broken.toml"]')
    assert found(findings, f"{what} {tmp_path / 'missing.toml'}")[0] == "fail"
    level, words = found(findings, f"{what} {tmp_path / 'broken.toml'}")
    assert (level, "is not TOML" in words) == ("fail", True)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("p.json", '{"format": "paste-proxy patterns", "version": 7}', "version: 7 expected 1, or a newer paste-proxy"),
        ("p.json", "[]", "[] expected a table"),
        ("p.toml", '[[pattern]]\nid = "a: b"\n', "pattern[0].confidence: nothing expected a number above 0, up to 1"),
    ],
)
def test_of_a_pool_it_is_said_which_key_is_wrong_what_stands_there_and_what_should(
    tmp_path: Path, file: str, text: str, said: str
) -> None:
    (tmp_path / file).write_text(text)
    findings = files(tmp_path, f'patterns = ["{file}"]')
    assert found(findings, f"patterns {tmp_path / file}") == ("fail", said)


def memory(*habits: str, moments: int = 3) -> str:
    place = Place.fresh()
    place.moments = moments
    place.ever.of["P:look#1"] = Lesson(-1.0, 2.0)
    for word in habits:
        place.habits.note(Invocation("look", {"word": word}), "user", first=True)
    return text_of(place, time.time(), lambda _: True)


def learned(folder: Path, rest: str = "") -> list[Finding]:
    return files(folder, f'[learning]\ndirectory = "memory"\nworkspace = "."\n{rest}')


def test_how_much_sessions_have_taught_is_told_and_of_which_workspace(tmp_path: Path) -> None:
    assert found(learned(tmp_path), "learning") == ("ok", f"{tmp_path / 'memory'} can be written ")
    assert found(learned(tmp_path), "memory here") == ("ok", f"of {tmp_path}: nothing yet ")
    kept = paths(load_config(tmp_path / "paste.toml"))
    assert kept is not None
    kept[0].write_text(memory("a", "b"))
    level, words = found(learned(tmp_path), "memory here")
    assert (level, words.endswith("UTC: 3 moments, 2 habits, 1 pattern demoted ")) == ("ok", True)
    assert words.startswith(f"of {tmp_path}, written ")
    assert found(learned(tmp_path), "memory everywhere") == ("ok", "of all workspaces: nothing yet ")


@pytest.mark.parametrize(
    ("text", "said"), [("{", "is not JSON"), (memory().replace('"version":1', '"version":9'), "version 9")]
)
def test_a_memory_that_would_be_refused_is_a_warning_and_stays_where_it_is(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "memory").mkdir()
    path = tmp_path / "memory" / "everywhere.json"
    path.write_text(text)
    level, words = found(learned(tmp_path), "memory everywhere")
    assert (level, said in words, "puts it aside as everywhere.json.refused" in words) == ("warn", True, True)
    assert path.read_text() == text


def test_where_learning_is_not_kept_or_off_it_is_told(tmp_path: Path) -> None:
    level, words = found(files(tmp_path, ""), "learning")
    assert (level, "until the sidecar ends" in words, "learning.directory" in words) == ("ok", True, True)
    assert found(files(tmp_path, "[learning]\nenabled = false"), "learning")[1] == "sessions teach nothing: it is off "
    (tmp_path / "memory").write_text("a file")
    assert found(learned(tmp_path), "learning")[0] == "fail"
    assert "mode" in found(learned(tmp_path, '[speculation]\nmode = "off"'), "learning")[1]


def test_tools_that_patterns_predict_and_no_rule_names_are_told(tmp_path: Path) -> None:
    pools = [path.name.partition(".")[0] for path in share("patterns").glob("*.json")]
    findings = files(tmp_path, f"patterns = {json.dumps([f'builtin:{pool}' for pool in pools])}")
    level, words = found(findings, "policies")
    assert level == "warn"
    assert "no rule names" in words


def test_tools_of_patterns_by_hand_that_no_rule_names_are_told(tmp_path: Path) -> None:
    own = '[[pattern]]\nid = "own"\ntool = "peek"\nconfidence = 0.5\n'
    (tmp_path / "own.toml").write_text(own + own.replace('"own"', '"read"').replace('"peek"', '"Read"'))
    findings = files(tmp_path, 'patterns = ["own.toml"]\npolicies = ["builtin:coding"]')
    assert found(findings, "policies") == (
        "warn",
        "patterns predict tools that no rule names: peek add rules that name them, or leave it so and they are never "
        "run ahead",
    )


def test_a_program_that_is_not_there_fails(tmp_path: Path) -> None:
    findings = files(tmp_path, '[tools.t]\ncommand = ["no-such-program"]\n')
    assert found(findings, "tool t")[0] == "fail"


def test_what_serve_would_refuse_to_bind_fails(tmp_path: Path) -> None:
    assert found(files(tmp_path, 'port = 0\nhost = "0.0.0.0"'), "address")[0] == "fail"
    config = load_config(written(tmp_path, 'port = 0\nhost = "0.0.0.0"'))
    assert found(check_files(config, allow_remote=True), "address")[0] == "ok"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        level, words = found(files(tmp_path, f"port = {taken.getsockname()[1]}"), "address")
    assert (level, "cannot be bound" in words, "another `port`" in words) == ("fail", True, True)
    assert found(files(tmp_path, 'port = 0\nhost = "localhost"'), "address")[0] == "ok"


def test_a_config_that_is_not_there_is_no_failed_check(tmp_path: Path) -> None:
    assert CliRunner().invoke(cli, ["--config", str(tmp_path / "none.toml")]).exit_code == 2


def test_a_configured_tool_is_told_what_the_policy_says_of_it(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        '[[rule]]\ntool = "look"\neffect = "read"\n[[rule]]\ntool = "book"\neffect = "write"\n'
    )
    text = 'policies = ["p.toml"]\n' + "".join(f'[tools.{tool}]\ncommand = ["sh"]\n' for tool in ("look", "book", "x"))
    findings = files(tmp_path, text)
    assert found(findings, "policy " + str(tmp_path / "p.toml"))[1] == "2 rules "
    assert found(findings, "tool look") == ("ok", "sh is there; may be run ahead ")
    assert found(findings, "tool book") == ("ok", "sh is there; a write, never run ahead ")
    assert found(findings, "tool x")[0] == "warn"


async def test_upstreams_are_reached_or_named(tmp_path: Path) -> None:
    async with upstream(replying(answer(b""))) as there:
        text = f'[[llm]]\npath = "/v1"\nupstream = "{there.url}/v1"\n[[llm]]\npath = "/v2"\nupstream = "{there.url}"\n'
        text += '[[llm]]\npath = "/off"\nupstream = "http://127.0.0.1:9"\n[tools.t]\nurl = "http://127.0.0.1:9/t"\n'
        findings = await endpoints(tmp_path, text)
    assert found(findings, "llm /v1")[0] == "ok"
    assert found(findings, "llm /v2")[0] == "warn"
    assert found(findings, "llm /off")[0] == "fail"
    assert "127.0.0.1:9" in found(findings, "tool t")[1]


async def test_an_upstream_of_several_routes_is_told_of_once(tmp_path: Path) -> None:
    off = 'upstream = "http://127.0.0.1:9"\n'
    text = f'[[llm]]\npath = "/a"\n{off}[[llm]]\npath = "/b"\n{off}[tools.t]\nurl = "http://127.0.0.1:9/t"\n'
    findings = await endpoints(tmp_path, text)
    assert found(findings, "llm /a, llm /b")[0] == "fail"
    assert found(findings, "tool t")[0] == "fail"


async def test_an_address_where_the_config_s_own_sidecar_runs_is_in_order(tmp_path: Path) -> None:
    async with upstream(replying(answer(b""))) as there, sidecar(("/v1", f"{there.url}/v1")) as port:
        mine = f'port = {port}\n[[llm]]\npath = "/v1"\nupstream = "{there.url}/v1"\n'
        level, words = found(await asyncio.to_thread(files, tmp_path, mine), "address")
        assert (level, "it runs there (paste-proxy" in words) == ("ok", True)
        level, words = found(await asyncio.to_thread(files, tmp_path, mine.replace("/v1", "/v2")), "address")
        assert (level, "cannot be bound" in words) == ("fail", True)


async def test_an_upstream_that_is_the_sidecar_itself_fails(tmp_path: Path) -> None:
    findings = await endpoints(tmp_path, 'port = 4321\n[[llm]]\npath = "/"\nupstream = "http://localhost:4321"\n')
    assert found(findings, "llm /")[0] == "fail"


async def test_mcp_servers_are_started_and_asked_for_their_tools(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(STDIO_SERVER)
    text = f"[mcp.good]\ncommand = {json.dumps([sys.executable, str(tmp_path / 'server.py')])}\n"
    text += '[mcp.dies]\ncommand = ["sh", "-c", "read line; echo last words >&2; exit 3"]\n'
    text += '[mcp.absent]\ncommand = ["no-such-program"]\n[mcp.web]\nurl = "http://127.0.0.1:9/mcp"\n'
    findings = await endpoints(tmp_path, text)
    assert "1 tool:" in found(findings, "mcp good")[1]
    assert found(findings, "mcp dies")[0] == "fail"
    assert "last words" in found(findings, "mcp dies")[1]
    assert "no-such-program" in found(findings, "mcp absent")[1]
    assert found(findings, "mcp web")[0] == "fail"
    assert "start it, or correct `url`" in found(findings, "mcp web")[1]


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [
        ("filesystem", "ok", "3 tools: 1 may be run ahead, 1 may not, 1 named by no rule"),
        (
            "files",
            "warn",
            "3 named by no rule; so none ever is the policies speak of servers named *filesystem*: rename",
        ),
    ],
)
async def test_of_each_mcp_server_it_is_said_how_many_tools_may_be_run_ahead(
    tmp_path: Path, name: str, level: str, said: str
) -> None:
    (tmp_path / "server.py").write_text(
        STDIO_SERVER.replace('[{"name": "look", ', '[{"name": name, ').replace(
            '{"type": "object"}}]', '{"type": "object"}} for name in ("read_file", "write_file", "look")]'
        )
    )
    text = f'policies = ["builtin:mcp-filesystem"]\n[mcp.{name}]\ncommand = '
    command = json.dumps([sys.executable, str(tmp_path / "server.py")])
    findings = await endpoints(tmp_path, text + command)
    assert found(findings, f"mcp {name}")[0] == level
    assert said in found(findings, f"mcp {name}")[1]
    kept = await endpoints(tmp_path, text + command + "\nstateless = false")
    assert found(kept, f"mcp {name}")[0] == "warn"


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        ({"readOnlyHint": True}, "1 tool: 0 may be run ahead, 1 may not, 0 named by no rule"),
        ({"readOnlyHint": True, "openWorldHint": False}, "1 tool: 1 may be run ahead, 0 may not"),
        ({"openWorldHint": False}, "0 may be run ahead"),
        ({}, "0 may be run ahead"),
    ],
)
async def test_a_server_that_a_rule_believes_is_asked_what_it_says_of_its_tools(
    tmp_path: Path, hints: dict[str, bool], said: str
) -> None:
    described = '{"type": "object"}, "annotations": json.loads(' + repr(json.dumps(hints)) + ")}]"
    (tmp_path / "server.py").write_text(STDIO_SERVER.replace('{"type": "object"}}]', described))
    (tmp_path / "p.toml").write_text(
        '[[rule]]\nserver = "notes"\ntool = "*"\neffect = "annotated"\ndestination = "local"\n'
    )
    command = json.dumps([sys.executable, str(tmp_path / "server.py")])
    findings = await endpoints(tmp_path, f'policies = ["p.toml"]\n[mcp.notes]\ncommand = {command}')
    assert said in found(findings, "mcp notes")[1]


async def test_the_advice_fits_the_fault(tmp_path: Path) -> None:
    async with sidecar() as plain:
        text = f'[[llm]]\npath = "/a"\nupstream = "https://127.0.0.1:{plain}/a"\n'
        text += '[[llm]]\npath = "/b"\nupstream = "http://no-such-host.invalid/b"\n'
        text += f'[mcp.web]\nurl = "http://127.0.0.1:{plain}/mcp"\n'
        findings = await endpoints(tmp_path, text)
    assert "write http:// in `upstream`" in found(findings, "llm /a")[1]
    assert "correct the host in `upstream`" in found(findings, "llm /b")[1]
    assert "correct `url`: it is no MCP server" in found(findings, "mcp web")[1]
