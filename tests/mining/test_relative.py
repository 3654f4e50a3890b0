"""Paths within a checkout, from the absolute ones that a session has named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.values import Json
from paste_proxy.mining.mine import mine
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.relative import is_relative, relative, relative_between
from tests.mining.sessions import Script, Session

PATH = "/home/ann/app/src/api/db.ts"


@pytest.mark.parametrize(
    ("form", "path", "within"),
    [
        ("below:app", PATH, "src/api/db.ts"),
        ("folder:app", PATH, "src/api"),
        ("below:ann", PATH, "app/src/api/db.ts"),
        ("folder:api", PATH, None),
        ("below:other", PATH, None),
        ("below:app", "app/src/db.ts", None),
        ("below:app", 7, None),
        ("below:app", "/home/app/", None),
        ("below:cli", "/w/cli/cmd/cli/x.go", "cmd/cli/x.go"),
        ("below:app", "/app/" + "x" * 300, None),
    ],
)
def test_a_path_within_a_folder(form: str, path: Json, within: str | None) -> None:
    assert relative(form, path) == within


@pytest.mark.parametrize("form", ["", "below", "below:", "folder:", "folder:a/b", "above:app", "lower"])
def test_other_forms_are_none_of_these(form: str) -> None:
    assert not is_relative(form)


PARTS = st.lists(st.sampled_from(["a", "b", "c.ts", "x:y"]), min_size=1, max_size=5)


@given(PARTS, st.integers(0, 4), st.booleans())
def test_the_form_that_is_found_makes_what_was_wanted(parts: list[str], at: int, folder: bool) -> None:
    path = "/" + "/".join(parts)
    wanted = "/".join(parts[at : -1 if folder else None])
    form = relative_between(path, wanted)
    if form is not None:
        assert is_relative(form)
        assert relative(form, path) == wanted
    if len(set(parts)) == len(parts) and wanted and at > 0 and not folder:
        assert form == f"below:{parts[at - 1]}"


def mending(name: str, at: int) -> Session:
    file = f"/home/{name}/app/pkg{at}/{name}/part{at}.go"
    script = Script(name).user(f"mend what is wrong, says {name}")
    script.call("edit", {"file": file, "text": f"func Test{name.title()}{at}() {{ }}"}, "done")
    return script.call("sh", {"command": f"go test ./pkg{at}/{name}/... -run Test{name.title()}{at} -v"}, "ok").end()


def test_a_command_about_the_folder_and_a_word_of_the_last_edit_is_predicted() -> None:
    pool = mine([mending(name, at) for at, name in enumerate(["ann", "bob", "cyd", "dan", "eve", "fay", "guy", "hal"])])
    predictor = Predictor(pool)
    candidates = [predictor.step(event).candidates for event in mending("zoe", 77).events[:3]][-1]
    assert candidates[0].invocation.arguments == {"command": "go test ./pkg77/zoe/... -run TestZoe77 -v"}
