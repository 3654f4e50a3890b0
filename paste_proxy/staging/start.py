"""Start the command of a view as a normal run would: same session, signals, streams, umask, directory.

Standard library only: runs inside.
"""

import fcntl
import os

from paste_proxy.staging import kernel, quiet, syscalls
from paste_proxy.staging.orders import Orders

_TRACE_PIPE_BYTES = 2**20
_SET_PIPE_SIZE = 1031
_WORDS_BYTES = 4096
_IGNORED_BY_PYTHON = (13, 25)
"""SIGPIPE and SIGXFSZ. What is ignored stays so in a new program."""


def command(orders: Orders) -> tuple[int, int, int, int]:
    """Our orders' pipe, the command's process, the trace's near end, and its far end, which the tracer opens.

    Raises:
        OSError: it cannot be started.
    """
    control = os.dup(0)
    lines, far_end = os.pipe()
    fcntl.fcntl(lines, _SET_PIPE_SIZE, _TRACE_PIPE_BYTES)
    failed, failing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _become(orders, far_end)
        except OSError as fault:
            os.write(failing, f"{fault.strerror}: {fault.filename}".encode())
        os._exit(1)
    os.close(failing)
    words = os.read(failed, _WORDS_BYTES)
    os.close(failed)
    if words:
        raise OSError(words.decode())
    for inherited in (0, 1):
        os.close(inherited)
    return control, pid, lines, far_end


def _become(orders: Orders, far_end: int) -> None:
    os.setsid()
    if orders.hushed:
        quiet.hush(unprivileged=orders.unprivileged)
    for number in _IGNORED_BY_PYTHON:
        kernel.as_by_default(number)
    os.umask(orders.umask)
    os.chdir(orders.cwd)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(1, 2)
    env = orders.env
    _findable(orders.argv[0], env)
    os.execve(  # noqa: S606  to start it is what this is for
        orders.strace, syscalls.tracing(f"/proc/1/fd/{far_end}", orders.argv), env
    )


def _findable(program: str, env: dict[str, str]) -> None:
    """The tracer's own words for a program that is not there would be the command's output."""
    places = ("",) if "/" in program else (folder + "/" for folder in os.get_exec_path(env))
    if not any(os.access(place + program, os.X_OK) for place in places):
        raise FileNotFoundError(2, "No such program", program)
