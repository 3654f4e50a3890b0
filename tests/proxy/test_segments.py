"""Segments on a real disk: private, bounded, and new ones after every trouble."""

import resource
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from paste_proxy.clock import FakeClock
from paste_proxy.config import Recording
from paste_proxy.proxy.segments import Segments

DAY_S = 86_400.0


def segments(directory: Path, clock: FakeClock | None = None, **config: int) -> Segments:
    recording = Recording.model_validate({"directory": directory, **config})
    return Segments(directory, recording, clock or FakeClock(1_700_000_000.0))


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_segment_is_private_to_the_user(tmp_path: Path) -> None:
    log = segments(tmp_path / "deep" / "log")
    log.write(b"one\n")
    [path] = (tmp_path / "deep" / "log").iterdir()
    assert path.name == "events-20231114T221320Z-0000.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    log.close()


def test_lines_are_on_disk_as_soon_as_they_are_written(tmp_path: Path) -> None:
    log = segments(tmp_path)
    for line in (b"one\n", b"two\n"):
        log.write(line)
    assert (tmp_path / "events-20231114T221320Z-0000.jsonl").read_bytes() == b"one\ntwo\n"
    log.close()


def test_a_segment_never_outgrows_its_bound_and_a_line_is_never_split(tmp_path: Path) -> None:
    log = segments(tmp_path, segment_bytes=10)
    for line in (b"aaaa\n", b"bbbb\n", b"c\n", b"too long for one\n", b"d\n"):
        log.write(line)
    log.close()
    contents = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert contents == [b"aaaa\nbbbb\n", b"c\n", b"too long for one\n", b"d\n"]


def test_a_segment_ends_after_a_day(tmp_path: Path) -> None:
    clock = FakeClock(1_700_000_000.0)
    log = segments(tmp_path, clock)
    log.write(b"one\n")
    clock.advance(DAY_S - 1)
    log.write(b"two\n")
    clock.advance(1)
    log.write(b"three\n")
    log.close()
    assert len(names(tmp_path)) == 2


def test_a_restart_begins_a_new_segment_that_sorts_after_the_old(tmp_path: Path) -> None:
    for line in (b"one\n", b"two\n", b"three\n"):
        log = segments(tmp_path)
        log.write(line)
        log.close()
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == [b"one\n", b"two\n", b"three\n"]


def test_a_clock_that_goes_back_does_not_disorder_the_log(tmp_path: Path) -> None:
    clock = FakeClock(1_700_000_000.0)
    log = segments(tmp_path, clock, segment_bytes=1)
    for line in (b"one\n", b"two\n", b"three\n"):
        log.write(line)
        clock.advance(-60)
    log.close()
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == [b"one\n", b"two\n", b"three\n"]


def test_segments_older_than_the_days_to_keep_are_deleted(tmp_path: Path) -> None:
    clock = FakeClock(1_700_000_000.0)
    for day in range(6):
        log = segments(tmp_path, clock, keep_days=3)
        log.write(b"day %d\n" % day)
        log.close()
        clock.advance(DAY_S)
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == [b"day %d\n" % day for day in (2, 3, 4, 5)]


def test_the_log_never_holds_more_bytes_than_may_be_kept(tmp_path: Path) -> None:
    log = segments(tmp_path, segment_bytes=100, keep_bytes=350)
    for number in range(200):
        log.write(b"line %04d\n" % number)
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 350
    log.close()
    kept = b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))
    assert kept.endswith(b"line 0199\n")
    assert len(kept) >= 200


def test_files_that_are_no_segments_are_left_alone(tmp_path: Path) -> None:
    for name in ("notes.txt", "events-old.jsonl", "events-20200101T000000Z-0000.jsonl.gz"):
        (tmp_path / name).write_bytes(b"x" * 1000)
    (tmp_path / "events-20200101T000000Z-0000.jsonl").write_bytes(b"old\n")
    log = segments(tmp_path, keep_bytes=10, segment_bytes=10)
    log.write(b"one\n")
    log.close()
    assert names(tmp_path) == [
        "events-20200101T000000Z-0000.jsonl.gz",
        "events-20231114T221320Z-0000.jsonl",
        "events-old.jsonl",
        "notes.txt",
    ]


def test_a_removed_directory_is_made_again(tmp_path: Path) -> None:
    log = segments(tmp_path / "log")
    log.write(b"one\n")
    shutil.rmtree(tmp_path / "log")
    log.write(b"two\n")
    log.close()
    assert [path.read_bytes() for path in (tmp_path / "log").iterdir()] == [b"two\n"]


def test_a_directory_that_cannot_be_made_is_an_os_error_until_it_can(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("in the way")
    log = segments(tmp_path / "log")
    with pytest.raises(OSError, match="log"):
        log.write(b"one\n")
    (tmp_path / "log").unlink()
    log.write(b"two\n")
    log.close()
    assert len(names(tmp_path / "log")) == 1


FULL_DISK = """
import resource, sys
from pathlib import Path
from tests.proxy.test_segments import segments

log = segments(Path(sys.argv[1]))
log.write(b"whole line\\n")
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (16, most))
for _ in range(2):
    try:
        log.write(b"a line that fits only in part\\n")
    except OSError:
        print("full")
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
log.write(b"room again\\n")
log.close()
"""


@pytest.mark.skipif(
    not hasattr(signal, "SIGXFSZ") or not hasattr(resource, "RLIMIT_FSIZE"), reason="no file size limit"
)
def test_a_full_disk_leaves_no_half_line_and_no_empty_file(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("full\nfull\n", "")
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == [b"whole line\n", b"room again\n"]
