"""The process that ends what another has left: each line on stdin is a session that began, or with a minus ended.

Standard library only, so that it starts fast.
"""

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress


def left(lines: Iterable[bytes]) -> set[int]:
    """The sessions that are there at the end of these lines."""
    sessions = set[int]()
    for line in lines:
        number = int(line)
        if number > 0:
            sessions.add(number)
        else:
            sessions.discard(-number)
    return sessions


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it has nothing else to do than to be the last
    for session in left(sys.stdin.buffer):
        with suppress(OSError):  # it has ended
            os.killpg(session, signal.SIGKILL)


if __name__ == "__main__":
    _main()
