"""Which mappers and marks hold for any tool."""

import pytest

from paste_proxy.mining.forecast.training.kinds import for_any_tool, holds_anywhere, kind_at
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.sources import Source


def test_the_tool_of_a_source_is_left_out() -> None:
    urls = Mapper(Source("output", "web_search"), "url")
    assert for_any_tool(urls, "link") == Mapper(Source("output", "*", each=True), "url")
    own = Mapper(Source("call", "orders/get"), "/order/id")
    assert for_any_tool(own, "id") == Mapper(Source("call", "*", each=True), "/order/id")
    assert for_any_tool(Mapper(Source("user"), "path"), "file") == Mapper(Source("user"), "path")


@pytest.mark.parametrize(
    "mapper",
    [
        Mapper(Source("output", "orders"), "/items/*/sku"),
        Mapper(Source("user"), "url", frame="curl {}"),
        Mapper(Source("user"), "word:X3"),
        Mapper(Source("user"), "after:from"),
    ],
)
def test_what_is_of_one_tool_or_project_is_not_taken_over(mapper: Mapper) -> None:
    assert for_any_tool(mapper, "id") is None


def test_a_kind_tells_whether_the_argument_s_own_name_stands_there() -> None:
    mapper = Mapper(Source("output", "orders"), "/items/*/sku")
    assert kind_at(mapper, "sku") == f"{kind_at(mapper, 'id')} own"
    assert "orders" not in kind_at(mapper, "sku")
    assert "sku" not in kind_at(mapper, "sku")


@pytest.mark.parametrize(
    "mark", ["used#never", "like#relative file", "share#9", "output|*|each|url|False|#0", "kin#far"]
)
def test_marks_that_hold_anywhere(mark: str) -> None:
    assert holds_anywhere(mark)


@pytest.mark.parametrize("mark", ["like#X3", "like#name .go", "output||each|url|False|#0@", "economy&cheap", "a#b&c"])
def test_marks_that_tell_of_a_project_an_outcome_or_a_value(mark: str) -> None:
    assert not holds_anywhere(mark)
