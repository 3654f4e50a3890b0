"""What the processes of a view use, and what they leave, as the kernel counts it.

Standard library only: runs inside.
"""

import os

from paste_proxy.staging.orders import Orders

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_NETWORK = {
    "/proc/net/snmp": ("IpOutNoRoutes", "UdpNoPorts", "TcpAttemptFails", "IcmpOutDestUnreachs"),
    "/proc/net/snmp6": ("Ip6OutNoRoutes", "Udp6NoPorts", "Icmp6OutDestUnreachs"),
}
"""Attempts that came to nothing: to leave, or to reach a server that is not in the view."""


class Counters:
    """The kernel's counters as they were when it was made."""

    def __init__(self) -> None:
        self._network, self._killed = _network(), _killed_for_memory()

    def moved(self) -> list[str]:
        """What has happened since, in words."""
        words = []
        if changed := sorted(name for name, count in _network().items() if count != self._network.get(name, 0)):
            words.append(f"it tried to use the network ({', '.join(changed)})")
        if _killed_for_memory() != self._killed:
            words.append("the machine ran out of memory meanwhile")
        if left := sorted(os.listdir("/dev/shm")):  # noqa: S108, PTH208  looked at, not written to
            words.append(f"it left shared memory ({', '.join(left[:3])})")
        if any(len(_lines(f"/proc/sysvipc/{kind}")) > 1 for kind in ("shm", "sem", "msg")):
            words.append("it left shared memory, semaphores or message queues")
        return words


class Limits:
    """How much a view may use."""

    def __init__(self, orders: Orders) -> None:
        self._folder = orders.folder
        self._memory_bytes: int = orders.memory_bytes
        self._disk_bytes: int = orders.disk_bytes
        self._free_at_first = self._free()

    def passed(self) -> list[str]:
        """Those that are passed, in words."""
        words = []
        if sum(_resident(pid) for pid in _processes()) > self._memory_bytes:
            words.append(f"it used more than {self._memory_bytes >> 20} MiB of memory")
        free = self._free()
        if self._free_at_first - free > self._disk_bytes or free < self._disk_bytes // 4:
            words.append(f"it used more than {self._disk_bytes >> 20} MiB of disk, or there is not much left")
        return words

    def _free(self) -> int:
        figures = os.statvfs(self._folder)  # an overlay's figures are those of the disk its changes are on
        return figures.f_bavail * figures.f_frsize


def left_over() -> list[str]:
    """The processes that are still there, in words; none if there are none."""
    names = sorted(name for pid in _processes() if (name := _name(pid)) not in (None, "strace"))
    return [f"it left processes behind ({', '.join(map(str, names[:5]))})"] if names else []


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]  # noqa: PTH208  quicker


def _name(pid: int) -> str | None:
    """None if it has ended."""
    try:
        line = _lines(f"/proc/{pid}/stat")[0]
    except (OSError, IndexError):
        return None
    name, _, rest = line.partition("(")[2].rpartition(")")
    return name if rest.split()[0] not in ("Z", "X") else None


def _resident(pid: int) -> int:
    try:
        return int(_lines(f"/proc/{pid}/statm")[0].split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):  # it has ended
        return 0


def _killed_for_memory() -> str:
    return next((line for line in _lines("/proc/vmstat") if line.startswith("oom_kill ")), "")


def _network() -> dict[str, int]:
    counts = dict[str, int]()
    lines = _lines("/proc/net/snmp")
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        kind, *keys = names.split()
        counts |= {kind.rstrip(":") + key: int(value) for key, value in zip(keys, values.split()[1:], strict=False)}
    if os.path.exists("/proc/net/snmp6"):  # noqa: PTH110  pathlib takes time to load
        counts |= {key: int(value) for key, value in (line.split() for line in _lines("/proc/net/snmp6"))}
    wanted = {name for names in _NETWORK.values() for name in names}
    return {name: count for name, count in counts.items() if name in wanted}


def _lines(path: str) -> list[str]:
    with open(path, errors="replace") as file:  # noqa: PTH123  pathlib takes time to load
        return file.read().splitlines()
