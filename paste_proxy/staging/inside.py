"""The program inside of a view. It makes the namespaces and the mounts, starts the command, and is the first of the
view's processes: when it ends, the kernel ends all others and the view is gone.

Started by `view`, with its orders on stdin, its own report on stderr (fd 2), and the command's output on stdout.
Nothing is imported before the command runs that takes time to load, such as `typing`.
"""

import os
import sys

from paste_proxy.staging import keeper, kernel, network, scene
from paste_proxy.staging.orders import Orders

_SIGKILL = 9
_LENGTH_BYTES = 4


def main() -> None:
    """Read the orders, leave the outer namespaces, and wait for the first process of the inner ones."""
    orders = Orders.unpacked(_exactly(int.from_bytes(_exactly(_LENGTH_BYTES), "big")))
    address = network.own_address()
    _leave(orders)
    kernel.die_with_parent(_SIGKILL)
    if os.getppid() != orders.parent:
        os._exit(1)  # it ended before we asked to be told
    alive, held = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(held)
        _be_first(orders, alive, address)
    for inherited in (0, 1, 2, alive):
        os.close(inherited)
    os.waitpid(first, 0)  # it is over when every process in there is
    os._exit(0)


def _leave(orders: Orders) -> None:
    namespaces = kernel.NEW_MOUNTS | kernel.NEW_PIDS | kernel.NEW_IPC | kernel.NEW_NETWORK
    uid, gid = os.geteuid(), os.getegid()
    if not orders.unprivileged:
        kernel.unshare(namespaces)
        return
    kernel.unshare(kernel.NEW_USER | namespaces)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        opened = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(opened, text.encode())
        os.close(opened)


def _be_first(orders: Orders, alive: int, address: str | None) -> None:
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
        scene.build(orders)
        if orders.unprivileged:
            kernel.give_up_rights()  # the tracer, which has none, opens a file of ours
        kernel.show_to_same_user()
        report = keeper.keep(orders)
    except Exception as fault:  # noqa: BLE001  whatever it is, the report says it
        report = {"fault": f"{type(fault).__name__}: {fault}"}
    import json

    rest = json.dumps(report).encode()
    while rest:
        rest = rest[os.write(2, rest) :]
    os._exit(0)


def _exactly(count: int) -> bytes:
    read = b""
    while len(read) < count:
        chunk = os.read(0, count - len(read))
        if not chunk:
            sys.exit(1)
        read += chunk
    return read
