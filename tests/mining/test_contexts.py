"""Contexts that people write: those that may match, and those that never will."""

import pytest
from hypothesis import given

from paste_proxy.events.signature import SHAPES, shape
from paste_proxy.events.types import Event, ToolOutput
from paste_proxy.events.values import Json
from paste_proxy.mining.contexts import suffixes, typo_in
from paste_proxy.mining.window import Window
from tests.mining.worlds import JSON, WORDS, recorded


@given(recorded())
def test_every_context_of_a_session_may_be_written(events: list[Event]) -> None:
    window = Window()
    for event in events:
        if not (isinstance(event, ToolOutput) and not event.tool) and window.step(event):
            assert [typo_in(context) for context in suffixes(window.context()) if typo_in(context)] == []


@given(JSON | WORDS)
def test_every_shape_is_known(value: Json) -> None:
    assert shape(value) in SHAPES


@pytest.mark.parametrize(
    ("context", "found"),
    [
        ("okay search", "'okay search'"),
        ("Ok search", "'Ok search'"),
        ("ok ", "'ok '"),
        ("search", "'search'"),
        ("user message", "'user message'"),
        ("okay:text:search", "'okay'"),
        ("ok:txt:search", "'txt'"),
        ("ok:search", "'ok:search'"),
        ("ok:text:", "'ok:text:'"),
        ("ok search > user", "'ok search'"),
        ("user > ok search", "'ok search'"),
        ("user > ", "''"),
        ("user>user", "'user>user'"),
        ("llm > user", "llm before something else"),
        ("^", "^ alone"),
        ("user > ^", "^ after the beginning"),
        ("user > user > user > user", "4 signatures"),
    ],
)
def test_a_context_that_never_matches_is_told_by_its_part(context: str, found: str) -> None:
    typo = typo_in(context)
    assert typo is not None
    assert typo[0] == found


@pytest.mark.parametrize("context", ["", "ok a tool: with any name", "error a:b", "^ > user", "user > ok:line:a:b c"])
def test_a_tool_may_have_any_name(context: str) -> None:
    assert typo_in(context) is None
