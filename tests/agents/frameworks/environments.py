"""Environments with the real frameworks, each installed once into a cached folder."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

HERE = Path(__file__).parent
CACHE = HERE.parents[2] / ".cache" / "frameworks"
REPOSITORY = HERE.parents[2]


def python_with(group: str, *, at_least: tuple[int, int] = (3, 11)) -> Path:
    """The Python of an environment with what `requirements-GROUP.txt` pins.

    What cannot be installed skips the test; on CI it fails.
    """
    wanted = (HERE / f"requirements-{group}.txt").read_text()
    folder = CACHE / group
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{group}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            _install(group, folder, at_least)
            stamp.write_text(wanted)
    return python


def _install(group: str, folder: Path, at_least: tuple[int, int]) -> None:
    base = next(_interpreters(at_least), None)
    if base is None:
        _lacking(f"there is no Python {at_least[0]}.{at_least[1]} or newer")
    requirements = str(HERE / f"requirements-{group}.txt")
    _run(base, "-m", "venv", "--clear", str(folder))
    pip = (str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    # Everything is pinned, and little of it is imported: nothing to resolve, nothing to compile beforehand.
    _run(*pip, "--no-deps", "--no-compile", "--requirement", requirements)


def _interpreters(at_least: tuple[int, int]) -> Iterator[str]:
    """Those on the path and those of pyenv that are new enough and start."""
    names = [sys.executable, *(f"python3.{minor}" for minor in range(at_least[1], at_least[1] + 3))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [*filter(None, map(shutil.which, names)), *map(str, sorted(pyenv.glob("3.*/bin/python")))]
    check = f"import sys, venv; sys.exit(sys.version_info < {at_least})"
    for path in found:
        if subprocess.run([path, "-c", check], capture_output=True, timeout=30, check=False).returncode == 0:
            yield path


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        _lacking(f"{command[0]} failed: {done.stderr[-400:]}")


def _lacking(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
