"""The event log on disk: append-only segments, bounded in size, age and total bytes.

Every line is written whole, past any buffer of ours, so a killed process leaves at most one torn last
line. A segment that failed once is never written to again: what follows goes to a new one.
"""

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from paste_proxy.clock import Clock
from paste_proxy.config import Recording

_DAY_S = 86_400.0
_TIME = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"events-(\d{8}T\d{6}Z)-\d{4}\.jsonl")


class Segments:
    """Writes lines to the segments of one directory.

    Raises from `write`:
        OSError: the line could not be written.
    """

    def __init__(self, directory: Path, config: Recording, clock: Clock) -> None:
        self._directory, self._config, self._clock = directory, config, clock
        self._path = directory
        self._file: int | None = None
        self._size = 0
        self._opened = 0.0
        self._last = ("", 0)

    def write(self, line: bytes) -> None:
        """Append a line, in a new segment if the present one would overflow, is a day old, or left the disk."""
        if self._file is None or self._is_over(len(line)):
            self.close()
            self._file = self._open()
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            self._abandon()
            raise
        self._size += len(line)

    def close(self) -> None:
        """End the present segment."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                os.close(file)

    def _is_over(self, more: int) -> bool:
        if self._size and self._size + more > self._config.segment_bytes:
            return True
        gone = self._file is not None and os.fstat(self._file).st_nlink == 0
        return gone or self._clock.epoch() - self._opened >= _DAY_S

    def _open(self) -> int:
        self._directory.parent.mkdir(parents=True, exist_ok=True)
        self._directory.mkdir(mode=0o700, exist_ok=True)
        self._size, self._opened = 0, self._clock.epoch()
        self._retain()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        while True:
            self._path = self._directory / self._next_name()
            with suppress(FileExistsError):
                return os.open(self._path, flags, 0o600)

    def _next_name(self) -> str:
        """A name that sorts after all earlier ones, whatever was deleted and should the clock go back."""
        stamp = datetime.fromtimestamp(self._opened, UTC).strftime(_TIME)
        time, number = self._last
        self._last = (stamp, 0) if stamp > time else (time, number + 1)
        return f"events-{self._last[0]}-{self._last[1]:04}.jsonl"

    def _abandon(self) -> None:
        """Take back what a failed write left, as far as the disk lets us, and end the segment."""
        assert self._file is not None
        with suppress(OSError):
            os.ftruncate(self._file, self._size)
        self.close()
        if not self._size:
            with suppress(OSError):
                self._path.unlink()

    def _retain(self) -> None:
        """Delete the oldest segments until age and total bytes, a full new segment included, are in bounds."""
        room = self._config.keep_bytes - self._config.segment_bytes
        oldest = self._opened - self._config.keep_days * _DAY_S
        for path in sorted(self._directory.iterdir(), reverse=True):
            if not (name := _NAME.fullmatch(path.name)):
                continue
            begun = datetime.strptime(name[1], _TIME).replace(tzinfo=UTC).timestamp()
            with suppress(OSError):  # another process may have been quicker
                room -= path.stat().st_size
                if room < 0 or begun < oldest:
                    path.unlink()
