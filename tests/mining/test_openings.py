"""What sessions open with: the same words whatever their spacing, and enough of them to tell a task by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.groups import opening_of
from paste_proxy.mining.openings import Opening
from tests.mining.sessions import Script

TASK = "Please find the cheapest flight from Berlin to Oslo in May"


def opening(*said: str) -> str | None:
    script = Script()
    for text in said:
        script.user(text).call("look", {}, "fine")
    return opening_of(script.end().events)


def test_a_task_is_told_whatever_its_spacing_and_case() -> None:
    assert opening(TASK) == opening(TASK.upper().replace(" ", "\n"), "and now to Rome") is not None
    assert opening(TASK) != opening(TASK.replace("May", "June"))


@pytest.mark.parametrize(
    "task",
    [
        "请帮我找五月从柏林到奥斯陆最便宜的航班",
        "帮我取消预订",
        "明日の東京の天気を調べて",
        "ค้นหาเที่ยวบินที่ถูกที่สุด",
        "오슬로행 항공편을 찾아줘",
        "Fix the login bug",
    ],
)
def test_a_short_task_is_one_in_any_script(task: str) -> None:
    assert opening(task) == opening(f" {task}\n") is not None


@pytest.mark.parametrize("greeting", ["Hi there", "go", "", " \n", "你好", "こんにちは", "..."])
def test_a_greeting_alone_tells_no_task(greeting: str) -> None:
    assert opening(greeting) is None


def test_after_a_greeting_or_a_command_of_the_client_the_next_words_tell() -> None:
    clear = "<command-name>/clear</command-name>\n  <command-message>clear</command-message>\n  <command-args>"
    for before in ("Hi there", clear):
        assert opening(before, TASK) == opening(before, TASK, "thanks")
        assert opening(before, TASK) != opening(before, TASK.replace("May", "June"))


def test_of_a_long_text_in_a_script_without_blanks_no_more_need_be_heard() -> None:
    task = "请帮我找五月从柏林到奥斯陆最便宜的航班"
    assert opening(task, "好的") == opening(task, "不，换一个")


@given(st.lists(st.sampled_from(["hi", "fix it", "the login", TASK, ""]), max_size=6), st.randoms())
def test_the_order_in_which_it_is_heard_does_not_matter(said: list[str], random: object) -> None:
    heard = list(enumerate(said))
    random.shuffle(heard)  # type: ignore[attr-defined]
    gathered = Opening()
    for at, text in heard:
        gathered.hear(text, (0, at))
    assert gathered.digest() == opening(*said)


def test_it_holds_no_word() -> None:
    gathered = Opening()
    gathered.hear("the secret project", (0,))
    assert "secret" not in repr(gathered)
