"""Where a command comes upon the walls of its view: what it would have found or done in a normal run is not certain
then. Standard library only: runs inside."""

import re

from paste_proxy.staging.calls import Call
from paste_proxy.staging.orders import Orders
from paste_proxy.staging.syscalls import BAD_ERRORS, POISONOUS

_OPENING = ("open", "openat", "openat2")
_ADDRESS = re.compile(rb'inet_(?:addr|pton)\((?:AF_INET6, )?"([^"]*)"')
_HERE = (b"127.", b"0.0.0.0", b"::1", b"::ffff:127.", b"::")
_PORT = re.compile(rb"htons\((\d+)\)")
_OF_OTHERS = re.compile(
    r"/proc/(?:\d+|self|thread-self)/(?:task/\d+/)?(net|mounts|mountstats|status|sched|autogroup)(?:/|$)"
)
_SHARED = ("/proc/net", "/proc/mounts", "/proc/sysvipc")
_NETLINK_OF_NO_USE = (b"NETLINK_ROUTE", b"NETLINK_AUDIT", b"NETLINK_KOBJECT_UEVENT")
"""The C library asks by the first which addresses there are, to look up a name."""


class Escapes:
    """The rules, for one view."""

    def __init__(self, orders: Orders) -> None:
        self._devices: frozenset[str] = frozenset(orders.devices)
        self._shared_memory: frozenset[str] = frozenset(orders.shared_memory)
        self._limits: set[int] = set()
        """Processes that look for the limits of their control group, and read the mounts for that."""

    def by(self, call: Call, places: list[str]) -> str | None:
        """Why the command cannot be committed after this call, in words."""
        if why := POISONOUS.get(call.name) or BAD_ERRORS.get(call.error):
            return f"it came upon {why} ({_shown(call)})"
        for place in places:
            if place.startswith(("/proc", "/dev")) and (why := self._machine(call, place)):
                return f"{why} ({_shown(call)})"
        rule = _RULES.get(call.name)
        return f"{why} ({_shown(call)})" if rule and (why := rule(call)) else None

    def _machine(self, call: Call, place: str) -> str | None:
        if place.startswith("/dev"):
            name = place[5:]
            if name.startswith("shm/"):
                return "it looked at shared memory of others" if name[4:] in self._shared_memory else None
            if name.partition("/")[0] in self._devices or (not name and call.name in _OPENING):
                return "it looked at a device"
            return None
        if call.name not in _OPENING:
            return None
        if place.endswith("/cgroup"):
            self._limits.add(call.pid)
        if place.endswith("/mountinfo"):
            return None if call.pid in self._limits else "it looked at the mounts"
        if (
            place == "/proc"
            or place.startswith(_SHARED)
            or _OF_OTHERS.match(place)
            or (call.error and place[6:7].isdigit())
        ):
            return "it looked at processes, mounts or the network of the machine"
        return None


def _moves(call: Call) -> str | None:
    return "it came upon a border of the view" if call.error == "EXDEV" else None


def _starts(call: Call) -> str | None:
    return "it came to its limit of processes" if call.error == "EAGAIN" else None


def _reaches(call: Call) -> str | None:
    if call.error in ("ECONNREFUSED", "EPERM", "EACCES") and b"AF_UNIX" in call.args:
        return "it looked for a server outside"
    if (address := _ADDRESS.search(call.args)) and not address[1].startswith(_HERE):
        return "it tried to use the network"
    return None


def _asks(call: Call) -> str | None:
    known = b"AF_NETLINK" not in call.args or any(name in call.args for name in _NETLINK_OF_NO_USE)
    return None if known else "it asked the kernel about the network"


def _signals(call: Call) -> str | None:
    return "it looked for a process that is not its own" if call.error == "ESRCH" else None


def _shares(call: Call) -> str | None:
    return None if call.args.startswith(b"IPC_PRIVATE") else "it looked for memory that others share"


_RULES = {
    **dict.fromkeys(("rename", "renameat", "renameat2", "link", "linkat"), _moves),
    **dict.fromkeys(("clone", "clone3", "fork", "vfork"), _starts),
    **dict.fromkeys(("kill", "pidfd_open"), _signals),
    **dict.fromkeys(("shmget", "semget", "msgget"), _shares),
    "connect": _reaches,
    "socket": _asks,
}


def _shown(call: Call) -> str:
    outcome = call.error or call.result.decode()
    return f"{call.name}({call.args[:120].decode(errors='replace')}) = {outcome}"
