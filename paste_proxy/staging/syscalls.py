"""Which calls of a command to the kernel are looked at, and which show that a view is not enough for it.

Standard library only: runs inside.
"""

_NEVER = {
    "another's view of the machine": "mount,umount2,unshare,setns,pivot_root,chroot,open_tree,move_mount,fsopen",
    "tracing": "ptrace,process_vm_readv,process_vm_writev",
    "calls that a trace cannot see": "io_uring_setup,open_by_handle_at",
    "its own priority": "sched_getscheduler,sched_getattr,ioprio_get",
    "shared message queues": "mq_open",
}
_FORBIDDEN = (
    "sethostname,setdomainname,reboot,settimeofday,clock_settime,adjtimex,clock_adjtime,init_module,finit_module,"
    "delete_module,kexec_load,kexec_file_load,swapon,swapoff,acct,iopl,ioperm,bpf,syslog"
)
"""Changes of the machine itself, which no view holds back: they do not happen."""
_FOLLOWED = "fchdir,connect,bind,socket,sendto,sendmsg,clone,clone3,fork,vfork,kill,pidfd_open,shmget,semget,msgget"
_OF_OWNERS = "chown,lchown,fchown,fchownat,setuid,setgid,setreuid,setregid,setresuid,setresgid"

OF_OWNERS = tuple(_OF_OWNERS.split(","))
"""Calls that take the number of a user or group."""

POISONOUS = {name: why for why, names in _NEVER.items() for name in names.split(",")} | dict.fromkeys(
    _FORBIDDEN.split(","), "a change of the machine itself"
)
"""A call that was tried at all, and what the command is after."""

BAD_ERRORS = {
    "EROFS": "a place that is read-only here",
    "EOVERFLOW": "a file whose owner is not known here",
    "ESTALE": "a file that changed below",
    "EIO": "a file that cannot be read",
    "ENOSPC": "a full disk",
    "EDQUOT": "a full quota",
    "EMFILE": "its limit of open files",
    "ENFILE": "the machine's limit of open files",
    "ENOMEM": "the end of the memory",
}
"""Failures that a normal run may not have had."""


def tracing(log: str, argv: tuple[str, ...]) -> list[str]:
    """The command line that runs `argv` with a tracer that is no parent of it and writes to `log`."""
    followed = (*_FOLLOWED.split(","), *OF_OWNERS, *POISONOUS)
    calls = ",".join(f"?{name}" for name in followed)  # ?: if this machine has it
    forbidden = ",".join(f"?{name}" for name in _FORBIDDEN.split(","))
    return [
        *("strace", "-D", "-f", "-q", "-y", "--seccomp-bpf", "-s", "64", "-o", log),
        *("-e", f"trace=%file,{calls}"),
        *("-e", "verbose=connect,bind,sendto,sendmsg,execve,execveat"),
        *("-e", f"inject={forbidden}:error=EPERM"),
        *("--", *argv),
    ]
