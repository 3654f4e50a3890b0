"""What the tests of the workbench share."""

from pathlib import Path

import pytest

from tests.tools.workbench.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A workbench in an empty folder, beside which there is a secret."""
    root = tmp_path / "work"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("needle: a secret\n")
    return Bench(root)
