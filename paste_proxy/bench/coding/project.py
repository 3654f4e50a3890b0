"""The project that coding sessions are replayed in: packages of modules, each with a test suite that really computes.

It is put together from `material`: every package holds half of the modules there, with a number of its own.
"""

import re
import shutil
import subprocess
from pathlib import Path

from paste_proxy.bench.coding import material

_NAMES = ("cells", "codes", "digits", "distance", "formula", "matrix", "ordering", "packing", "routes", "sieve")
PACKAGES = ("core", "flow", "geo", "plan", "store", "text")
_MATERIAL = Path(material.__file__).parent
_SEED = re.compile(r"^SEED = \d+$", re.MULTILINE)
_HALVES = 2


def modules() -> list[tuple[str, str]]:
    """Package and name of every module, in a fixed order."""
    return [(package, name) for number, package in enumerate(PACKAGES) for name in _NAMES[number % _HALVES :: _HALVES]]


def make_project(folder: Path) -> None:
    """Write it into a folder that is empty or not there, with a history of one commit if there is git. Blocks."""
    for number, (package, name) in enumerate(modules(), 1):
        place = folder / package
        place.mkdir(parents=True, exist_ok=True)
        (place / "__init__.py").write_text(f'"""The package {package}."""\n', "utf-8")
        text = (_MATERIAL / f"{name}.py").read_text("utf-8")
        (place / f"{name}.py").write_text(_SEED.sub(f"SEED = {number}", text), "utf-8")
        shutil.copyfile(_MATERIAL / f"test_{name}.py", place / f"test_{name}.py")
    (folder / ".gitignore").write_text("__pycache__/\n", "utf-8")
    if git := shutil.which("git"):
        for command in (
            ("init", "-q", "-b", "main"),
            ("config", "user.name", "replay"),
            ("config", "user.email", "replay@localhost"),
            ("add", "-A"),
            ("commit", "-q", "-m", "The project"),
        ):
            subprocess.run([git, *command], cwd=folder, check=True, capture_output=True)  # noqa: S603
