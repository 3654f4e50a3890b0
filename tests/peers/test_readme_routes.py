"""The routes that the README names for vendors' SDKs take each request where the vendor has it."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from anthropic import AsyncAnthropic
from google import genai
from google.genai import types
from openai import AsyncOpenAI

from paste_proxy.wire.protocols import AUTO, wire_of
from tests.proxy.llm_world import answer, replying, sidecar, upstream

pytestmark = [
    pytest.mark.peer,
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession from ClientSession:DeprecationWarning"),
]
README = (Path(__file__).parent.parent.parent / "README.md").read_text("utf-8")
ROW = re.compile(
    r"^\| [^|]+ \| `(/\w+)` \| `(https://[^`]+)` \| `(\w+)\([^`]*?(http://127[^\")]+)\"[^`]*\)` \|$", re.MULTILINE
)


async def chat(base: str) -> None:
    async with AsyncOpenAI(base_url=base, api_key="k", max_retries=0) as client:
        await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "go"}])


async def message(base: str) -> None:
    async with AsyncAnthropic(base_url=base, api_key="k", max_retries=0) as client:
        await client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "go"}])


async def content(base: str) -> None:
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=base)).aio
    try:
        await client.models.generate_content(model="m", contents="go")
    finally:
        await client.aclose()


SDKS: dict[str, tuple[Callable[[str], Awaitable[None]], str, str]] = {
    "OpenAI": (chat, r"api\.openai\.com/v1/chat/completions", "openai_chat"),
    "Anthropic": (message, r"api\.anthropic\.com/v1/messages", "anthropic_messages"),
    "Client": (
        content,
        r"generativelanguage\.googleapis\.com/v1(beta)?/models/m:generateContent",
        "gemini",
    ),
}


def rows() -> dict[str, tuple[str, str, str]]:
    """By class: path of the route, upstream, base URL."""
    return {name: (path, there, base) for path, there, name, base in ROW.findall(README)}


def test_the_readme_names_a_route_for_each() -> None:
    assert rows().keys() == SDKS.keys()


@pytest.mark.parametrize("sdk", SDKS)
async def test_a_request_reaches_the_vendor_where_the_vendor_has_it(sdk: str) -> None:
    ask, vendor, wire = SDKS[sdk]
    path, named, base = rows()[sdk]
    refusing = answer(b'{"error":{"message":"no","code":401}}', b"Content-Type: application/json", status=b"401 No")
    async with (
        upstream(replying(refusing)) as there,
        sidecar((path, there.url + urlsplit(named).path)) as port,
    ):
        with pytest.raises(Exception, match="401"):
            await ask(base.replace("8377", str(port)))
    (seen,) = there.seen
    target = seen.target.decode()
    assert re.fullmatch(vendor, urlsplit(named).netloc + target.partition("?")[0])
    assert wire_of(AUTO, target) == wire
