"""A lock that somebody holds, which a command in a view does not find."""

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest

from paste_proxy.staging.instant import Instant
from paste_proxy.staging.locks import locked_files
from paste_proxy.staging.proof import prove_file, prove_tree
from paste_proxy.staging.types import Refused

Lock = Callable[[int, int], None]


@pytest.mark.parametrize("lock", [fcntl.flock, fcntl.lockf])
def test_a_locked_file_is_found_until_it_is_let_go(tmp_path: Path, lock: Lock) -> None:
    file = tmp_path / "sub" / "lock"
    file.parent.mkdir()
    file.touch()
    since = Instant(at_ns=2**62, clock_ns=0)
    with file.open("rb+") as opened:
        lock(opened.fileno(), fcntl.LOCK_EX)
        locked = locked_files()
        with pytest.raises(Refused, match="lock is locked by somebody"):
            prove_tree(str(tmp_path), since, locked=locked)
        with pytest.raises(Refused, match="lock is locked by somebody"):
            prove_file(str(file), since, locked=locked)
    prove_tree(str(tmp_path), since, locked=locked_files())
