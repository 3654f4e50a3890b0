"""Calls to Linux that Python has no name for. Standard library only, and little of it: a view starts with it."""

import ctypes
import os

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
"""Namespaces, for `unshare`."""
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
"""Flags of a mount."""

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_SYS_MOUNT_SETATTR = 442
_AT_EMPTY_PATH, _AT_RECURSIVE = 0x1000, 0x8000
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MNT_DETACH = 2
_SYS_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
_IO_CLASS_SHIFT = 13
_IO_OF_PROCESS = 1
_CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)


def unshare(namespaces: int) -> None:
    """Leave these namespaces for new ones; of process ids, for children only.

    Raises:
        OSError: it is not permitted.
    """
    _check(_libc.unshare(namespaces), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int = 0, options: str | None = None) -> None:
    """mount(2).

    Raises:
        OSError: naming the target and the kind.
    """
    data = options.encode() if options is not None else None
    name = kind.encode() if kind is not None else None
    result = _libc.mount(os.fsencode(source), os.fsencode(target), name, ctypes.c_ulong(flags), data)
    _check(result, f"mount {kind or 'flags'} on {target}")


def change_root(root: str) -> None:
    """Make this mount the root of our mount namespace, and let go of the old one.

    Raises:
        OSError: it is no mount, or the call's number on this machine is not known.
    """
    number = _SYS_PIVOT_ROOT.get(os.uname().machine, -1)
    os.chdir(root)
    _check(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _MNT_DETACH), "umount")
    os.chdir("/")


class _MountAttr(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd"))


def seal(mounted: int, *, recursive: bool = False) -> None:
    """Make the mount of which `mounted` is an open root read-only, for us alone.

    Raises:
        OSError: it cannot be, or `mounted` is not the root of a mount.
    """
    attr = _MountAttr(attr_set=READ_ONLY)
    flags = _AT_EMPTY_PATH | (_AT_RECURSIVE if recursive else 0)
    result = _libc.syscall(
        ctypes.c_long(_SYS_MOUNT_SETATTR), mounted, b"", flags, ctypes.byref(attr), ctypes.c_size_t(ctypes.sizeof(attr))
    )
    _check(result, "seal a mount")


def die_with_parent(signal_number: int) -> None:
    """Get this signal when the thread that started us ends. Forgotten when rights change: call it after that."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal_number)), "prctl")


def as_by_default(signal_number: int) -> None:
    """Let a signal do what it does by itself. Python's own `signal` is large."""
    _libc.signal(signal_number, None)


def ignore(signal_number: int) -> None:
    """Let a signal do nothing; of SIGCHLD, children that end are not waited for."""
    _libc.signal(signal_number, 1)


def give_up_rights() -> None:
    """Have no capabilities any more, here or in any namespace."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def show_to_same_user() -> None:
    """Let processes of our user see our open files, as they can before our rights change."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, ctypes.c_ulong(1)), "prctl")


def syncfs(path: str) -> None:
    """Write back all that the file system of `path` holds in memory.

    Raises:
        OSError: it cannot be opened or written.
    """
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.syncfs(opened), f"syncfs {path}")
    finally:
        os.close(opened)


def set_io_class(pid: int, io_class: int) -> None:
    """Of a thread: 0 is as its CPU priority says, 3 is only when nobody else wants the disk.

    Raises:
        OSError: there is no such thread any more, or it is not permitted.
    """
    number = _SYS_IOPRIO_SET.get(os.uname().machine)
    if number is not None:
        priority = io_class << _IO_CLASS_SHIFT
        _check(_libc.syscall(ctypes.c_long(number), _IO_OF_PROCESS, pid, priority), "ioprio_set")


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
