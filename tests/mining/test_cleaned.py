"""No secret of a recorded session goes into a pool, nor what stands for one; what is taken from the session does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.redaction import MARK
from paste_proxy.events.types import ToolCall, ToolOutput
from paste_proxy.events.values import Json
from paste_proxy.mining.cleaned import cleaned, public
from paste_proxy.mining.explain import explain
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.material import WORD
from paste_proxy.mining.mine import mine
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.storage import dump_pool
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script, Session

KEY = "sk-ant-api03-Zq7CanaryZq7CanaryZq7"
NAMED = "Zq7Canary"
SECRETS: dict[str, dict[str, Json]] = {
    "an API key in an argument": {"key": KEY, "at": "home"},
    "in a command": {"command": f"curl -H 'Authorization: Bearer {KEY}' https://api.example.com/home"},
    "among a command's options": {"command": f"curl -u bob:{NAMED} https://api.example.com/home"},
    "in words of a command": {"argv": ["curl", "-u", f"bob:{NAMED}", "https://api.example.com"]},
    "by the argument's name": {"password": NAMED, "user": "bob"},
    "within": {"env": {"API_KEY": NAMED, "HOME": "/home/bob"}},
    "at the start of a text": {"text": f"{KEY} is the key"},
    "in a path": {"path": f"/data/{KEY}/report.csv"},
    "in an address": {"url": f"https://bob:{NAMED}@example.com/home"},
    "as a key": {"keys": {KEY: 1}},
}


def session(name: str, arguments: dict[str, Json], said: str = "look at the home of it") -> Session:
    script = Script(name).user(f"{said} for {name}")
    script.call("look", arguments, {"seen": arguments}).call("look", {"at": "map"}, f"see {KEY}")
    return script.says(f"I used {KEY}").call("look", arguments, "again").end()


def holds_no_secret(text: str) -> bool:
    return not any(trace in text.lower() for trace in ("zq7", MARK.lower()))


@pytest.mark.parametrize("where", SECRETS)
def test_what_several_tasks_share_is_no_secret(where: str) -> None:
    pool = mine([session(f"s{at}", SECRETS[where]) for at in range(6)])
    assert holds_no_secret(dump_pool(pool))
    assert '"look"' in dump_pool(pool)


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([f"with {KEY}", f"password: {NAMED}", f"{KEY}", f"token={NAMED} please", f"use {KEY}/home"]),
    st.sampled_from(sorted(SECRETS)),
)
def test_nor_are_the_words_beside_it(said: str, where: str) -> None:
    assert holds_no_secret(dump_pool(mine([session(f"s{at}", SECRETS[where], said) for at in range(6)])))


def test_nor_is_the_folder_that_a_path_starts_from_or_the_text_around_what_differs() -> None:
    def reading(name: str) -> Session:
        script = Script(name).user(f"look at {name}").call("read", {"path": f"/data/{KEY}/src/{name}.py"}, "fine")
        script.call("test", {"file": f"src/{name}.py"}, "fine").call("list", {}, {"id": name})
        return script.call("run", {"command": f"curl -u bob:{NAMED} https://example.com/{name}/of/{name}"}, "").end()

    assert holds_no_secret(dump_pool(mine([reading(f"{letter}{letter}x") for letter in "abcdefgh"])))


def test_how_a_stand_in_is_spelled_says_nothing_of_the_secret() -> None:
    window = Window()
    for event in Script().user(f"use {MARK}0f1e2d of order 0f1e2d").events:
        window.step(event)
    assert not any(one.take.startswith(WORD) for one in explain(f"{MARK}0f1e2d", window) if isinstance(one, Mapper))
    assert any(one.take.startswith(WORD) for one in explain("0f1e2d", window) if isinstance(one, Mapper))


def test_a_token_that_a_tool_answers_is_still_taken_over() -> None:
    def booked(name: str) -> Session:
        token = f"tok-{name}-93f1"
        script = Script(name).user(f"book it for {name}").call("login", {"user": name}, {"access_token": token})
        return script.call("book", {"access_token": token}, "booked").end()

    pool = mine([booked(f"user{at}") for at in range(6)])
    assert holds_no_secret(dump_pool(pool))
    predictor = Predictor(pool)
    for event in booked("other").events[:-2]:
        candidates = predictor.step(event).candidates
    assert {"access_token": "tok-other-93f1"} in [one.invocation.arguments for one in candidates]


def test_the_same_sessions_become_the_same() -> None:
    sessions = [session(f"s{at}", {"key": KEY}) for at in range(3)]
    assert cleaned(sessions) == cleaned(sessions)
    assert KEY not in repr(cleaned(sessions))


def test_without_knowing_what_was_said_a_stand_in_tells_nothing() -> None:
    (one,), (other,) = (cleaned([session("s", {"key": KEY}, said)]) for said in ("now", "then"))
    assert one.events[1] != other.events[1]


def test_what_holds_no_secret_stays_what_it_is() -> None:
    events = (
        Script("s").user("go").call("look", {"at": "home"}, {"seen": [1, 1.0, True, None]}).says("Done.").end().events
    )
    (clean,) = cleaned([Session("s", events)])
    assert all(one is other for one, other in zip(clean.events, events, strict=True))


def test_calls_without_a_tool_and_what_is_nested_beyond_reason_are_left_out() -> None:
    deep: Json = "x"
    for _ in range(900):
        deep = [deep]
    events = (
        Script("s")
        .user("go")
        .call("", {}, "fine")
        .call("look", {"at": deep}, "seen")
        .call("look", {}, deep)
        .end()
        .events
    )
    (clean,) = cleaned([Session("s", events)])
    assert [type(event) for event in clean.events[1:]] == [ToolOutput, ToolOutput, ToolCall]


@pytest.mark.parametrize(
    ("value", "goes"),
    [
        ("REDACTED-1f", False),
        ("redacted-1f", False),
        ([{"a": "xREDACTED-"}], False),
        ("a redacted text", True),
        (7, True),
        (None, True),
    ],
)
def test_what_holds_a_stand_in_is_not_public(value: Json, goes: bool) -> None:
    assert public(value) is goes
