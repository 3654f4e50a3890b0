"""A vLLM server for the tests that need one."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.engines.vllm_plugin.engine_world import Client, Engine, interpreter, make_model, start

BLOCKS, BLOCK = 20, 32
"""Of the engine's cache: little, so that it comes to its end."""


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    if interpreter() is None:
        pytest.skip("PASTE_VLLM_PYTHON is not set: needs an interpreter that has vLLM and orjson")
    folder: Path = tmp_path_factory.mktemp("vllm")
    started = start(
        folder,
        make_model(folder),
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
