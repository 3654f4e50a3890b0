"""Texts with several holes: what fills them, what is shared by tasks, what mining makes of it."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json
from paste_proxy.mining.filled import Filled, doubled, parts_of, sourceless, undoubled
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.mine import mine
from paste_proxy.mining.notation import read_mapper, text_of, written_mapper
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.skeletons import NAMES, Parted, Skeletons
from paste_proxy.mining.sources import Source
from paste_proxy.mining.storage import dump_pool, load_pool
from paste_proxy.mining.templates import Template
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script, Session

FOLDER = Mapper(Source("output", "find"), "/hits/*/folder")
FILE = Mapper(Source("output", "find"), "/hits/*/file")
WORD = Mapper(Source("user"), "quoted")


def window_of(script: Script) -> Window:
    window = Window()
    for event in script.events:
        window.step(event)
    return window


def texts(filled: Filled, script: Script) -> list[object]:
    return [bound.value for bound in filled.values(window_of(script))]


def found(*pairs: tuple[str, str]) -> Script:
    return (
        Script().user('use "xx", "yy" or "zz"').call("find", {}, {"hits": [{"folder": a, "file": b} for a, b in pairs]})
    )


def test_holes_that_read_one_row_agree() -> None:
    filled = Filled("cd {a} && run {b}", (("a", FOLDER), ("b", FILE)))
    assert texts(filled, found(("p", "1"), ("q", "2"))) == ["cd p && run 1", "cd q && run 2"]


def test_holes_of_their_own_are_joined_by_the_sum_of_their_ranks() -> None:
    filled = Filled("{a}{z} {b} {a}", (("a", FOLDER), ("b", WORD)))
    given = ["p{z} xx p", "p{z} yy p", "q{z} xx q", "p{z} zz p", "q{z} yy q", "q{z} zz q"]
    assert texts(filled, found(("p", "1"), ("q", "2"))) == given


def test_a_hole_without_a_value_leaves_no_text() -> None:
    filled = Filled("run {a} {b}", (("a", FOLDER), ("b", Mapper(Source("user"), "url"))))
    assert texts(filled, found(("p", "1"))) == []
    assert texts(filled, Script().user("nothing")) == []


def test_a_value_that_is_no_text_or_too_long_fills_no_hole() -> None:
    script = Script().call("find", {}, {"hits": [{"folder": 7, "file": "f"}, {"folder": "x" * 301, "file": "g"}]})
    assert texts(Filled("run {a} now", (("a", FOLDER),)), script) == []
    assert texts(Filled("run {a} now", (("a", Mapper(FOLDER.source, FOLDER.take, "text")),)), script) == ["run 7 now"]


def test_what_is_kept_follows_the_session() -> None:
    filled = Filled("cd {a} && run {b}", (("a", FOLDER), ("b", FILE)))
    script = found(("p", "1"))
    window = window_of(script)
    assert [bound.value for bound in filled.values(window)] == ["cd p && run 1"]
    assert filled.values(window) is filled.values(window)
    for event in script.call("find", {}, {"hits": [{"folder": "r", "file": "3"}]}).events[-2:]:
        window.step(event)
    assert [bound.value for bound in filled.values(window)] == ["cd r && run 3"]


def test_many_values_give_few_texts() -> None:
    filled = Filled("{a} - {b} - {c} - {d}", tuple((name, FOLDER if name < "c" else FILE) for name in NAMES))
    assert len(texts(filled, found(*[(f"p{at}", f"f{at}") for at in range(40)]))) == 10


WORDS = st.lists(st.sampled_from(["cd", "&&", "/a/b", "x.py", "{q}", "-n", "7", "'z'", "a..b"]), min_size=1, max_size=7)
GIVEN = st.lists(st.tuples(WORDS.map(" ".join), st.integers(0, 3)), max_size=12)


@settings(max_examples=300, deadline=None)
@given(GIVEN)
def test_a_skeleton_filled_is_the_text_and_shared_by_tasks(given: list[tuple[str, int]]) -> None:
    sessions = [Script(f"s{at}").call("sh", {"c": text}, "").end() for at, (text, _) in enumerate(given)]
    groups = [f"g{group}" for _, group in given]
    skeletons = Skeletons.of(sessions, groups, 2)
    whose: dict[str, set[str]] = {}
    for text, group in zip((text for text, _ in given), groups, strict=True):
        for parted in skeletons.of_text("sh", "c", text):
            whose.setdefault(parted.skeleton, set()).add(group)
            names = set(NAMES[: len(parted.values)])
            by_name = dict(zip(NAMES, parted.values, strict=False))
            pieces = list(parts_of(parted.skeleton, names))
            assert "".join(by_name[part] if at % 2 else part for at, part in enumerate(pieces)) == text
            assert len(pieces) // 2 >= 1
            assert "" not in pieces[2:-1:2]
    assert all(len(groups) >= 2 for groups in whose.values())


@pytest.mark.parametrize(
    ("values", "skeleton", "filled"),
    [
        (("cd {0} && pytest {1} -q", "/r/app1", "t_a.py"), "cd {a} && pytest {b} -q", ("/r/app1", "t_a.py")),
        (("git diff {0}..{1}", "ab12cd3", "ee09aa1"), "git diff {a}..{b}", ("ab12cd3", "ee09aa1")),
        (("cp {0} {1} && add {0}", "one", "two"), "cp {a} {b} && add {a}", ("one", "two")),
        (("/users/{0}/orders/{1}", "17", "900"), "/users/{a}/orders/{b}", ("17", "900")),
    ],
)
def test_the_words_that_differ_between_tasks_are_holes(
    values: tuple[str, str, str], skeleton: str, filled: tuple[str, str]
) -> None:
    text, one, other = values
    sessions = [Script(f"s{at}").call("sh", {"c": text.format(f"q{at}", f"w{at}")}, "").end() for at in range(5)]
    wanted = text.format(one, other)
    sessions.append(Script("mine").call("sh", {"c": wanted}, "").end())
    found = Skeletons.of(sessions, [session.id for session in sessions], 2).of_text("sh", "c", wanted)
    assert Parted(skeleton, filled) in found


def mending(name: str, at: int) -> Session:
    folder, test = f"/srv/{name}/app{at}", f"test_{name}_{at}.py"
    script = (
        Script(name).user(f"mend the tests of {folder} please, {name}").call("find", {"q": name}, f"1 hit: {test} ")
    )
    return script.call("sh", {"command": f"cd {folder} && pytest {test} -q"}, "ok").says("Done.").end()


PEOPLE = ["ann", "bob", "cyd", "dan", "eve", "fay", "guy", "hal"]


def test_a_command_with_two_holes_is_mined_predicted_and_read_back() -> None:
    pool = mine([mending(name, at) for at, name in enumerate(PEOPLE)])
    text = dump_pool(pool)
    assert "cd {a} && pytest {b} -q" in text
    assert dump_pool(load_pool(text, "pool.json")) == text
    for one in (pool, load_pool(text, "pool.json")):
        predictor = Predictor(one)
        candidates = [predictor.step(event).candidates for event in mending("zoe", 77).events[:3]][-1]
        assert candidates[0].invocation.arguments == {"command": "cd /srv/zoe/app77 && pytest test_zoe_77.py -q"}


def test_texts_of_one_task_are_no_skeleton() -> None:
    texts = [*(f"run a{at} on b{at} now" for at in range(9)), "now run on"]
    sessions = [Script(text).call("sh", {"c": text}, "").end() for text in texts]
    assert not Skeletons.of(sessions, [*["one"] * 9, "other"], 2).parted
    assert Skeletons.of(sessions, texts, 2).parted


def test_of_words_that_are_equally_rare_none_is_a_hole_alone() -> None:
    texts = [f"run a{at} on b{at} now" for at in range(5)]
    sessions = [Script(text).call("sh", {"c": text}, "").end() for text in texts]
    assert Skeletons.of(sessions, texts, 2).of_text("sh", "c", texts[0]) == [Parted("run {a} on {b} now", ("a0", "b0"))]


def test_a_filled_text_names_itself_wherever_its_holes_stand() -> None:
    every = {
        text_of(Template("sh", (("c", Filled("a {x} b {y}", (("x", one), ("y", other)))),)))
        for one, other in product((FOLDER, FILE, WORD), repeat=2)
    }
    assert len(every) == 9


QUOTED: Json = {"from": "user", "take": "quoted"}


@pytest.mark.parametrize("text", ["a {x} {y}", "{y} {x}", "{{x}} {y}", "{x} {{y}} {y}", "{x} ${y}", "{x} {{y}"])
def test_a_hole_that_nothing_fills_is_refused(text: str) -> None:
    with pytest.raises(InputFault, match=r"c\.holes: nothing for \{y\}; expected where \{y\} comes from"):
        read_mapper({"text": text, "holes": {"x": QUOTED}}, "c")


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("echo ${{HOME}} {x}", "echo ${HOME} xx"),
        ("{{{HOME}}} {x}", "{{HOME}} xx"),
        ("git show HEAD@{{x}}", "git show HEAD@{xx}"),
        ("seq {1..3} {} { x } {x}", "seq {1..3} {} { x } xx"),
    ],
)
def test_braces_around_a_word_are_written_twice_and_others_as_they_are(written: str, given: str) -> None:
    mapper = read_mapper({"text": written, "holes": {"x": QUOTED}}, "c")
    assert written_mapper(mapper)["text"] == written
    assert next(bound.value for bound in mapper.values(window_of(found()))) == given


@given(st.text("{}xyz ", max_size=20))
def test_a_text_is_read_as_it_was_before_it_was_written(text: str) -> None:
    names = {"x"}
    assert undoubled(doubled(text, names), names) == text
    assert sourceless(doubled(text, names), names) is None
