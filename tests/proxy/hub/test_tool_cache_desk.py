"""Tools' outputs that an engine is given while it writes the answer that may ask for them."""

from types import SimpleNamespace
from typing import Any

import orjson

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.proxy.hub.ready_results import ReadyResults
from paste_proxy.proxy.hub.tool_cache_desk import ToolCacheDesk
from paste_proxy.proxy.ports import Again

AGAIN = Again(target="http://e/", headers=(), proxy=None, body=b"{}", warm_up=False, tool_cache=True)


def job(number: int, tool: str, **more: Any) -> Any:
    invocation = Invocation(tool, {"q": number})
    return SimpleNamespace(
        job=number, session="s", invocation=invocation, **{"staged": False, "rehearsal": False, **more}
    )


def ended(ready: ReadyResults, *args: Any, status: Status = Status.OK, **more: Any) -> None:
    ready.ended(job(*args, **more), ToolResult(status=status, body=orjson.dumps(f"out {args[0]}")))


def test_each_output_once_by_the_name_that_the_model_knows() -> None:
    ready = ReadyResults()
    desk = ToolCacheDesk(ready, lambda name: f"web/{name}")
    ended(ready, 1, "web/search")
    assert list(desk.look("s")) == []
    (given,) = desk.begins("s", AGAIN, "r-1", ("search", "fetch"))
    assert (given.response_id, given.name, given.arguments, given.output) == ("r-1", "search", {"q": 1}, "out 1")
    ended(ready, 2, "web/fetch")
    ended(ready, 3, "db/query")
    ended(ready, 4, "web/fetch", status=Status.ERROR)
    ended(ready, 5, "web/fetch", staged=True)
    assert [given.output for given in desk.look("s")] == ["out 2"]
    assert list(desk.look("s")) == []


def test_nothing_after_the_answers_end_and_all_that_is_left_with_the_next() -> None:
    ready = ReadyResults()
    desk = ToolCacheDesk(ready, lambda name: name)
    list(desk.begins("s", AGAIN, "r-1", ("a",)))
    desk.over("s")
    ended(ready, 1, "a")
    ended(ready, 2, "a")
    assert list(desk.look("s")) == []
    ready.settled("s", 1)
    assert [given.output for given in desk.begins("s", AGAIN, "r-2", ("a",))] == ["out 2"]
