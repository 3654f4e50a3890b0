"""Where stages lie if nobody says."""

from pathlib import Path

import pytest

from paste_proxy.staging.base import recover
from paste_proxy.staging.home import place_for


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


def test_it_is_with_the_user_s_other_state_and_always_the_same(tmp_path: Path, state: Path) -> None:
    (tmp_path / "work").mkdir()
    assert place_for(tmp_path / "work") == state / "paste-proxy" / "stages" == place_for(tmp_path / "work")
    assert not state.exists()


def test_it_is_never_in_the_workspace(state: Path) -> None:
    state.mkdir()
    (state / "paste-proxy").symlink_to(state)
    for workspace in (state, state.parent):
        assert not place_for(workspace).resolve().is_relative_to(workspace)


def test_a_folder_of_others_is_not_used(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    base.chmod(0o770)
    with pytest.raises(PermissionError, match="writable by nobody else"):
        recover(base)
    base.chmod(0o750)
    recover(base)
