"""Settings with comments, and `.env` files."""

from pathlib import Path

import pytest

from paste_proxy.agents.wrap.settings_file import merged, read_env_file, read_if_good, read_settings, section, text
from paste_proxy.errors import InputFault


def test_comments_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('// mine\n{"a": {"b": "http://x"}, /* no */ "c": [1,],}')
    settings = read_settings(path)
    assert text(settings, "a", "b") == "http://x"
    assert text(settings, "a", "b", "c") == text(settings, "c") == ""
    assert section(settings, "c") == {}


def test_no_file_is_no_settings(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "none.json") == {}


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe\x00", b""])
def test_what_cannot_be_read_is_told_or_passed_over(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(InputFault, match=r"s\.json"):
        read_settings(path)
    assert read_if_good(path) == {}


def test_later_layers_lie_on_top() -> None:
    assert merged(({"a": {"x": 1, "y": 1}, "b": [1]}, {"a": {"y": 2}, "b": [2]})) == {"a": {"x": 1, "y": 2}, "b": [2]}


def test_an_env_file_as_dotenv_reads_it(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text(
        "# no\nA=1\nexport B = two words # no\nC='a # b'\nD=\"x\\ny\"\nE=\nF=http://h/#frag\n G=`q`\nnot a line\n"
    )
    assert read_env_file(path) == {
        "A": "1", "B": "two words", "C": "a # b", "D": "x\ny", "E": "", "F": "http://h/", "G": "q",
    }  # fmt: skip
    assert read_env_file(tmp_path / "none") == {}
