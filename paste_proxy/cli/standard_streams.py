"""Stdin, stdout and stderr as they may be handed over: closed, full, unread or of another coding."""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper


def hold_standard_streams() -> None:
    """Put the null device where a stream is closed, so that no file or socket of ours takes its number.

    What the terminal's coding cannot show is written escaped.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdin = sys.stdin or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115 - for good
    sys.stdout = sys.stdout or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


class Lossy:
    """Stderr as a place to log to: a line that it cannot take is lost, and nothing else is."""

    def write(self, text: str) -> None:
        """Write what can be written."""
        with suppress(OSError, ValueError):
            sys.stderr.write(text)

    def flush(self) -> None:
        """Flush what can be flushed."""
        with suppress(OSError, ValueError):
            sys.stderr.flush()


def let_stdout_go() -> None:
    """Nobody reads stdout, or it is full: what is left of it is not tried again when the interpreter ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
