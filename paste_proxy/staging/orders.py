"""What the program inside of a view is told. Loads nothing: runs inside."""

import marshal


class Orders:
    """All of them, as attributes of plain types. Given by name; `packed` and `unpacked` carry them over."""

    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]
    umask: int
    workspace: str
    unprivileged: bool
    """In a user namespace."""
    hushed: bool
    """Nobody waits for it yet."""
    options: str
    """Of each overlay."""
    overlays: list[tuple[str, str, str]]
    """Path, upper, work; outer ones first."""
    kept: tuple[str, ...]
    """Files that are mounts, which overlays hide."""
    mounts: list[str]
    """Where something is mounted that may still be seen, to be sealed."""
    devices: list[str]
    """Names in `/dev` that a view does not have."""
    shared_memory: list[str]
    """Names in `/dev/shm` outside."""
    closed: list[str]
    """Roots of overlays that the user may not write to."""
    strace: str
    folder: str
    memory_bytes: int
    disk_bytes: int

    def __init__(self, **given: object) -> None:
        self.__dict__.update(given)

    def packed(self) -> bytes:
        """For `unpacked` in the same Python."""
        return marshal.dumps(self.__dict__)

    @classmethod
    def unpacked(cls, packed: bytes) -> "Orders":
        """What was packed, by us."""
        return cls(**marshal.loads(packed))  # noqa: S302
