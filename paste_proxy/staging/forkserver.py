"""The program that views are copies of. It has loaded what a view needs, which takes much longer than to make one, and
does nothing but copy itself: a view has nothing in it of one that was before.

Started by `forks`, with a socket on stdin over which it is asked; it ends, and every view with it, when that is closed.
"""

import _socket
import os
from contextlib import suppress
from typing import NoReturn

from paste_proxy.staging import inside, kernel, sweeping

VIEW, SWEEP = b"v", b"s"
"""What is asked for, in the first byte of a message: a view, with its ends of what it is told, of its output and of its
report; or a sweep, with the end of its asker, and the folder in the message's rest."""
_SIGCHLD, _SIGKILL = 17, 9
_FD_BYTES = 4
_MOST_FDS = 3
_LONGEST_BYTES = 2**13


def main() -> None:
    """Serve until nobody asks any more."""
    parent, us = os.getppid(), os.getpid()
    kernel.die_with_parent(_SIGKILL)
    if os.getppid() != parent:
        return
    kernel.ignore(_SIGCHLD)  # nobody waits for views here
    asking = _socket.socket(fileno=0)
    while True:
        asked, passed = _received(asking)
        if not asked:
            _wait_for_all()
            return
        if os.fork() == 0:
            _become(asked, passed, us)
        for opened in passed:
            os.close(opened)


def _received(asking: _socket.socket) -> tuple[bytes, list[int]]:
    asked, extra, *_ = asking.recvmsg(_LONGEST_BYTES, _socket.CMSG_SPACE(_MOST_FDS * _FD_BYTES))
    return asked, [opened for *_, passed in extra for opened in memoryview(passed).cast("i")]


def _wait_for_all() -> None:
    with suppress(ChildProcessError):
        os.wait()  # as they are ignored, it returns when none is left


def _become(asked: bytes, passed: list[int], parent: int) -> NoReturn:
    kernel.as_by_default(_SIGCHLD)
    for number, opened in enumerate(passed):
        os.dup2(opened, number)
        os.close(opened)
    if asked[:1] == SWEEP:
        sweeping.sweep(os.fsdecode(asked[1:]), parent)
    inside.live(parent)
