"""Be another program from here on, as if it had been started in our place. Standard library only."""

import os
import signal
from collections.abc import Sequence
from typing import NoReturn


def become(command: Sequence[str]) -> NoReturn:
    """Replace this process. The program finds the signals as a shell would give them to it.

    Python ignores SIGPIPE and SIGXFSZ, and what is ignored stays so: a pipeline whose reader has enough would
    complain of it instead of ending.

    Raises:
        OSError: it cannot be started; we are still here.
    """
    taken = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGPIPE, signal.SIGXFSZ)}
    try:
        os.execvp(command[0], list(command))  # noqa: S606 - to start it is what this is for
    finally:
        for number, handler in taken.items():
            signal.signal(number, handler)
