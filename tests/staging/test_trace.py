"""What a trace says of a command, from the words of its tracer."""

import random
from collections.abc import Container
from typing import Any

import pytest

from paste_proxy.staging.orders import Orders
from paste_proxy.staging.outside import Outside
from paste_proxy.staging.showing import lists_uncounted, shown_otherwise
from paste_proxy.staging.trace import Trace

BEGIN = b'2     execve("/usr/bin/x", ["x"], 0x7ffd /* 3 vars */) = 0\n'
END = b"2     +++ exited with 0 +++\n"


def read(text: bytes, *, pieces: int = 1, **orders: Any) -> tuple[set[str], list[str]]:
    """What it named, found or not, and why it cannot be committed."""
    trace, poisons = traced(text, pieces, **orders)
    return (trace.looked_at | trace.absent) - {"/usr/bin/x"}, poisons


class _Outside(Outside):
    """With a server on port 80."""

    def __init__(self, below: Container[str] = ()) -> None:
        self._names = below

    def taken(self, port: int) -> bool:
        return port == 80

    def has(self, path: str) -> bool:
        return path in self._names

    def shows(self, folder: str) -> bool:
        return folder in self._names


def traced(text: bytes, pieces: int = 1, below: Container[str] = (), **orders: Any) -> tuple[Trace, list[str]]:
    trace = Trace(
        Orders(
            **{
                "workspace": "/nowhere/ws",
                "cwd": "/nowhere/ws/in",
                "devices": ["kvm"],
                "shared_memory": ["theirs"],
                "closed": ["/etc"],
                "unprivileged": False,
                **orders,
            }
        ),
        _Outside(below),
    )
    whole = BEGIN + text + END
    cuts = sorted(random.Random(pieces).sample(range(len(whole)), pieces - 1))
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        trace.feed(whole[start:end])
    return trace, trace.end(2)


@pytest.mark.parametrize(
    ("line", "places"),
    [
        (b'openat(AT_FDCWD</nowhere/a>, "b/../c", O_RDONLY) = 3</nowhere/a/c>', {"/nowhere/a/c"}),
        (b'openat(5</nowhere/d>, "e", O_RDONLY) = -1 ENOENT (No such file or directory)', {"/nowhere/d/e"}),
        (b'open("../../up", O_RDONLY) = -1 ENOENT (No such file or directory)', {"/nowhere/up"}),
        (b'access("inside", R_OK) = 0', set()),
        (b'newfstatat(3</nowhere/f>, "", 0x7ff, AT_EMPTY_PATH) = 0', set()),
        (b'readlink("/nowhere/l", "target", 4096) = 6', {"/nowhere/l"}),
        (b'rename("/nowhere/old", "/nowhere/new") = 0', {"/nowhere/old", "/nowhere/new"}),
        (b'symlink("/nowhere/text", "/nowhere/link") = 0', {"/nowhere/link"}),
        (
            b'execve("/nowhere/p", ["p", "/nowhere/argument"], 0x5 /* 9 vars */) = -1 ENOENT (No such file)',
            {"/nowhere/p"},
        ),
        (
            b'openat(AT_FDCWD</>, "/nowhere/\\303\\251\\"\\\\ \\76", O_RDONLY) = 3</nowhere/\\303\\251"\\\\ \\76>',
            {'/nowhere/é"\\ >'},
        ),
        (b'inotify_add_watch(3<anon_inode:inotify>, "/nowhere/w", IN_ALL_EVENTS) = 1', {"/nowhere/w"}),
        (
            b'connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/nowhere/s"}, 14) = -1 ENOENT (No such)',
            {"/nowhere/s"},
        ),
        (b'openat(AT_FDCWD</x>, "/proc/self/maps", O_RDONLY) = 3</proc/2/maps>', set()),
    ],
)
def test_the_places_that_a_call_names(line: bytes, places: set[str]) -> None:
    assert read(b"2     " + line + b"\n") == (places, [])


NONE = b" = -1 ENOENT (No such file or directory)"
LOOK, LOOK_IN_VAIN = b'access("/nowhere/t", R_OK) = 0', b'access("/nowhere/t", R_OK)' + NONE
MAKE = b'openat(AT_FDCWD</x>, "/nowhere/t", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</nowhere/t>'
REMOVE = b'unlink("/nowhere/t") = 0'


@pytest.mark.parametrize(
    ("lines", "absent"),
    [
        ((LOOK_IN_VAIN,), True),
        ((MAKE,), True),
        ((LOOK_IN_VAIN, MAKE, LOOK, REMOVE, LOOK_IN_VAIN), True),
        ((b'mkdir("/nowhere/t", 0777) = 0', LOOK), True),
        ((LOOK,), False),
        ((LOOK, REMOVE, LOOK_IN_VAIN), False),
        ((LOOK_IN_VAIN, LOOK), False),
        ((LOOK, MAKE), False),
        ((REMOVE, MAKE), False),
        ((b'rename("/nowhere/t", "/nowhere/u")' + NONE,), False),
        ((b'mkdir("/nowhere/t", 0777) = -1 EEXIST (File exists)',), False),
    ],
)
def test_a_name_is_absent_if_nothing_was_ever_found_there_but_what_the_command_made(
    lines: tuple[bytes, ...], absent: bool
) -> None:
    trace, _ = traced(b"".join(b"2     " + line + b"\n" for line in lines))
    assert ("/nowhere/t" in trace.absent, "/nowhere/t" in trace.looked_at) == (absent, not absent)


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (b'newfstatat(AT_FDCWD</nowhere/ws/in>, "/nowhere", 0x7ff, 0) = 0', False),
        (b'newfstatat(AT_FDCWD</nowhere/ws/in>, "../..", 0x7ff, 0) = 0', True),
        (b'newfstatat(AT_FDCWD</nowhere/ws/in>, "/nowhere2", 0x7ff, 0) = 0', True),
        (b'openat(AT_FDCWD</nowhere/ws/in>, "/nowhere", O_RDONLY|O_DIRECTORY) = 3</nowhere>', True),
    ],
)
def test_to_ask_what_a_directory_above_the_workspace_is_means_nothing(line: bytes, seen: bool) -> None:
    trace, _ = traced(b"2     " + line + b"\n")
    assert bool(trace.looked_at & {"/nowhere", "/nowhere2"}) == seen


def test_directories_are_those_of_each_process() -> None:
    lines = (
        b'2     chdir("/nowhere/one")             = 0\n'
        b"2     clone(child_stack=NULL, flags=SIGCHLD) = 3\n"
        b'3     chdir("two")                      = 0\n'
        b'3     access("a", R_OK)                 = 0\n'
        b'2     access("b", R_OK)                 = 0\n'
        b"2     clone3({flags=CLONE_VM|CLONE_FS}, 88) = 4\n"
        b'4     chdir("/nowhere/three")           = 0\n'
        b'2     access("c", R_OK)                 = 0\n'
        b"3     fchdir(7</nowhere/four>)          = 0\n"
        b'3     access("d", R_OK)                 = 0\n'
    )
    named = {"one/two/a", "one/b", "three/c", "four/d"}
    folders = {"one", "one/two", "three"}
    assert read(lines) == ({f"/nowhere/{place}" for place in named | folders}, [])


def test_a_child_that_is_heard_of_before_its_parents_call_returns() -> None:
    lines = (
        b'2     chdir("/nowhere/p")               = 0\n'
        b"2     vfork( <unfinished ...>\n"
        b'3     access("early", R_OK)             = 0\n'
        b'3     openat(AT_FDCWD</nowhere/p>, "cut" <unfinished ...>\n'
        b"2     <... vfork resumed>)              = 3\n"
        b"3     <... openat resumed>, O_RDONLY)   = -1 ENOENT (No such file or directory)\n"
        b"3     +++ exited with 1 +++\n"
    )
    assert read(lines) == ({"/nowhere/p", "/nowhere/p/early", "/nowhere/p/cut"}, [])


def test_halves_of_a_look_that_was_seen_before_are_put_together() -> None:
    half = b'2     newfstatat(AT_FDCWD</nowhere>, "x" <unfinished ...>\n2     <... newfstatat resumed>, 0x7f, 0) = 0\n'
    assert read(half * 3) == ({"/nowhere/x"}, [])


def test_however_it_is_cut_it_says_the_same() -> None:
    lines = b"".join(
        b'2     openat(AT_FDCWD</nowhere/%d>, "f", O_RDONLY) = -1 ENOENT (No such)\n' % number for number in range(20)
    )
    once = read(lines)
    assert len(once[0]) == 20
    assert all(read(lines, pieces=pieces) == once for pieces in range(2, 60))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'rename("a", "/nowhere/b") = -1 EXDEV (Invalid cross-device link)', "a border of the view"),
        (b'rename("a", "b") = -1 ENOTEMPTY (Directory not empty)', "a move that a view begins"),
        (b'openat(AT_FDCWD</x>, "a", O_RDWR) = -1 EROFS (Read-only file system)', "read-only"),
        (b'mkdir("a", 0777) = -1 ENOSPC (No space left on device)', "a full disk"),
        (b"fork() = -1 EAGAIN (Resource temporarily unavailable)", "its limit of processes"),
        (b"ptrace(PTRACE_TRACEME) = -1 EPERM (Operation not permitted)", "tracing"),
        (b"reboot(LINUX_REBOOT_MAGIC1) = -1 EPERM (Operation not permitted) (INJECTED)", "a change of the machine"),
        (b"socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG) = 3<NETLINK:[1]>", "the machine's network"),
        (b"sendto(3<NETLINK:[1]>, [{nlmsg_type=RTM_GETLINK}], 20, 0, NULL, 0) = 20", "the network"),
        (b"bind(3<s>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"0.0.0.0\")}, 16) = 0", "a port"),
        (b'bind(3<s>, {sa_family=AF_INET, sin_port=htons(47), sin_addr=inet_addr("127.0.0.1")}, 16) = 0', "by then"),
        (b'openat(AT_FDCWD</x>, "/dev/shm", O_RDONLY|O_DIRECTORY) = 3</dev/shm>', "a device"),
        (b'newfstatat(AT_FDCWD</x>, "/proc/4711", {}, 0) = -1 ENOENT (No such file or directory)', "processes"),
        (b'readlink("/proc/1/exe", "/usr/bin/x", 99) = 10', "processes"),
        (b'readlink("/proc/self/ns/pid", "pid:[1]", 99) = 7', "processes"),
        (b'openat(AT_FDCWD</x>, "/proc/1/cmdline", O_RDONLY) = 3</proc/1/cmdline>', "processes"),
        (b'openat(AT_FDCWD</x>, "/dev/kvm", O_RDWR) = -1 ENOENT (No such file or directory)', "a device"),
        (b'openat(AT_FDCWD</x>, "/dev/shm/theirs", O_RDWR) = -1 ENOENT (No such file or directory)', "shared memory"),
        (b'openat(AT_FDCWD</x>, "/proc/self/mountinfo", O_RDONLY) = 3</proc/2/mountinfo>', "the machine's mounts"),
        (b"shmget(0x1234, 100, 0) = -1 ENOENT (No such file or directory)", "memory that others share"),
        (b"io_uring_setup(8, 0x7ff) = 3", "calls that a trace cannot see"),
        (b"--- SIGXCPU {si_signo=SIGXCPU} ---", "a limit"),
        (b"something that nobody understands", "not understood"),
    ],
)  # fmt: skip
def test_why_a_command_cannot_be_committed(line: bytes, why: str) -> None:
    _, poisons = read(b"2     " + line + b"\n")
    assert why in " ".join(poisons)


@pytest.mark.parametrize(
    "line",
    [
        b'openat(AT_FDCWD</x>, "/proc/self/cgroup", O_RDONLY) = 3</proc/2/cgroup>\n'
        b'2     openat(AT_FDCWD</x>, "/proc/self/mountinfo", O_RDONLY) = 4</proc/2/mountinfo>',
        b'openat(AT_FDCWD</x>, "/dev/null", O_RDWR) = 3</dev/null>',
        b'bind(3<s>, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
        b'connect(3<s>, {sa_family=AF_INET6, sin6_port=htons(9), inet_pton(AF_INET6, "::1", &sin6_addr)}, 28) = 0',
        b"socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_ROUTE) = 3<NETLINK:[1]>",
        b"shmget(IPC_PRIVATE, 100, IPC_CREAT|0600) = 1",
        b"kill(3, SIGTERM) = ?",
        b"--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---",
    ],
)
def test_what_is_no_reason_against_it(line: bytes) -> None:
    assert read(b"2     " + line + b"\n")[1] == []


def test_in_a_user_namespace_it_may_not_ask_whether_it_may_write_where_only_the_view_lets_it() -> None:
    line = b'2     faccessat2(AT_FDCWD</x>, "/etc", W_OK, AT_EACCESS) = 0\n'
    assert read(line)[1] != []
    assert read(line, closed=[])[1] == []


def test_a_move_to_where_something_of_old_is_fails_as_usual() -> None:
    line = b'2     rename("/nowhere/ws/in/a", "/nowhere/ws/in/b") = -1 ENOTEMPTY (Directory not empty)\n'
    assert "a move that a view begins" in str(read(line)[1])
    assert read(line, below={"/nowhere/ws/in/b"})[1] == []


@pytest.mark.parametrize("name", ["chown", "fchownat", "fchown", "setuid", "setresgid"])
def test_in_a_user_namespace_a_number_of_others_fails_in_another_way(name: str) -> None:
    line = b'2     %s(AT_FDCWD</x>, "file", 7, 7, 0) = -1 EINVAL (Invalid argument)\n' % name.encode()
    assert "an owner who is not known" in str(read(line, unprivileged=True)[1])
    assert read(line)[1] == []
    assert read(line.replace(b"EINVAL", b"EPERM"), unprivileged=True)[1] == []


def test_a_trace_that_is_cut_off_is_not_whole() -> None:
    orders = Orders(workspace="/w", cwd="/w", devices=[], shared_memory=[], closed=[], unprivileged=False)
    trace = Trace(orders, _Outside())
    trace.feed(BEGIN)
    assert trace.end(2) == ["its trace is not whole"]


@pytest.mark.parametrize(
    ("execve", "root", "user"),
    [
        (b'"/usr/bin/stat", ["stat", "x"], 0x1', True, True),
        (b'"/usr/bin/find", ["find", ".", "-ls"], 0x1', True, True),
        (b'"/usr/bin/find", ["find", ".", "-name", "ls"], 0x1', False, False),
        (b'"/usr/bin/id", ["id"], 0x1', False, True),
        (b'"/usr/bin/ls", ["ls", "-la"], 0x1', False, True),
        (b'"/usr/bin/ls", ["ls", "-a", "long"], 0x1', False, False),
    ],
)
def test_programs_that_show_what_a_view_has_otherwise(execve: bytes, root: bool, user: bool) -> None:
    assert (shown_otherwise(execve, unprivileged=False) is not None) == root
    assert (shown_otherwise(execve, unprivileged=True) is not None) == user


@pytest.mark.parametrize(
    ("output", "uncounted"),
    [
        (b"total 4\ndrwxr-xr-x 1 a a 4096 Jan 1 sub\n", True),
        (b"  1234 4 drwxr-xr-x+  1 a a 4096 Jan 1 sub\n", True),
        (b"drwxr-xr-x 2 a a 4096 Jan 1 sub\n-rw-r--r-- 1 a a 1 Jan 1 f\n", False),
        (b"drwxr-xr-x 1 of many words", True),
        (b"nothing of the kind\n", False),
    ],
)
def test_lists_of_directories_without_a_count_of_their_links(output: bytes, uncounted: bool) -> None:
    assert lists_uncounted(output) == uncounted


def test_only_what_lies_below_them_is_the_kernels_own() -> None:
    lines = (
        b'openat(AT_FDCWD</x>, "/development/conf", O_RDONLY) = 3</development/conf>',
        b'openat(AT_FDCWD</x>, "/dev/null", O_RDONLY) = 4</dev/null>',
        b'openat(AT_FDCWD</x>, "/systems", O_RDONLY) = -1 ENOENT (No such file or directory)',
        b'openat(AT_FDCWD</x>, "/dev/shm/of-others", O_RDONLY) = -1 ENOENT (No such file or directory)',
    )
    trace, _ = traced(b"".join(b"2     " + line + b"\n" for line in lines))
    assert "/development/conf" in trace.looked_at
    assert trace.absent == {"/systems", "/dev/shm/of-others"}
    assert trace.poisons == []
