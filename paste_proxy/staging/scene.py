"""What the command finds in a view: the machine at its own paths, with overlays on top, and nobody else there.

Standard library only: runs inside.
"""

import os

from paste_proxy.staging import kernel
from paste_proxy.staging.orders import Orders

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


def build(orders: Orders) -> list[tuple[str, int]]:
    """Mount it all. What was mounted before is sealed, and out of sight where the whole root is covered: what covers it
    becomes the new one then. The directories that are covered, and what is below of each, open.

    Raises:
        OSError: something cannot be mounted.
    """
    kernel.unshare(kernel.NEW_MOUNTS)
    kernel.mount("none", "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    whole = orders.overlays[0][0] == "/"
    root = orders.folder if whole else ""
    # opened before anything is mounted: a later mount may hide the path of an earlier one's directories
    layers = [(path, _open(path), _open(upper), _open(work)) for path, upper, work in orders.overlays]
    kept = [(path, _open(path)) for path in orders.kept]
    devices = [(name, opened) for name in _DEVICES if (opened := _opened(f"/dev/{name}")) >= 0]
    sealed = [opened for path in orders.mounts if (opened := _opened(path)) >= 0]
    for path, lower, upper, work in layers:
        options = f"{orders.options},lowerdir={_by(lower)},upperdir={_by(upper)},workdir={_by(work)}"
        kernel.mount("overlay", root + path, "overlay", os.fstatvfs(lower).f_flag & _PASSED_ON, options)
    for path, opened in kept:
        kernel.mount(_by(opened), root + path, None, kernel.BIND)
        _seal(root + path)
    _make_devices(f"{root}/dev", devices)
    kernel.mount("proc", f"{root}/proc", "proc", kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC)
    for opened in sealed:
        kernel.seal(opened)
    if whole:
        kernel.mount("/sys", f"{root}/sys", None, kernel.BIND | kernel.RECURSIVE)
        kernel.change_root(root)
    for each in (*sealed, *(each for _, _, *ours in layers for each in ours), *(ours for _, ours in (*kept, *devices))):
        os.close(each)
    _seal("/sys", recursive=True)
    if not orders.unprivileged:
        _seal_tuning()
    return [(path, lower) for path, lower, _, _ in layers]


def _open(path: str) -> int:
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _opened(path: str) -> int:
    """-1 if it is not for us to see."""
    try:
        return _open(path)
    except OSError:
        return -1


def _by(opened: int) -> str:
    return f"/proc/self/fd/{opened}"


def _seal(path: str, *, recursive: bool = False) -> None:
    opened = _open(path)
    try:
        kernel.seal(opened, recursive=recursive)
    finally:
        os.close(opened)


def _seal_tuning() -> None:
    for path in _TUNING:
        if os.path.exists(path):  # noqa: PTH110  pathlib takes time to load
            kernel.mount(path, path, None, kernel.BIND | kernel.RECURSIVE)
            _seal(path, recursive=True)


def _make_devices(folder: str, devices: list[tuple[str, int]]) -> None:
    kernel.mount("tmpfs", folder, "tmpfs", kernel.NO_SUID, "mode=755")
    for name, opened in devices:
        os.close(os.open(f"{folder}/{name}", os.O_CREAT | os.O_CLOEXEC, 0o666))
        kernel.mount(_by(opened), f"{folder}/{name}", None, kernel.BIND)
        _seal(f"{folder}/{name}")  # it is the real one: to write to it is no change of it, to give it other rights is
    for name, target in _DEVICE_LINKS.items():
        os.symlink(target, f"{folder}/{name}")  # noqa: PTH211  pathlib takes time to load
    for kind, name, flags, options in (
        ("devpts", "pts", kernel.NO_EXEC, "newinstance,ptmxmode=0666,mode=0620"),
        ("tmpfs", "shm", kernel.NO_DEVICES, "mode=1777"),
    ):
        os.mkdir(f"{folder}/{name}")  # noqa: PTH102  pathlib takes time to load
        kernel.mount(kind, f"{folder}/{name}", kind, kernel.NO_SUID | flags, options)
