"""A workspace, and views of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.staging.runs import Views, views_in


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with two files and a directory."""
    folder = tmp_path / "workspace"
    (folder / "sub").mkdir(parents=True)
    (folder / "file").write_text("file\n")
    (folder / "sub" / "inner").write_text("inner\n")
    return folder


@pytest.fixture
async def views(tmp_path: Path) -> AsyncIterator[Views]:
    views = await views_in(tmp_path / "views")
    yield views
    await views.close()
