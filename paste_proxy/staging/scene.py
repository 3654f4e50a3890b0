"""What the command finds in a view: the machine at its own paths, with overlays on top, and nobody else there.

Standard library only: runs inside.
"""

import os
from typing import Any

from paste_proxy.staging import kernel

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
PRIVATE_DEVICES = {*_DEVICES, *_DEVICE_LINKS, "pts", "shm"}
"""What there is in the view's `/dev`."""
_TUNING = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")
"""Parts of `/proc` through which root changes the machine."""
_PASSED_ON = kernel.READ_ONLY | kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC
"""What a mount forbids, its overlay forbids."""
_IFF_UP_RUNNING = 0x41
_SIOCSIFFLAGS = 0x8914


def build(orders: dict[str, Any]) -> None:
    """Mount it all. Overlays are given outer ones first.

    Raises:
        OSError: something cannot be mounted.
    """
    kernel.mount("none", "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    # opened before anything is mounted: a later mount may hide the path of an earlier one's directories
    sealed = [opened for path in orders["mounts"] if (opened := _opened(path)) is not None]
    kept = [(path, _open(path)) for path in orders["kept"]]
    devices = [(name, opened) for name in _DEVICES if (opened := _opened(f"/dev/{name}")) is not None]
    layers = [(path, *(_open(each) for each in (path, upper, work))) for path, upper, work in orders["overlays"]]
    for path, lower, upper, work in layers:
        options = f"{orders['options']},lowerdir={_by(lower)},upperdir={_by(upper)},workdir={_by(work)}"
        flags = os.fstatvfs(lower).f_flag & _PASSED_ON
        kernel.mount("overlay", path, "overlay", flags, options)
    for path, opened in kept:
        kernel.mount(_by(opened), path, None, kernel.BIND)
        _seal(path)
    for opened in sealed:
        kernel.seal(opened)
    _seal("/sys", recursive=True)
    _make_devices(devices)
    for opened in (
        *sealed,
        *(opened for _, opened in (*kept, *devices)),
        *(each for _, *ours in layers for each in ours),
    ):
        os.close(opened)
    kernel.mount("proc", "/proc", "proc", kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC)
    for path in _TUNING if orders["tier"] == "root" else ():
        if os.path.exists(path):  # noqa: PTH110  pathlib takes time to load
            kernel.mount(path, path, None, kernel.BIND | kernel.RECURSIVE)
            _seal(path, recursive=True)
    _loopback_up()


def _open(path: str) -> int:
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _opened(path: str) -> int | None:
    try:
        return _open(path)
    except OSError:  # it is not for us to see
        return None


def _by(opened: int) -> str:
    return f"/proc/self/fd/{opened}"


def _seal(path: str, *, recursive: bool = False) -> None:
    opened = _open(path)
    try:
        kernel.seal(opened, recursive=recursive)
    finally:
        os.close(opened)


def _make_devices(devices: list[tuple[str, int]]) -> None:
    kernel.mount("tmpfs", "/dev", "tmpfs", kernel.NO_SUID, "mode=755")
    for name, opened in devices:
        os.close(os.open(f"/dev/{name}", os.O_CREAT | os.O_CLOEXEC, 0o666))
        kernel.mount(_by(opened), f"/dev/{name}", None, kernel.BIND)
    for name, target in _DEVICE_LINKS.items():
        os.symlink(target, f"/dev/{name}")  # noqa: PTH211  pathlib takes time to load
    for name, kind, options in (
        ("pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"),
        ("shm", "tmpfs", "mode=1777"),
    ):
        os.mkdir(f"/dev/{name}")  # noqa: PTH102  pathlib takes time to load
        flags = kernel.NO_SUID | (kernel.NO_DEVICES if name == "shm" else kernel.NO_EXEC)
        kernel.mount(kind, f"/dev/{name}", kind, flags, options)


def _loopback_up() -> None:
    import _socket
    import fcntl

    asking = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    fcntl.ioctl(
        asking.fileno(), _SIOCSIFFLAGS, b"lo".ljust(16, b"\0") + _IFF_UP_RUNNING.to_bytes(2, "little") + bytes(14)
    )
    asking.close()
