"""Files in the page cache before they are asked for."""

import ctypes
import mmap
import os
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.preparation import Preparation
from paste_proxy.tools.workbench import warming
from paste_proxy.tools.workbench.warming import FileAhead
from tests.proxy.mcp.parts import until
from tests.tools.workbench.bench import Bench

PAGES = 64


def needed(bench: Bench, tool: str, **arguments: Any) -> list[str]:
    """The files that are needed, by their paths from the workspace."""
    needs = [each.need for each in bench.workbench.needs(Invocation(f"workbench/{tool}", arguments))]
    assert all(need.kind is Preparation.FILES for need in needs)
    return [os.path.relpath(need.name, bench.root) for need in needs]


def put(path: Path) -> None:
    """A file that lies on the disk alone."""
    with path.open("wb") as file:
        file.write(b"x" * PAGES * mmap.PAGESIZE)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cached(path: Path) -> int:
    """How many pages of a file are in the page cache: mincore(2)."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    size, found = PAGES * mmap.PAGESIZE, (ctypes.c_ubyte * PAGES)()
    with path.open("rb") as file:
        mapped = ctypes.c_void_p(libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0))
        assert libc.mincore(mapped, ctypes.c_size_t(size), found) == 0
        libc.munmap(mapped, ctypes.c_size_t(size))
    return sum(page & 1 for page in found)


def test_it_is_the_files_that_a_call_names(bench: Bench) -> None:
    assert needed(bench, "read", path="src/a.py", offset=3) == ["src/a.py"]
    assert needed(bench, "edit", path="src/a.py") == ["src/a.py"]
    assert needed(bench, "grep", path="src/a.py", pattern="x") == ["src/a.py"]
    assert needed(bench, "write", path="src/a.py", content="x") == []
    assert needed(bench, "read") == needed(bench, "read", path=3) == []
    assert needed(bench, "run", command="pytest -q tests/test_a.py | tail -n 3") == ["tests/test_a.py", "3"]
    assert needed(bench, "run", command="make check", cwd="sub") == ["sub/check"]
    assert needed(bench, "run", command="cat $(ls)") == []
    assert len(needed(bench, "run", command="cat " + " ".join(map(str, range(100))))) == 8


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system does not read ahead when it is asked to")
async def test_the_kernel_reads_it(bench: Bench) -> None:
    put(path := bench.root / "a.bin")
    if cached(path):
        pytest.skip("this file system keeps everything in memory")
    (ahead,) = bench.workbench.needs(Invocation("workbench/read", {"path": "a.bin"}))
    assert await ahead.prepare()
    await until(lambda: cached(path) == PAGES)


@pytest.mark.parametrize(
    "path", ["none.txt", "a.txt/b", "sub", "pipe", "../secret.txt", "out", "big", "nul\0", "/dev/null"]
)
async def test_what_is_no_file_of_the_workspace_of_fair_size_is_let_be(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(warming, "_BYTES", 3)
    (bench.root / "a.txt").write_text("abc")
    (bench.root / "big").write_text("abcd")
    (bench.root / "sub").mkdir()
    (bench.root / "out").symlink_to(bench.root.parent / "secret.txt")
    os.mkfifo(bench.root / "pipe")
    assert await FileAhead(bench.workbench.workspace, "a.txt").prepare() is hasattr(os, "posix_fadvise")
    assert not await FileAhead(bench.workbench.workspace, path).prepare()
