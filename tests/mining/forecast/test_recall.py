"""What a session did before."""

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.forecast.recall import Recall, recall
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script


def recalled(script: Script) -> Recall:
    window = Window()
    for event in script.events:
        window.step(event)
    return recall(window)


def spelled(letters: str) -> Script:
    """A session that calls tool `t` or `T` once for each letter."""
    script = Script()
    for letter in letters:
        script.call("t" if letter.islower() else "T", {"x": letter}, "")
    return script


@given(st.text("abcAB", max_size=20))
def test_repeats_successors_and_distances_are_counted(letters: str) -> None:
    past = recalled(spelled(letters))
    of = {one.arguments["x"]: key for key, one in past.invocations.items()}
    assert {x: past.times[key] for x, key in of.items()} == Counter(letters)
    assert {x: past.age[key] for x, key in of.items()} == {x: len(letters) - 1 - letters.rindex(x) for x in letters}
    pairs = Counter(pair[1] for pair in itertools.pairwise(letters) if pair[0] == letters[-1])
    assert {x: past.followed[key] for x, key in of.items() if past.followed[key]} == pairs
    for of_tool in (str.islower, str.isupper):
        latest = sorted(filter(of_tool, set(letters)), key=letters.rindex, reverse=True)
        assert [past.nth[of[x]] for x in latest] == list(range(len(latest)))


def test_an_invocation_is_failed_as_long_as_its_last_answer_was() -> None:
    script = Script().call("t", {"x": 1}, "no", ok=False)
    assert len(recalled(script).failed) == 1
    assert not recalled(script.call("t", {"x": 1}, "yes")).failed


def test_a_text_is_touched_by_the_last_call_that_had_it() -> None:
    script = Script().call("edit", {"path": "a.py"}, "").call("read", {"path": "a.py"}, "").call("t", {"x": "no"}, "")
    assert recalled(script).touched == {"a.py": ("read", 1)}
