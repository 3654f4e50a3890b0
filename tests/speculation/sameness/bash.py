"""A tool that runs commands as `Shell` says that one must, over a real bash."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from posixpath import join, normpath
from typing import Any

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import dumps
from paste_proxy.speculation.sameness.shell import answer_of

SPEAK = """#!/bin/sh
n=0
while [ $n -lt ${1:-4} ]; do n=$((n + 1)); echo "out $n"; echo "err $n" >&2; done
printf 'no end'
exit ${2:-0}
"""


class Runner:
    """Runs `run{command, cwd}` below a folder that has a file, a folder, a link and a program in it."""

    def __init__(self, root: Path) -> None:
        bash = shutil.which("bash")
        if bash is None:
            pytest.skip("bash is not installed")
        self._bash, self._root = bash, root
        (root / "sub dir").mkdir()
        (root / "sub" / "inner").mkdir(parents=True)
        (root / "link").symlink_to("sub")
        (root / "a.txt").write_text("one\ntwo 2>&1 | tail\nthree")
        for folder in (root, root / "sub", root / "sub dir"):
            for name, text in (("speak", SPEAK), ("die", "#!/bin/sh\nkill -9 $$\n")):
                (folder / name).write_text(text)
                (folder / name).chmod(0o755)

    def run(self, arguments: Mapping[str, Any]) -> ToolResult | None:
        """What it answers; None where it refuses, for want of the folder."""
        folder = normpath(join(str(self._root), arguments.get("cwd", "")))
        if not os.path.isdir(folder):  # noqa: PTH112 - lexically normal, as a Path is not
            return None
        done = subprocess.run(
            [self._bash, "-c", arguments["command"]],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "PWD": folder, "LC_ALL": "C", "X": "x y"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=20,
        )
        code = done.returncode if done.returncode >= 0 else 128 - done.returncode
        text = answer_of(code, done.stdout.decode("utf-8", "replace"))
        return ToolResult(body=dumps({"content": [{"type": "text", "text": text}], "isError": False}))


def run(command: str, **more: Any) -> Invocation:
    """A call of it."""
    return Invocation("shell/run", {"command": command, **more})
