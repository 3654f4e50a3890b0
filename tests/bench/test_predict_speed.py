"""The made-up world in which the speed of predictions is measured."""

import json
from itertools import islice

import pytest
from typer.testing import CliRunner

from paste_proxy.bench.made_outputs import FORMS, Writer
from paste_proxy.bench.made_session import Session, made_tools
from paste_proxy.bench.predict_speed import OUTPUT_CHARACTERS, measure, padded
from paste_proxy.cli.main import app
from paste_proxy.events.signature import content
from paste_proxy.events.types import ToolCall, ToolOutput
from paste_proxy.events.values import canonical_text
from paste_proxy.mining.bearings import Bearings
from paste_proxy.mining.material import Material
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.storage import load_pool
from paste_proxy.share import find


@pytest.mark.parametrize("form", FORMS)
def test_an_output_has_the_size_that_was_asked_for_and_holds_what_arguments_are_made_of(form: str) -> None:
    output = Writer(1).output(form, 20_000)
    size = len(output) if isinstance(output, str) else len(canonical_text(output))
    assert 20_000 <= size < 26_000  # what is quoted twice is longer
    material = Material(content(output), Bearings())
    kinds = ("url", "path", "date", "number", "name", "word:X8")
    assert sum(bool(material.take(kind)) for kind in kinds) >= 2
    assert output != Writer(2).output(form, 20_000)


def test_a_session_is_the_same_every_time_and_every_call_is_answered_at_full_size() -> None:
    tools = made_tools(24)
    events = list(islice(Session(tools, OUTPUT_CHARACTERS).events(), 400))
    assert events == list(islice(Session(tools, OUTPUT_CHARACTERS).events(), 400))
    outputs = [event for event in events if isinstance(event, ToolOutput)]
    assert len(outputs) > 100
    assert len({canonical_text(event.output) for event in outputs}) == len(outputs)
    asked = {event.call_id for event in events if isinstance(event, ToolCall)}
    assert {event.call_id for event in outputs} <= asked


def test_a_pool_is_padded_and_its_own_tools_are_at_work() -> None:
    own = load_pool(find("patterns", "builtin:coding").read_text("utf-8"), "coding")
    pool, tools = padded(own, 500)
    assert len(pool.patterns) == 500
    assert pool.patterns[: len(own.patterns)] == own.patterns
    assert {"Read", "Bash"} <= {tool.name for tool in tools}
    assert len({tool.name for tool in tools}) == len(tools) == 24


def test_patterns_of_a_made_up_pool_give_candidates_and_every_event_is_counted() -> None:
    report = measure(*padded(Pool(), 300), 200)
    assert (report["patterns"], report["events"], report["window"]) == (300, 200, 64)
    assert isinstance(report["candidates"], int)
    assert report["candidates"] > 100
    kinds = report["by_event"]
    assert isinstance(kinds, dict)
    assert sum(figures["events"] for figures in kinds.values() if isinstance(figures, dict)) == 200  # type: ignore[misc]


def test_the_command_prints_a_table_or_one_object() -> None:
    command = ["bench", "predict-speed", "--patterns", "200", "--events", "100", "--pool", "builtin:research"]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0, shown.output
    assert "ToolOutput" in shown.stdout
    report = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert report["patterns"] == 200
    assert 0 < report["predict_us_p50"] <= report["predict_us_p99"] <= report["predict_us_max"]
