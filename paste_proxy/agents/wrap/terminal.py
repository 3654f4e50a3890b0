"""The client's process: on the user's terminal, in the user's process group, and master of its own end.

What the terminal sends (Ctrl-C, Ctrl-Z, a change of its size) reaches the client from there. What is sent to
the wrapper alone is passed on. Where the client stops itself, the wrapper stops with it, so that the shell
has the terminal; when the shell continues the one it continues the other.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from types import FrameType

_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
_PASSED_ON = (*_FROM_TERMINAL, signal.SIGTERM, signal.SIGHUP)
_SIGNALLED = 128


class Terminal(AbstractContextManager["Terminal"]):
    """Answers for signals while it is entered: they end the wrapper before there is a client, go to the client
    while it runs, and do nothing more once it has ended.
    """

    def __init__(self) -> None:
        self._client: int | None = None
        self._early: list[int] | None = None
        """Signals that came while the client was being started; None before and after."""
        self._over = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> "Terminal":
        for number in _PASSED_ON:
            if signal.getsignal(number) is not signal.SIG_IGN:  # what we ignore from the start, the client does too
                self._before[number] = signal.signal(number, self._pass_on)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # as it was given

    def run(self, command: Sequence[str], env: Mapping[str, str], *, holding: Sequence[int] = ()) -> int:
        """Run the client until it ends.

        Args:
            holding: file descriptors that it keeps open.

        Returns:
            Its exit code; 128 + n where signal n ended it.

        Raises:
            OSError: it cannot be started.
        """
        self._early = []
        try:
            process = subprocess.Popen(list(command), env=dict(env), pass_fds=holding)  # noqa: S603 - the user's own
        finally:
            early, self._early = self._early, None
        self._client = process.pid
        for number in early:
            self._pass_on(number, None)
        process.returncode = code = self._wait(process.pid)
        return code if code >= 0 else _SIGNALLED - code

    def _wait(self, pid: int) -> int:
        while True:
            _, status = os.waitpid(pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                self._client, self._over = None, True
                return os.waitstatus_to_exitcode(status)
            if _in_front():
                os.kill(os.getpid(), signal.SIGSTOP)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        if self._early is not None:
            self._early.append(number)
            return
        if self._client is None and not self._over:
            raise SystemExit(_SIGNALLED + number)
        if self._client is None or (number in _FROM_TERMINAL and _in_front()):
            return  # nobody to tell, or told already by the terminal
        with suppress(ProcessLookupError):
            os.kill(self._client, number)


def _in_front() -> bool:
    """Whether we are in the foreground of a terminal."""
    try:
        terminal = os.open(os.ctermid(), os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
