"""Going on with the list that a session works through."""

import pytest

from paste_proxy.events.values import Json
from paste_proxy.mining.forecast.following import following
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script

ITEMS: list[Json] = [{"id": f"o-{number}"} for number in range(6)]


def after(script: Script, size: int = 64) -> list[Json]:
    window = Window(size)
    for event in script.events:
        window.step(event)
    return [value for one in following(window) for value in one.arguments.values()]


def listing(listed: Json = ITEMS) -> Script:
    return Script().user("go").call("list", {}, {"orders": listed} if isinstance(listed, list) else listed)


def test_the_next_three_items_follow_the_first() -> None:
    assert after(listing().call("order", {"id": "o-0"}, "")) == ["o-1", "o-2", "o-3"]


def test_what_was_asked_for_is_passed_over_however_much_it_is() -> None:
    script = listing()
    for number in (1, 2, 3, 0):
        script.call("order", {"id": f"o-{number}"}, "")
    assert after(script) == ["o-4", "o-5"]


def test_nothing_follows_the_last_item_nor_a_value_of_no_list() -> None:
    assert after(listing().call("order", {"id": "o-5"}, "")) == []
    assert after(listing().call("order", {"id": "o-77"}, "")) == []
    assert after(Script().user("go")) == []


def test_the_list_may_be_one_of_links_or_of_paths_in_a_text() -> None:
    text = "https://a.org/1 and https://a.org/2 and https://a.org/3"
    assert after(listing(text).call("visit", {"url": "https://a.org/2"}, "")) == ["https://a.org/3"]
    assert after(listing("see src/a.py, src/b.py").call("read", {"path": "src/a.py"}, "")) == ["src/b.py"]


def test_paths_without_folder_go_on_as_whole_ones() -> None:
    script = Script().call("read", {"path": "/w/app/src/x.py"}, "see src/a.py then src/b.py")
    assert after(script.call("read", {"path": "/w/app/src/a.py"}, "")) == ["/w/app/src/b.py"]


def test_a_number_is_not_its_text() -> None:
    script = listing([{"id": "17"}, {"id": "18"}])
    assert after(script.call("order", {"id": 17}, "")) == []


def test_the_other_arguments_stay_as_they_are() -> None:
    script = listing().call("order", {"id": "o-4", "full": True}, "")
    assert after(script) == ["o-5", True]


@pytest.mark.parametrize("failed", [True, False])
def test_a_failed_answer_holds_no_list(failed: bool) -> None:
    script = Script().call("list", {}, {"orders": ITEMS}, ok=not failed).call("order", {"id": "o-4"}, "")
    assert after(script) == ([] if failed else ["o-5"])


def test_a_list_is_kept_in_sight_while_its_own_items_answer() -> None:
    script = listing()
    for number in range(1, 5):
        script.call("order", {"id": f"o-{number}"}, "")
    assert after(script) == ["o-5"]


def test_a_list_gets_out_of_sight_behind_other_answers() -> None:
    script = listing()
    for number in range(6):
        script.call("other", {"n": number}, "")
    assert after(script.call("order", {"id": "o-4"}, "")) == []


def test_of_a_call_with_thousands_of_arguments_only_the_first_are_looked_at() -> None:
    many: dict[str, Json] = {f"n{number:04}": number for number in range(5_000)}
    script = listing()
    assert after(script.call("order", {**many, "z": "o-4"}, "")) == []
    assert after(listing().call("order", {"a": "o-4", **many}, ""))[0] == "o-5"
