"""Where a command comes upon the walls of its view: what it would have found or done in a normal run is not certain
then.

Standard library only: runs inside.
"""

import os
import re
import stat

from paste_proxy.staging.calls import Call
from paste_proxy.staging.listing import Listings
from paste_proxy.staging.orders import Orders
from paste_proxy.staging.outside import Outside
from paste_proxy.staging.showing import shown_otherwise
from paste_proxy.staging.syscalls import BAD_ERRORS, OF_OWNERS, POISONOUS

_OPENING = ("open", "openat", "openat2")
_ADDRESS = re.compile(rb'inet_(?:addr|pton)\((?:AF_INET6, )?"([^"]*)"')
_LOCAL = re.compile(rb"127\.|0\.0\.0\.0|::1$|::$|::ffff:127\.")
_PORT = re.compile(rb"htons\((\d+)\)")
_OF_A_PROCESS = re.compile(
    r"/proc/(?:\d+|self|thread-self)/(?:task/\d+/)?(net|mounts|mountstats|status|sched|autogroup)\b"
)
_NUMBERED = re.compile(r"/proc/(\d+)(?:/|$)")
_NAMESPACES = re.compile(r"/proc/(?:\d+|self|thread-self)/(?:task/\d+/)?ns\b")
_OF_ALL = re.compile(
    r"/proc(?:/(?:net|mounts|sysvipc)(?:/.*)?)?|/proc/sys/(?:net/(?!core/somaxconn$).*|kernel/ns_last_pid)"
)
_ASKED_BY_LOOKUPS = (b"NETLINK_ROUTE", b"NETLINK_AUDIT", b"NETLINK_KOBJECT_UEVENT")
"""By the first the C library asks which addresses there are before it looks up a name."""
_LISTS = ("", "shm", "pts")
_SHOWN_BYTES = 120


class Escapes:
    """The rules, for one view."""

    def __init__(self, orders: Orders, outside: Outside) -> None:
        self._orders, self._outside = orders, outside
        self._listings = Listings(orders.workspace, outside)
        self._devices, self._shared_memory = frozenset(orders.devices), frozenset(orders.shared_memory)
        self._closed = frozenset(orders.closed)
        self._own: set[int] = set()
        """The command's processes."""
        self._seeks_limits: set[int] = set()
        """Processes that look for their control group, and at the mounts to find its limits."""
        self._rules = {
            **dict.fromkeys(("rename", "renameat", "renameat2", "link", "linkat"), self._moves),
            **dict.fromkeys(("clone", "clone3", "fork", "vfork"), _multiplies),
            **dict.fromkeys(("kill", "pidfd_open"), _signals),
            **dict.fromkeys(("shmget", "semget", "msgget"), _shares),
            **dict.fromkeys(("connect", "sendto", "sendmsg"), _reaches),
            **dict.fromkeys(("access", "faccessat", "faccessat2"), self._may_write),
            **dict.fromkeys(("execve", "execveat"), self._becomes),
            **dict.fromkeys(OF_OWNERS, self._names_another),
            "bind": self._serves,
            "socket": _asks,
        }

    def began(self, child: int, parent: int) -> None:
        """A process is a copy of another one."""
        self._own.add(child)
        self._listings.began(child, parent)

    def by(self, call: Call, places: list[str]) -> str | None:
        """Why the command cannot be committed after this call, in words.

        Args:
            places: that it named, free of links.
        """
        why = POISONOUS.get(call.name) or BAD_ERRORS.get(call.error) or self._listings.by(call, places)
        if why is None:
            self._own.add(call.pid)
            for place in places:
                if (place + "/").startswith("/dev/"):
                    why = why or self._device(call, place)
                elif (place + "/").startswith("/proc/"):
                    why = why or self._process(call, place)
            if why is None and (rule := self._rules.get(call.name)):
                why = rule(call, places)
        return f"it came upon {why} ({_shown(call)})" if why else None

    def _device(self, call: Call, place: str) -> str | None:
        name = (place + "/")[len("/dev/") : -1]
        if name.startswith("shm/"):
            return "shared memory of others" if name[len("shm/") :] in self._shared_memory else None
        if name.partition("/")[0] in self._devices or (name in _LISTS and call.name in _OPENING):
            return "a device"
        return None

    def _process(self, call: Call, place: str) -> str | None:
        numbered = _NUMBERED.match(place)
        if _NAMESPACES.match(place) or (numbered and int(numbered[1]) not in self._own):
            return "the machine's processes"
        if call.name not in _OPENING:
            return None
        if place.endswith("/cgroup"):
            self._seeks_limits.add(call.pid)
        elif place.endswith("/mountinfo"):
            return None if call.pid in self._seeks_limits else "the machine's mounts"
        no_such_process = bool(call.error) and place[len("/proc/") :][:1].isdigit()
        if no_such_process or _OF_ALL.fullmatch(place) or _OF_A_PROCESS.match(place):
            return "the machine's processes, mounts or network"
        return None

    def _becomes(self, call: Call, places: list[str]) -> str | None:
        if not call.done or not places:
            return None
        try:
            found = os.stat(places[-1])  # noqa: PTH116  pathlib takes time to load
        except OSError:
            return None
        others = found.st_mode & stat.S_ISUID and found.st_uid != os.geteuid()
        if others or (found.st_mode & stat.S_ISGID and found.st_gid != os.getegid()):
            return "a program with the rights of others"
        return shown_otherwise(call.args, unprivileged=self._orders.unprivileged)

    def _moves(self, call: Call, places: list[str]) -> str | None:
        if call.error == "ENOTEMPTY" and not (places and self._outside.shows(places[-1])):
            return "a move that a view begins before it fails"  # of which the directory's times tell
        return "a border of the view" if call.error == "EXDEV" else None

    def _may_write(self, call: Call, places: list[str]) -> str | None:
        asked = call.done and b"W_OK" in call.args and self._closed.intersection(places)
        return "a directory that is open only here" if asked else None

    def _names_another(self, call: Call, _: list[str]) -> str | None:
        """A number that a user namespace does not know is none at all there; elsewhere a right is missing."""
        return "an owner who is not known here" if call.error == "EINVAL" and self._orders.unprivileged else None

    def _serves(self, call: Call, _: list[str]) -> str | None:
        port = _PORT.search(call.args)
        if port is None or int(port[1]) == 0:
            return None
        return "a port that is in use" if self._outside.taken(int(port[1])) else "a port that others may take by then"


def _multiplies(call: Call, _: list[str]) -> str | None:
    return "its limit of processes" if call.error == "EAGAIN" else None


def _signals(call: Call, _: list[str]) -> str | None:
    return "a process that is not its own" if call.error == "ESRCH" else None


def _shares(call: Call, _: list[str]) -> str | None:
    return None if call.args.startswith(b"IPC_PRIVATE") else "memory that others share"


def _reaches(call: Call, _: list[str]) -> str | None:
    if call.error in ("ECONNREFUSED", "EPERM", "EACCES") and b"AF_UNIX" in call.args:
        return "a server outside"
    if (address := _ADDRESS.search(call.args)) and not _LOCAL.match(address[1]):
        return "the network"
    return "the network" if b"RTM_GETLINK" in call.args else None


def _asks(call: Call, _: list[str]) -> str | None:
    known = b"AF_NETLINK" not in call.args or any(name in call.args for name in _ASKED_BY_LOOKUPS)
    return None if known else "the machine's network"


def _shown(call: Call) -> str:
    return f"{call.name}({call.args[:_SHOWN_BYTES].decode(errors='replace')}) = {call.error or call.result.decode()}"
