"""Fixtures every test may use."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from blockbuster import BlockBuster, blockbuster_ctx

from paste_proxy.proxy.named_files import general_pool


@pytest.fixture(autouse=True)
def _no_blocking_calls() -> Iterator[BlockBuster]:
    """A blocking call made by the package on a running event loop fails the test."""
    with blockbuster_ctx("paste_proxy") as detector:
        yield detector


@pytest.fixture(autouse=True)
def _log_of_its_own() -> Iterator[None]:
    """What one test makes of the log, another does not inherit."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session", autouse=True)
def _general_pool() -> None:
    """Read once, as a sidecar does before its loop runs; tests put sidecars together on a running one."""
    general_pool()


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder that PASTE_CORPUS names, with `corpus/` and `fixtures/` in it; skips where it is not set."""
    folder = os.environ.get("PASTE_CORPUS")
    if not folder:
        pytest.skip("PASTE_CORPUS is not set: needs the folder of recorded sessions and exchanges")
    return Path(folder)
