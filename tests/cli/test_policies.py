"""`paste-proxy policies`: what it says of ready policies, of calls, of faulty files, and of recorded sessions."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from paste_proxy.cli.main import app
from paste_proxy.errors import InputFault
from paste_proxy.share import share
from paste_proxy.speculation.policy import Policy

RULES = """
[[rule]]
tool = "run"
commands = "reading"
effect = "read"
reads = ["crm:{session}:orders:{id}"]
reuse_s = 5
min_confidence = 0.5
destination = "local"
same = { shell = { command = "command", folder = "cwd" } }

[[rule]]
tool = "run"
effect = "write"
writes = ["*"]
same = { shell = { command = "command", folder = "cwd" } }

[[rule]]
tool = "run"
when = { command = "x" }
effect = "write"
"""


def policies(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["policies", *arguments])


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.toml"
    path.write_text(RULES)
    return path


def test_the_ready_ones_are_listed_with_a_sentence_each() -> None:
    lines = policies("list").output.splitlines()
    assert [line.split()[0] for line in lines] == sorted(
        f"builtin:{path.stem}" for path in share("policies").glob("*.toml")
    )
    assert all(line.rstrip().endswith(".") for line in lines)


def test_a_call_is_explained_by_the_rule_that_decides(rules: Path) -> None:
    said = policies("explain", "run", '{"command": "cd a && git status 2>&1"}', "--policy", str(rules)).output
    assert said.splitlines() == [
        f"{rules}: rule 1: decides",
        "  effect  read",
        "  ahead   yes; a read that may be run ahead; only if it is at least 50% likely; "
        "an answer serves the same call of its session again for 5 s",
        "  told    local",
        "  reads   crm:this-session:orders",
        "  writes  nothing that anything reads",
        '  core    run {"command":"git status","cwd":"a"}',
    ]


def test_it_is_said_why_an_earlier_rule_does_not_decide(rules: Path) -> None:
    said = policies("explain", "run", '{"command": "git push"}', "--policy", str(rules)).output
    assert said.splitlines()[:2] == [
        f"{rules}: rule 1: names it, but 'git push' is not plainly reading",
        f"{rules}: rule 2: decides",
    ]


def test_a_call_is_explained_to_programs(rules: Path) -> None:
    said = json.loads(policies("explain", "run", '{"command": "make"}', "--policy", str(rules), "--json").output)
    assert (said["rule"], said["effect"], said["ahead"], said["writes"]) == (f"{rules}: rule 2", "write", False, ["*"])
    assert said["passed"] == [{"rule": f"{rules}: rule 1", "unmet": "'make' is not plainly reading"}]


def test_without_a_policy_it_goes_by_all_that_come_along() -> None:
    assert "builtin:coding: rule 1: decides" in policies("explain", "Read").output
    assert policies("explain", "nobody/knows").output.startswith("no rule speaks of this call\n")


def test_arguments_that_are_none_are_refused() -> None:
    result = policies("explain", "Read", "[1]")
    assert isinstance(result.exception, InputFault)


def test_a_sound_policy_passes_and_a_rule_without_use_is_told(rules: Path) -> None:
    result = policies("check", str(rules))
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        f"ok    {rules}: 3 rules",
        f"warn  {rules}: rule 3: never decides, since {rules}: rule 2 takes all its calls; "
        "put it before, or take it out",
    ]


def test_every_fault_is_told_and_ends_it_with_1(rules: Path, tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.toml"
    faulty.write_text('[[rule]]\ntool = 3\neffect = "reads"\n[[rule]]\ntool = "a"\neffect = "read"\nttl_s = 0\n')
    result = policies("check", str(rules), str(faulty))
    assert result.exit_code == 1
    told = [line.partition(": ")[2].partition(";")[0] for line in result.output.splitlines() if line.startswith("fail")]
    assert told == ["rule 1: tool: 3", "rule 1: effect: 'reads'", "rule 2: ttl_s: 0"]


def call(tool: str, number: int, **arguments: str) -> list[dict[str, object]]:
    name = f"c{number}"
    return [
        {"session": "s", "seq": 2 * number, "ts": None, "type": "tool_call", "tool": tool, "args": arguments}
        | {"call_id": name},
        {"session": "s", "seq": 2 * number + 1, "ts": None, "type": "tool_output", "tool": tool, "output": "ok"}
        | {"call_id": name, "status": "ok"},
    ]


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    path = tmp_path / "traces.jsonl"
    lines = [*call("run", 0, command="make"), *call("get_it", 1), *call("put_it", 2)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_rules_are_held_against_recorded_calls(rules: Path, traces: Path) -> None:
    lines = policies("check", str(rules), "--traces", str(traces)).output.splitlines()
    notes = [line for line in lines if line.startswith("note")]
    assert notes[0] == f"note  {rules}: rule 1: decides on none of 3 calls (run)"
    assert notes[-1] == "note  no rule names get_it, put_it: never run ahead, and each voids early results"


def test_a_draft_is_a_policy_in_which_nothing_is_run_ahead(traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "draft.toml"
    result = policies("suggest", str(traces), "-o", str(out))
    assert result.exit_code == 0
    assert "3 tools of 1 session" in result.output
    text = out.read_text()
    assert [rule["tool"] for rule in tomllib.loads(text)["rule"]] == ["put_it", "run"]
    assert not any(rule.ahead for rule in Policy.parse(text, "draft").rules)
    assert '#tool = "get_it"' in text
    assert policies("suggest", str(traces)).output == text


def test_a_draft_does_not_overwrite_what_it_is_made_from(traces: Path) -> None:
    assert isinstance(policies("suggest", str(traces), "-o", str(traces)).exception, InputFault)
