"""What is read of a file that a person names: files, bounded; nothing that keeps us."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paste_proxy.cli.main import app
from paste_proxy.config import load_config
from paste_proxy.errors import InputFault
from paste_proxy.proxy.named_files import read_patterns, read_policy
from paste_proxy.share import share
from paste_proxy.text_file import read_text


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """One that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"one\r\ntw\xc3\xb6\n")
    assert read_text(path, "a text") == "one\ntwö\n"


def test_what_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("x" * (2**20 + 1))
    with pytest.raises(InputFault, match=r"text: is larger than 1 MiB; expected a text$"):
        read_text(path, "a text", most_bytes=2**20)
    path.write_text("x" * 2**20)
    assert len(read_text(path, "a text", most_bytes=2**20)) == 2**20


def test_what_is_no_text_or_not_there_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name, why in (("bytes", "decode byte 0xff"), ("none", "No such file"), (".", "Is a directory")):
        with pytest.raises(InputFault, match=rf"^it: cannot be read .*{why}.*; expected a text$"):
            read_text(tmp_path / name, "a text", name="it")


@pytest.mark.parametrize("device", ["pipe", "/dev/zero"])
def test_nothing_is_read_of_pipes_and_devices(pipe: Path, device: str) -> None:
    path = str(pipe.parent / device)
    for read in (lambda: read_policy(path), lambda: read_patterns(path), lambda: load_config(Path(path))):
        with pytest.raises(InputFault, match="is no regular file, but a pipe, a device or a folder"):
            read()
    for command in (
        ("policies", "check", path),
        ("policies", "explain", "Read", "--policy", path),
        ("doctor", "--config", path),
        ("evaluate", path, "--pool", path),
    ):
        shown = CliRunner().invoke(app, command)
        assert shown.exit_code == 2 or isinstance(shown.exception, InputFault)
        assert "is no regular file" in shown.output + str(shown.exception)


@pytest.mark.parametrize("name", sorted(f"builtin:{path.stem}" for path in share("patterns").glob("*.[jt]*")))
def test_every_pool_that_comes_along_is_read_by_its_name(name: str) -> None:
    assert read_patterns(name).foreseen or name == "builtin:general"


def test_a_pipe_that_was_handed_over_is_read() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"some text")
        os.close(writing)
        assert read_text(Path(f"/dev/fd/{reading}"), "a text") == "some text"
    finally:
        os.close(reading)
