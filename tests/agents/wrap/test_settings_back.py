"""Settings that a client changes during a run: key by key into the user's file."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.agents.wrap.settings_back import Rewritten, bring_settings_back

ORIGINAL: dict[str, Any] = {
    "ui": {"theme": "dark", "hideTips": True},
    "mcpServers": {"fs": {"command": "fs", "trust": False}, "old": {"url": "http://o"}},
    "list": [1, 2],
}
WRITTEN: dict[str, Any] = {
    **ORIGINAL,
    "mcpServers": {"fs": {"httpUrl": "http://127.0.0.1:9/mcp/fs", "trust": False}, "old": {"url": "http://o"}},
    "security": {"auth": {"selectedType": "gateway"}},
}


class Run:
    """A run in which the client leaves its settings so."""

    def __init__(self, folder: Path) -> None:
        self.source, self.place = folder / "home/.gemini/settings.json", folder / "place.json"
        self.source.parent.mkdir(parents=True)
        self.source.write_text(json.dumps(ORIGINAL))
        self.rewritten = Rewritten(
            source=self.source,
            place=self.place,
            original=ORIGINAL,
            written=WRITTEN,
            free=(("security", "auth", "selectedType"),),
        )

    def left(self, settings: dict[str, Any]) -> tuple[str, ...]:
        self.place.write_text(json.dumps(settings))
        return bring_settings_back(self.rewritten)

    @property
    def users(self) -> Any:
        return json.loads(self.source.read_text())


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_what_is_left_as_it_was_given_changes_nothing(run: Run) -> None:
    before = run.source.read_bytes()
    assert run.left(WRITTEN) == ()
    assert run.source.read_bytes() == before


def test_changes_to_other_keys_are_the_users(run: Run) -> None:
    run.source.chmod(0o640)
    servers = {**WRITTEN["mcpServers"], "new": {"command": "n"}}
    servers["fs"] = {**servers["fs"], "trust": True}
    del servers["old"]
    left = {
        "ui": {"theme": "light"},
        "mcpServers": servers,
        "list": [2],
        "security": {"auth": {"selectedType": "oauth-personal"}},
        "model": {"name": "é"},
    }
    assert run.left(left) == ()
    assert run.users == {
        "ui": {"theme": "light"},
        "mcpServers": {"fs": {"command": "fs", "trust": True}, "new": {"command": "n"}},
        "list": [2],
        "security": {"auth": {"selectedType": "oauth-personal"}},
        "model": {"name": "é"},
    }
    assert stat.S_IMODE(run.source.stat().st_mode) == 0o640


def test_a_server_that_was_turned_can_be_removed_but_not_turned_elsewhere(run: Run) -> None:
    moved = {**WRITTEN["mcpServers"], "fs": {"command": "other", "trust": False}}
    assert run.left({**WRITTEN, "mcpServers": moved, "list": []}) == ("mcpServers.fs.command",)
    assert run.users == {**ORIGINAL, "list": []}
    assert run.left({**WRITTEN, "mcpServers": {"old": {"url": "http://o"}}}) == ()
    assert run.users["mcpServers"] == {"old": {"url": "http://o"}}


def test_what_somebody_else_has_changed_meanwhile_stays(run: Run) -> None:
    run.source.write_text(json.dumps({**ORIGINAL, "ui": {"theme": "blue", "hideTips": True}, "theirs": 1}))
    assert run.left({**WRITTEN, "ui": {"theme": "light", "hideTips": False}}) == ("ui.theme",)
    assert run.users == {**ORIGINAL, "ui": {"theme": "blue", "hideTips": False}, "theirs": 1}


@pytest.mark.parametrize("users", ['{"ui": {} /* mine */}', "[]", "{"])
def test_a_file_that_cannot_be_written_without_loss_stays_as_it_is(run: Run, users: str) -> None:
    run.source.write_text(users)
    assert run.left({**WRITTEN, "list": []}) == ("(all)",)
    assert run.source.read_text() == users


def test_a_file_that_was_not_there_is_made_and_a_link_is_followed(run: Run, tmp_path: Path) -> None:
    run.source.unlink()
    elsewhere = tmp_path / "dotfiles.json"
    elsewhere.write_text("{}")
    run.source.symlink_to(elsewhere)
    run.rewritten = Rewritten(source=run.source, place=run.place, original={}, written={})
    assert run.left({"a": 1}) == ()
    assert json.loads(elsewhere.read_text()) == {"a": 1}
    assert run.source.is_symlink()
    run.source.unlink()
    assert run.left({"a": 2}) == ()
    assert run.users == {"a": 2}


TREES = st.recursive(
    st.integers(0, 2), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), TREES, max_size=3)


@given(OBJECTS, OBJECTS)
def test_without_anything_turned_the_users_file_becomes_what_was_left(original: Any, left: Any) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        run = Run(Path(folder))
        run.source.write_text(json.dumps(original))
        run.rewritten = Rewritten(source=run.source, place=run.place, original=original, written=original)
        assert run.left(left) == ()
        assert run.users == left
