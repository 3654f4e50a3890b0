"""`paste-proxy speedup`: the figures of the paper, for people and programs."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from paste_proxy.cli.main import app
from paste_proxy.errors import InputFault
from paste_proxy.mining.pool import Origin, Pool
from paste_proxy.mining.provenance import digests
from paste_proxy.mining.storage import dump_pool


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["speedup", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def report(*arguments: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(run(*arguments, "--json").splitlines()[-1])
    return shown


def test_given_times_give_the_papers_formula() -> None:
    shown = report("-G", "2", "-T", "1.5", "-g", "1", "-a", "0.5", "-c", "0.04")
    assert shown["speedup"] == pytest.approx(3.5 / (0.5 * 2.5 + 0.5 * 3.5), abs=1e-4)
    assert shown["time_saved"] == pytest.approx(1 - 3.0 / 3.5, abs=1e-4)
    assert shown["speedup_most"] == pytest.approx(3.5 / 2.5, abs=1e-4)
    assert (shown["hidden_s"], shown["regime"], shown["cost_increase"]) == (1.0, "balanced", 0.04)
    assert [row["samples"] for row in shown["by_samples"]] == [1, 2, 3, 5, 9]
    assert [row["cost_increase"] for row in shown["by_samples"]] == [0.04, 0.08, 0.12, 0.2, 0.36]


def test_more_samples_are_right_more_often_and_never_always() -> None:
    shown = report("-G", "2", "-T", "2", "-a", "0.4", "-l", "4", "--fresh", "1")
    assert shown["alpha"] == pytest.approx(1 - 0.6**4, abs=1e-4)
    alphas = [row["alpha"] for row in shown["by_samples"]]
    assert alphas == sorted(alphas)
    assert report("-G", "2", "-T", "2", "-a", "0.4", "-l", "4", "--fresh", "0")["alpha"] == pytest.approx(0.4)


def test_people_see_the_regime_marked() -> None:
    shown = run("-G", "10", "-T", "1", "-a", "0.6")
    (marked,) = [line for line in shown.splitlines() if line.startswith("->")]
    assert "T << G" in marked
    assert "{" not in shown


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    path, lines = tmp_path / "t.jsonl", []
    for session in range(3):
        said: list[dict[str, Any]] = [{"type": "user", "text": "go"}]
        for turn in range(4):
            said += [
                {"type": "llm_turn", "text": "", "turn_id": f"t{turn}", "duration_s": 2.0},
                {
                    "type": "tool_call",
                    "tool": "look",
                    "args": {"q": turn},
                    "call_id": f"c{turn}",
                    "turn_id": f"t{turn}",
                },
                {
                    "type": "tool_output",
                    "tool": "look",
                    "call_id": f"c{turn}",
                    "output": "x",
                    "status": "ok",
                    "duration_s": 1.0,
                },
            ]
        lines += [json.dumps({"session": f"s{session}", "seq": n, "ts": None, **one}) for n, one in enumerate(said)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_times_come_from_recorded_sessions_and_what_is_given_goes_before(traces: Path) -> None:
    shown = report("--traces", str(traces), "-a", "1")
    assert (shown["steps"], shown["generation_s"], shown["tool_s"]) == (12, 2.0, 1.0)
    assert shown["speedup"] == pytest.approx(1.5)
    assert report("--traces", str(traces), "-a", "1", "-T", "4")["tool_s"] == 4.0


def test_alpha_comes_from_a_pool_replayed_on_the_sessions(traces: Path) -> None:
    shown = report("--traces", str(traces), "--pool", "builtin:coding", "-l", "3")
    assert 0.0 <= shown["alpha"] <= 1.0
    assert shown["by_samples"][0]["alpha"] <= shown["by_samples"][2]["alpha"] == shown["alpha"]


def test_with_a_policy_alpha_is_of_what_may_be_run_ahead(traces: Path, tmp_path: Path) -> None:
    traces.write_text(traces.read_text().replace('"look"', '"sh"').replace('"q": ', '"seconds": '))
    files = {name: tmp_path / name for name in ("pool.toml", "all.toml", "some.toml", "none.toml")}
    files["pool.toml"].write_text('[[pattern]]\nid = "own"\ntool = "sh"\nconfidence = 0.5\n')
    rule = '[[rule]]\ntool = "sh"\neffect = "read"\nsame = { ignore = ["seconds"] }\n'
    files["all.toml"].write_text(rule)
    files["some.toml"].write_text(f'{rule}when = {{ no = "such" }}\n' + rule.replace("read", "write"))
    files["none.toml"].write_text(rule.replace("read", "write"))

    def alpha(*policy: str) -> float:
        made: float = report("--traces", str(traces), "--pool", str(files["pool.toml"]), *policy)["alpha"]
        return made

    assert alpha() == 0.0, "the seconds are other ones each time"
    assert alpha("--policy", str(files["all.toml"])) > 0.0
    assert alpha("--policy", str(files["some.toml"])) == alpha("--policy", str(files["none.toml"])) == 0.0


def test_a_pool_judged_by_its_own_sessions_is_told_of(traces: Path, tmp_path: Path) -> None:
    pools = {name: tmp_path / f"{name}.json" for name in ("own", "others")}
    origins = {"own": Origin(sessions=2, ids=digests(["s0", "s2"])), "others": Origin(sessions=1, ids=digests(["x"]))}
    for name, path in pools.items():
        path.write_text(dump_pool(Pool(origin=origins[name])))
    said = {
        name: CliRunner().invoke(app, ["speedup", "--traces", str(traces), "--pool", str(path)]).stderr
        for name, path in pools.items()
    }
    assert "the pool was mined from 2 of 3 sessions: the figures flatter it" in said["own"]
    assert said["others"] == ""


def test_what_is_missing_is_said(traces: Path) -> None:
    with pytest.raises(InputFault, match="--generation and --tool: nothing"):
        run("-a", "0.5")
    with pytest.raises(InputFault, match="--tool: nothing"):
        run("-a", "0.5", "-G", "1")
    with pytest.raises(InputFault, match="--alpha: nothing"):
        run("--traces", str(traces))
