"""An engine's parameters, and the file that they may come from."""

import json
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.sim.engine_model import ENGINES, LINEAR, PAPER, read_engine


def test_the_papers_engine_can_be_overrun_and_the_linear_one_cannot() -> None:
    def gives(model: str, turns: int) -> float:
        return turns / ENGINES[model].step_seconds(turns)

    assert gives("paper", 33) > gives("paper", 20)
    assert gives("paper", 33) > 1.9 * gives("paper", 128)
    assert PAPER.knee == pytest.approx(33)
    assert gives("linear", 192) > gives("linear", 96) > gives("linear", 33)
    assert LINEAR.step_seconds(192) / LINEAR.step_seconds(1) == pytest.approx(17, rel=0.1)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(PAPER.report()))
    assert read_engine(str(path)) == PAPER


def test_what_a_file_leaves_out_is_as_usual_and_its_name_is_the_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"step_s": 0.02, "max_batch": 7}')
    model = read_engine(str(path))
    assert (model.name, model.step_s, model.max_batch, model.crowd_s) == ("mine", 0.02, 7, 0.0)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[1]", "no JSON object"),
        ("{", "cannot be read"),
        ({}, "step_s"),
        ({"step_s": 0}, "seconds, above 0"),
        ({"step_s": True}, "seconds, above 0"),
        ({"step_s": 0.1, "turn_s": -1}, "seconds, 0 or more"),
        ({"step_s": 0.1, "max_batch": 1.5}, "a whole number above 0"),
        ({"step_s": 0.1, "max_batch": 0}, "a whole number above 0"),
        ({"step_s": 0.1, "name": 3}, "a name"),
        ({"step_s": 0.1, "speed": 3}, "an unknown key"),
    ],
)
def test_a_file_that_is_wrong_is_said_to_be(tmp_path: Path, content: Any, says: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(InputFault, match=says) as caught:
        read_engine(str(path))
    assert "bad.json" in str(caught.value)


def test_a_file_that_is_not_there_is_named_with_what_there_is() -> None:
    with pytest.raises(InputFault, match="paper, linear"):
        read_engine("nowhere.json")
