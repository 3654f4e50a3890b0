"""What `bench replay` and `demo` print."""

import json

from typer.testing import CliRunner

from paste_proxy.cli.main import app


def test_a_replay_is_a_table_for_people_and_json_only_where_asked() -> None:
    command = ["bench", "replay", "--workload", "airline", "--sessions", "1", "--speed", "20"]
    plain = CliRunner().invoke(app, command)
    assert plain.exit_code == 0, plain.output
    assert "time of all tasks" in plain.stdout
    assert "{" not in plain.stdout
    asked = CliRunner().invoke(app, [*command, "--json"])
    assert json.loads(asked.stdout.splitlines()[-1])["sessions"] == 1


def test_bench_mine_says_what_mining_took() -> None:
    done = CliRunner().invoke(app, ["bench", "mine", "--events", "150", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout.splitlines()[-1])
    assert {"events", "sessions", "learned_from", "seconds", "max_rss_mb", "patterns"} <= set(told)
    assert told["events"] >= 150
    assert told["sessions"] == told["learned_from"] > 1
    assert 10 < told["max_rss_mb"] < 2_000
