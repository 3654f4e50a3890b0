"""A vLLM server for the tests that need one."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.engines.vllm_plugin.engine_world import Client, Engine, interpreter, make_model, start

BLOCKS, BLOCK = 20, 32
"""Of the engine's cache: little, so that it comes to its end."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tiny model is, as `tiny`."""
    if interpreter() is None:
        pytest.skip("PASTE_VLLM_PYTHON is not set: needs an interpreter that has vLLM and orjson")
    made = tmp_path_factory.mktemp("vllm")
    make_model(made)
    return made


@pytest.fixture(scope="session", params=["--async-scheduling", "--no-async-scheduling"])
def engine(folder: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    started = start(
        folder,
        folder / "tiny",
        request.param,
        *("--max-model-len", "512", "--max-num-seqs", "8", "--enable-prompt-tokens-details"),
        *("--num-gpu-blocks-override", str(BLOCKS), "--block-size", str(BLOCK)),
        PASTE_VLLM_BAND="0.25,0.5",
        PASTE_VLLM_GAMMA="0",
        PASTE_VLLM_LINGER="60",
    )
    yield started
    started.stop()


@pytest.fixture
async def client(engine: Engine) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession(engine.base) as http:
        one = Client(http)
        yield one
        await one.idle()
