"""`paste-proxy mine` and `evaluate`, as a person runs them."""

import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from paste_proxy.cli.evaluate import evaluate
from paste_proxy.cli.mine import mine
from paste_proxy.errors import InputFault
from paste_proxy.events.codec import encode
from paste_proxy.share import share
from tests.mining.sessions import Script, Session

app = typer.Typer()
app.command()(mine)
app.command()(evaluate)
KEYS = {
    *("calls", "speculated", "hits", "hit_rate", "top1", "top3", "read_only", "strict", "first_time", "oracle"),
    *("seconds_weighted", "wasted_per_hit", "ece", "predict_us_p50", "predict_us_p99", "by_tool"),
}


def session(name: str) -> Session:
    script = Script(name).user(f"look into {name}").call("search", {"query": name}, f"see https://{name}.org/a ")
    return script.call("visit", {"url": f"https://{name}.org/a"}, "a page").end()


def trace(folder: Path, *names: str) -> str:
    path = folder / f"{names[0]}.jsonl"
    lines = [encode(event, seq) for name in names for seq, event in enumerate(session(name).events)]
    path.write_bytes(b"".join(lines))
    return str(path)


def ran(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False, standalone_mode=False)
    return result.output


def refused(*arguments: str) -> str:
    with pytest.raises(InputFault) as fault:
        ran(*arguments)
    return str(fault.value)


def test_mine_then_evaluate(tmp_path: Path) -> None:
    pool = str(tmp_path / "pool.json")
    training = trace(tmp_path, *(f"site{letter}-trial1" for letter in "abcdefgh"))
    unseen = trace(tmp_path, "sitez-trial1", "sitea-trial2")
    said = ran("mine", training, "--exclude", unseen, "-o", pool)
    assert "left out 1 of 8 sessions" in said
    assert "visit" in said
    assert re.search(r"on held-out tasks: \d+ calls predicted, \d+% of them came within 8 turns", said)
    assert "Every candidate counts here, however unlikely: `paste-proxy bench predict` says" in said
    assert "odds from so few tasks, 7, are rough" in said
    assert "\x1b" not in said
    report = json.loads(ran("evaluate", "--pool", pool, unseen, "--json").splitlines()[-1])
    assert set(report) >= KEYS
    assert report["by_tool"]["visit"] == {"calls": 2, "top1": 1.0, "top3": 1.0}
    table = ran("evaluate", "--pool", pool, "--read-only", "vis*", unseen)
    assert "read_only  calls 2  top1 1.0  top3 1.0" in table
    figures = [line for line in table.partition("\n\n")[0].splitlines() if line]
    assert [line for line in figures if not re.fullmatch(r" *[a-z0-9_]+  \S.*?  +\S.* .*", line)] == []
    assert "None" not in table
    assert f"if every read of confidence {report['floor']} or more had been run" in table


def test_a_pool_is_not_praised_for_sessions_that_it_was_mined_from(tmp_path: Path) -> None:
    pool = str(tmp_path / "pool.json")
    training, other = trace(tmp_path, *"abcdefgh"), trace(tmp_path, *"ijk")
    ran("mine", training, "-o", pool)
    assert "the pool was mined from all of these sessions" in ran("evaluate", "--pool", pool, training)
    assert "was mined from 8 of 11 sessions" in ran("evaluate", "--pool", pool, training, other)
    said = ran("evaluate", "--pool", pool, "--pool", "builtin:research", other, "--json")
    assert json.loads(said)["mined_from"] == 0
    assert json.loads(ran("evaluate", "--pool", "builtin:search_then_fetch", other, "--json"))["mined_from"] is None


def test_nor_for_replays_of_their_tasks_under_other_names(tmp_path: Path) -> None:
    pool, again = str(tmp_path / "pool.json"), tmp_path / "again.jsonl"
    training, other = trace(tmp_path, *"abcdefgh"), trace(tmp_path, *"ijk")
    again.write_text(re.sub(r'"session":"\w"', '"session":"replay"', Path(trace(tmp_path, "h")).read_text()))
    ran("mine", training, "-o", pool)
    said = ran("evaluate", "--pool", pool, str(again), other)
    assert "the pool was mined from the tasks of 1 session under other names: the figures flatter it" in said
    said = ran("evaluate", "--pool", pool, training, str(again), other, "--json")
    assert "was mined from 8 of 12 sessions and the tasks of 1 session under other names" in said
    assert json.loads(said.splitlines()[-1])["mined_from"] == 9


def test_where_nothing_was_predicted_it_is_said_what_to_do(tmp_path: Path) -> None:
    said = ran("mine", trace(tmp_path, "a"), "-o", str(tmp_path / "pool.json"))
    assert "nothing was predicted, so nothing says that this pool is of use." in said
    assert "bring more sessions" in said
    assert "These were 1 session of 1 task." in said


def test_a_corrupt_trace_line_is_named(tmp_path: Path) -> None:
    path = Path(trace(tmp_path, "a"))
    path.write_bytes(path.read_bytes() + b'{"v": 1, "type": "user"}\n')
    assert f"{path}:6" in refused("mine", str(path), "-o", str(tmp_path / "pool.json"))


def test_a_malformed_pool_is_named(tmp_path: Path) -> None:
    pool = tmp_path / "pool.json"
    pool.write_text("[]")
    assert str(pool) in refused("evaluate", "--pool", str(pool), trace(tmp_path, "a"))
    assert "builtin:nothing" in refused("evaluate", "--pool", "builtin:nothing", trace(tmp_path, "a"))


def test_written_patterns_pass_the_same_validation(tmp_path: Path) -> None:
    take = 'arguments.url = { from = "output", tool = "search", take = "url", last = true }'
    good = f'[[pattern]]\nid = "g"\ntool = "visit"\nconfidence = 0.9\n{take}\n'
    idle = good.replace('"search"', '"never"').replace('"g"', '"idle"')
    patterns = tmp_path / "ours.toml"
    wrong = good.replace('{ from = "output", tool = "search", take = "url", last = true }', '{ constant = "?" }')
    patterns.write_text(good + idle + wrong.replace('"g"', '"wrong"'))
    pool = tmp_path / "pool.json"
    said = ran("mine", trace(tmp_path, *"abcdefgh"), "--patterns", str(patterns), "-o", str(pool))
    assert "written patterns: 1 of 3 kept; dropped are those that these sessions do not bear out\n" in said
    kept, never, wrong = said.splitlines()[-3:]
    assert re.fullmatch(r"  kept     g: bound (\d+) times, right \1 times within 8 turns, in 8 tasks", kept)
    assert never == "  dropped  idle: never bound: check its sources"
    assert re.fullmatch(r"  dropped  wrong: bound \d+ times, right 0 times within 8 turns", wrong)
    assert '"last":true' in pool.read_text()
    assert '"never"' not in pool.read_text()


def test_an_unwritable_pool_is_named(tmp_path: Path) -> None:
    out = str(tmp_path / "nowhere" / "pool.json")
    assert out in refused("mine", trace(tmp_path, "a"), "-o", out)


@pytest.mark.parametrize("path", sorted(share("patterns").glob("*.json")), ids=lambda path: path.stem)
def test_a_packaged_pool_is_small_and_reads_as_it_was_written(path: Path) -> None:
    from paste_proxy.mining.storage import dump_pool, load_pool

    text = path.read_text("utf-8")
    assert len(text) < 4_000_000
    assert dump_pool(load_pool(text, str(path))) == text


def test_the_packaged_airline_pool_predicts_the_packaged_sessions() -> None:
    traces = str(share("traces") / "tau_airline.jsonl.gz")
    globs = ("--read-only", "get_*", "--read-only", "search_*")
    report = json.loads(ran("evaluate", "--pool", "builtin:tau_airline", *globs, traces, "--json"))
    assert report["read_only"]["top1"] > 0.4
    assert report["ece"] < 0.1


@pytest.mark.parametrize("path", sorted(share("patterns").glob("*.toml")), ids=lambda path: path.stem)
def test_packaged_written_patterns_bind(path: Path) -> None:
    from paste_proxy.mining.predict import Predictor
    from paste_proxy.mining.storage import parse_pool

    pool = parse_pool(path.read_text("utf-8"), str(path))
    live = Script("live").user("news?").call("web_search", {"query": "news"}, [{"url": "https://a.org/1"}])
    predictor = Predictor(pool)
    candidates = [predictor.step(event) for event in live.events][-1].candidates
    assert {one.invocation.tool for one in candidates} == {"web_fetch", "crawl_tool"}
    assert all(one.invocation.arguments == {"url": "https://a.org/1"} for one in candidates)
    assert all(0.15 < one.confidence < 0.4 for one in candidates)
