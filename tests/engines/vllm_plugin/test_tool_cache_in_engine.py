"""The tool cache inside of a real vLLM: what a client gets is what it would have got by running its tools."""

import asyncio
import random
from typing import Any

import pytest

from paste_proxy.bench.tiny_dialogues import LIMA, OSLO, ROME, Message, asks, tells
from tests.engines.vllm_plugin.conftest import BLOCK, BLOCKS
from tests.engines.vllm_plugin.engine_world import Client

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

WEATHER = {"Oslo": OSLO, "Rome": ROME, "Lima": LIMA}
QUESTIONS = ["How is Oslo?", "How is Rome?", "Oslo in Celsius, please", "Oslo, and then Rome", "Rome and Lima at once"]


def entry(city: str, **more: Any) -> dict[str, Any]:
    return {"name": "get_weather", "params": {"city": city}, "output": WEATHER[city], **more}


ENTRIES = {
    "How is Oslo?": [entry("Oslo")],
    "How is Rome?": [entry("Rome")],
    "Oslo in Celsius, please": [{**entry("Oslo"), "params": {"city": "Oslo", "unit": "C"}}],
    "Oslo, and then Rome": [entry("Rome"), entry("Oslo")],
    "Rome and Lima at once": [entry("Lima"), entry("Rome")],
}


def message_of(answer: dict[str, Any]) -> Message:
    message = answer["choices"][0]["message"]
    kept = {"role": "assistant", "content": message["content"]}
    return {**kept, "tool_calls": message["tool_calls"]} if message.get("tool_calls") else kept


async def by_running_tools(client: Client, question: str, **more: Any) -> tuple[list[Message], dict[str, Any]]:
    """The agent's own loop, with nothing of PASTE's in its requests: the messages before the last answer, and that."""
    messages = [asks(question)]
    while True:
        answer = await client.chat(messages, vllm_xargs=None, **more)
        if answer["choices"][0]["finish_reason"] != "tool_calls":
            return messages, answer
        messages.append(message_of(answer))
        for call in messages[-1]["tool_calls"]:
            city = next(name for name in WEATHER if name in call["function"]["arguments"])
            messages.append({**tells(WEATHER[city]), "tool_call_id": call["id"]})


def without_ids(messages: list[Message]) -> list[Message]:
    plain = []
    for message in messages:
        message = {name: value for name, value in message.items() if name != "tool_call_id"}
        if "tool_calls" in message:
            message["tool_calls"] = [call["function"] for call in message["tool_calls"]]
        plain.append(message)
    return plain


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_hit_is_token_by_token_what_running_the_tools_gives(client: Client, question: str) -> None:
    messages, plain = await by_running_tools(client, question, return_token_ids=True)
    response = f"hit-{random.random()}"
    assert await client.cache(response, *ENTRIES[question]) == len(ENTRIES[question])
    answer = await client.chat([asks(question)], response, return_token_ids=True)

    assert answer["id"] == f"chatcmpl-{response}"
    shown, expected = answer["choices"][0], plain["choices"][0]
    assert shown["message"]["content"] == expected["message"]["content"]
    assert shown["token_ids"] == expected["token_ids"]
    assert answer["prompt_token_ids"] == plain["prompt_token_ids"], "the whole context, tools' outputs included"
    assert shown["finish_reason"] == "stop"
    assert not shown["message"].get("tool_calls"), "there is nothing left to run"
    assert without_ids(shown["paste_messages"]) == without_ids(messages[1:])
    assert all(isinstance(call["function"]["arguments"], str) for call in shown["paste_messages"][0]["tool_calls"])


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_streamed_hit_says_the_same_and_shows_the_calls_on_the_way(client: Client, question: str) -> None:
    messages, plain = await by_running_tools(client, question)
    response = f"streamed-{random.random()}"
    await client.cache(response, *ENTRIES[question])
    told, content, ends, called = list[Message](), "", [], dict[int, str]()
    async with client.stream([asks(question)], response) as chunks:
        async for chunk in chunks:
            choice = chunk["choices"][0]
            told += choice.get("paste_messages", [])
            ends.append(choice["finish_reason"])
            content += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls") or ():
                called[call["index"]] = call.get("id") or called[call["index"]]
    assert (
        content
        == "".join(message["content"] or "" for message in messages[1:] if message["role"] == "assistant")
        + (plain["choices"][0]["message"]["content"])
    )
    assert [end for end in ends if end] == ["stop"]
    assert without_ids(told) == without_ids(messages[1:])
    assert [message["tool_call_id"] for message in told if message["role"] == "tool"] == list(called.values())


async def test_tokens_of_tools_are_counted_apart(client: Client) -> None:
    _, plain = await by_running_tools(client, "How is Oslo?")
    first = await client.chat([asks("How is Oslo?")], vllm_xargs=None)
    before = await client.metric("generation_tokens_total")
    await client.cache("usage", entry("Oslo"))
    usage = (await client.chat([asks("How is Oslo?")], "usage"))["usage"]
    written = first["usage"]["completion_tokens"] + plain["usage"]["completion_tokens"]
    assert usage["prompt_tokens"] == first["usage"]["prompt_tokens"]
    assert usage["completion_tokens"] == written
    assert usage["total_tokens"] == usage["prompt_tokens"] + written
    context = plain["usage"]["prompt_tokens"]
    assert usage["paste_tool_tokens"] == context - usage["prompt_tokens"] - first["usage"]["completion_tokens"]
    assert await client.metric("generation_tokens_total") - before == written, "the engine counts no more than that"


@pytest.mark.parametrize(
    "useless",
    [
        {**entry("Oslo"), "params": {"city": "Rome"}},
        {**entry("Oslo"), "name": "get_whether"},
        entry("Oslo", keep_alive=0),
    ],
    ids=["arguments", "tool", "lease"],
)
async def test_a_miss_is_what_it_would_have_been(client: Client, useless: dict[str, Any]) -> None:
    response = f"miss-{random.random()}"
    await client.cache(response, useless)
    answer = await client.chat([asks("How is Oslo?")], response, return_token_ids=True)
    plain = await client.chat([asks("How is Oslo?")], vllm_xargs=None, return_token_ids=True)
    for told in (answer, plain):
        told.pop("id"), told.pop("created")
        told["choices"][0]["message"]["tool_calls"][0].pop("id")
    assert answer == plain
    assert (await client.state())["tool_cache"]["held"] == 0


async def test_a_turn_is_answered_after_turns_that_the_client_answered(client: Client) -> None:
    messages, plain = await by_running_tools(client, "Oslo, and then Rome", return_token_ids=True)
    await client.cache("second", entry("Rome"))
    answer = await client.chat(messages[:3], "second", return_token_ids=True)
    assert answer["choices"][0]["message"]["content"] == plain["choices"][0]["message"]["content"]
    assert answer["prompt_token_ids"] == plain["prompt_token_ids"]


async def test_a_call_in_other_words_than_the_templates_is_answered_behind_them(client: Client) -> None:
    """No next request would have had that context, but to the same tokens the same is written without the cache."""
    before = (await client.state())["tool_cache"].get("rewritten", 0)
    await client.cache("terse", entry("Oslo"))
    terse: dict[str, Any] = {"chat_template_kwargs": {"terse": True}}
    answer = await client.chat([asks("How is Oslo?")], "terse", return_token_ids=True, **terse)
    assert (await client.state())["tool_cache"]["rewritten"] == before + 1
    tokens = await client.completion(answer["prompt_token_ids"])
    assert answer["choices"][0]["token_ids"] == tokens
    messages = [asks("How is Oslo?"), *answer["choices"][0]["paste_messages"]]
    following = await client.chat(messages, vllm_xargs=None, return_token_ids=True, **terse)
    assert following["prompt_token_ids"] != answer["prompt_token_ids"]
    behind = answer["usage"]["paste_tool_tokens"]
    assert following["prompt_token_ids"][-behind:] == answer["prompt_token_ids"][-behind:]


async def test_an_output_that_no_template_takes_leaves_the_response_as_it_was(client: Client) -> None:
    await client.cache("half", {**entry("Oslo"), "output": "half of a pair: \ud83d"})
    answer = await client.chat([asks("How is Oslo?")], "half")
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    state = await client.state()
    assert (state["tool_cache"]["faults"], state["tool_cache"]["held"]) == (1, 0)


async def test_the_limit_of_tokens_is_that_of_the_whole_answer(client: Client) -> None:
    whole = await client.chat([asks("How is Oslo?")], vllm_xargs=None)
    call = whole["usage"]["completion_tokens"]
    await client.cache("short", entry("Oslo"))
    answer = await client.chat([asks("How is Oslo?")], "short", max_tokens=call + 3)
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == call + 3


async def test_an_output_may_come_while_the_response_is_written_and_when_it_has_been(client: Client) -> None:
    _, plain = await by_running_tools(client, "How is Rome?")
    content, posted, lingers = "", False, {"paste_linger": 30}
    async with client.stream([asks("How is Rome?")], vllm_xargs=lingers) as chunks:
        async for chunk in chunks:
            if not posted:
                posted = await client.cache(chunk["id"], entry("Rome")) == 1
            content += chunk["choices"][0]["delta"].get("content") or ""
    assert content == plain["choices"][0]["message"]["content"]

    waiting = asyncio.create_task(client.chat([asks("How is Rome?")], "lingers", vllm_xargs=lingers))
    await client.lingering(1)
    await client.cache("lingers", entry("Rome"))
    assert (await waiting)["choices"][0]["message"]["content"] == content


async def test_an_output_that_comes_just_too_late_gets_the_next_request_ready(client: Client) -> None:
    messages, _ = await by_running_tools(client, "How is Oslo?")
    question = [asks("How is Oslo?")]
    answer = await client.chat(question, "late")
    before = (await client.state())["tool_cache"].get("warmed", 0)
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    assert await client.cache("late", {**entry("Oslo"), "output": "13 degrees, and a little rain"}) == 1
    assert (await client.state())["tool_cache"]["warmed"] == before + 1
    await client.idle()
    told = {
        **tells("13 degrees, and a little rain"),
        "tool_call_id": answer["choices"][0]["message"]["tool_calls"][0]["id"],
    }
    following = await client.chat([*question, message_of(answer), told], vllm_xargs=None)
    usage = following["usage"]
    assert usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"] <= BLOCK, "but for the last block"
    assert len(messages) == 3


async def test_nothing_leaks_over_hits_misses_aborts_and_evictions(client: Client) -> None:
    references = {question: (await by_running_tools(client, question))[1] for question in QUESTIONS}
    fate = random.Random(7)

    async def hit(number: int, question: str) -> None:
        await client.cache(f"mixed-{number}", *ENTRIES[question])
        answer = await client.chat([asks(question)], f"mixed-{number}")
        expected = references[question]["choices"][0]["message"]["content"]
        assert answer["choices"][0]["message"]["content"] == expected

    async def miss(number: int, question: str) -> None:
        await client.cache(f"mixed-{number}", {**ENTRIES[question][0], "params": {"city": "Nowhere"}})
        answer = await client.chat([asks(question)], f"mixed-{number}")
        assert answer["choices"][0]["finish_reason"] == "tool_calls"

    async def hang_up(number: int, question: str) -> None:
        await client.cache(f"mixed-{number}", *ENTRIES[question])
        left = fate.randrange(1, 30)
        async with client.stream([asks(question)], f"mixed-{number}") as chunks:
            async for _ in chunks:
                left -= 1
                if not left:
                    return

    async def hang_up_lingering(number: int, question: str) -> None:
        asked = client.chat([asks(question)], f"mixed-{number}", vllm_xargs={"paste_linger": 60})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asked, timeout=fate.uniform(0.5, 3.0))

    async def lease_ends(number: int, question: str) -> None:
        await client.cache(f"mixed-{number}", *({**one, "keep_alive": 0.01} for one in ENTRIES[question]))
        await asyncio.sleep(0.02)
        answer = await client.chat([asks(question)], f"mixed-{number}")
        assert answer["choices"][0]["finish_reason"] == "tool_calls"

    fates = [hit, hit, miss, hang_up, hang_up_lingering, lease_ends]
    await asyncio.gather(*(fates[n % 6](n, fate.choice(QUESTIONS)) for n in range(24)))
    await client.idle()
    state = await client.state()
    assert state["tool_cache"]["lingering"] == 0
    assert state["tool_cache"]["held"] == state["tool_cache"]["held_bytes"] == 0
    assert state["load_shaping"]["holding"] == 0
    assert state["load_shaping"]["faults"] == 0


async def test_three_parked_sessions_never_block_an_ordinary_request(client: Client) -> None:
    questions = QUESTIONS[:3]
    references = [(await by_running_tools(client, question))[1] for question in questions]
    released = (await client.state())["load_shaping"]["released"]
    parked = [
        asyncio.create_task(
            client.chat([asks(question)], f"parked-{len(question)}-{question[-3]}", vllm_xargs={"paste_linger": 60})
        )
        for question in questions
    ]
    await client.lingering(3)
    held = await client.metric("kv_cache_usage_perc")
    answer = await client.chat([asks(" ".join(["w"] * 220))], tools=None, vllm_xargs=None, max_tokens=8)
    needed = answer["usage"]["prompt_tokens"] / (BLOCKS * BLOCK)
    assert held + needed > 1, "it does not fit in beside them"
    state = await client.state()
    assert state["tool_cache"]["lingering"] == 3, "they are still there"
    assert state["load_shaping"]["released"] > released

    for question in questions:
        await client.cache(f"parked-{len(question)}-{question[-3]}", *ENTRIES[question])
    for task, reference in zip(parked, references, strict=True):
        assert (await task)["choices"][0]["message"]["content"] == reference["choices"][0]["message"]["content"]
