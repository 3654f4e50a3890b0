"""One view, from its namespaces to its end, in two processes. The outer one is there to see that all others end; the
first one of the view makes the mounts, starts the command and watches it: when it ends, the kernel ends all others and
the view is gone.

The orders come on stdin, and a word later if the command is waited for; when that is closed nobody wants the view any
more. Stdout is the command's output. The report is written to stderr, which is closed when everything is over.
"""

import json
import os
import select
from typing import NoReturn

from paste_proxy.staging import keeper, kernel, network, scene
from paste_proxy.staging.orders import Orders
from paste_proxy.staging.outside import Outside, Ports

_SIGKILL = 9
_LENGTH_BYTES = 4
_GRACE_MS = 5000
"""For the first process to end once it is not wanted any more."""


def live(parent: int) -> NoReturn:
    """Be the outer process of a view.

    Args:
        parent: our own, with which all of it ends.
    """
    os.setsid()
    orders = Orders.unpacked(_exactly(int.from_bytes(_exactly(_LENGTH_BYTES), "big")))
    address, ports = network.own_address(), Ports()
    _leave(unprivileged=orders.unprivileged)
    kernel.die_with_parent(_SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it ended before we asked to be told
    alive, held = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(held)
        _be_first(orders, alive, address, ports)
    os.close(1)
    _see_out(first)
    os._exit(0)


def _leave(*, unprivileged: bool) -> None:
    namespaces = kernel.NEW_PIDS | kernel.NEW_IPC | kernel.NEW_NETWORK
    uid, gid = os.geteuid(), os.getegid()
    if not unprivileged:
        kernel.unshare(namespaces)
        return
    kernel.unshare(kernel.NEW_USER | namespaces)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        opened = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(opened, text.encode())
        os.close(opened)


def _see_out(first: int) -> None:
    """Wait until the first process, and so every process of the view, is gone."""
    ended, poller = os.pidfd_open(first), select.poll()
    poller.register(ended, select.POLLIN)
    poller.register(0, 0)  # tells of its end alone
    if not any(opened == ended for opened, _ in poller.poll()):
        poller.unregister(0)
        if not poller.poll(_GRACE_MS):
            os.kill(first, _SIGKILL)
    os.waitpid(first, 0)


def _be_first(orders: Orders, alive: int, address: str | None, ports: Ports) -> NoReturn:
    kernel.die_with_parent(_SIGKILL)
    os.set_blocking(alive, False)
    try:
        if os.read(alive, 1) == b"":
            os._exit(1)  # our parent ended before we asked to be told
    except BlockingIOError:
        pass
    os.close(alive)
    try:
        network.begin(address)
        below = scene.build(orders)
        if orders.unprivileged:
            kernel.give_up_rights()  # the tracer, which has none, opens a file of ours
        kernel.show_to_same_user()
        report = keeper.keep(orders, Outside(ports, below))
    except Exception as fault:  # noqa: BLE001  whatever it is, the report says it
        report = {"fault": f"{type(fault).__name__}: {fault}"}
    rest = json.dumps(report).encode()
    while rest:
        rest = rest[os.write(2, rest) :]
    os._exit(0)


def _exactly(count: int) -> bytes:
    read = b""
    while len(read) < count:
        chunk = os.read(0, count - len(read))
        if not chunk:
            os._exit(1)
        read += chunk
    return read
