"""A small model that guesses right, wrong, late or breaks, behind a live sidecar: the agent sees the same bytes."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from paste_proxy.errors import InputFault
from paste_proxy.proxy.hub.guess_tally import GuessTally
from paste_proxy.proxy.stats import stats
from paste_proxy.speculation.types import Mode
from tests.speculators.world import TOOLS, asking, calling, event, saying, stream, world

RIGHT, WRONG = calling("lookup", q="a"), calling("lookup", q="b")
SILENT = saying({"role": "assistant", "content": "nothing to look up"})
FOUND = b'{"found": {"q": "a"}}'


async def plain(folder: Path, body: bytes) -> bytes:
    """What an agent sees without a speculator."""
    async with world(folder, without=True) as w:
        w.go.set()
        return await w.turn(body)


async def test_a_right_guess_runs_while_the_llm_thinks_and_is_reused(tmp_path: Path) -> None:
    async with world(tmp_path, RIGHT, speculator={"samples": 1}) as w:
        turn = asyncio.ensure_future(w.turn(asking()))
        await w.until(lambda: bool(w.ran) and w.tally.guesses.samples["answered"] == 1)
        assert not turn.done()
        w.go.set()
        assert await turn == await plain(tmp_path, asking())
        assert await w.tool("lookup", q="a") == ("reused", FOUND)
        assert len(w.ran) == 1
        guesses = w.tally.guesses
        assert (guesses.asked, guesses.right, guesses.wrong, guesses.hits) == (1, 1, 0, 1)
        assert (guesses.input_tokens, guesses.output_tokens) == (100, 10)
        shown = stats(w.tally, Mode.SPECULATE, sessions=1, exchanges=0)["speculator"]
        assert isinstance(shown, dict)
        assert (shown["turns"], shown["hits"], shown["samples"]) == (1, 1, {"answered": 1})


async def test_what_is_asked_is_the_same_turn_in_chat_form(tmp_path: Path) -> None:
    parameters = {"max_tokens": 64, "temperature": 0.5}
    async with world(tmp_path, RIGHT, speculator={"samples": 1, "parameters": parameters}) as w:
        await w.thinking(asking(), lambda: len(w.small.bodies) == 1)
        (body,), (headers,) = w.small.bodies, w.small.headers
    assert body == {
        **parameters,
        "model": "small",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "look a up"}],
        "tools": TOOLS[:2],
    }
    assert headers["authorization"] == "Bearer none"
    assert headers["content-type"] == "application/json"


async def test_in_observe_mode_it_is_asked_and_nothing_runs(tmp_path: Path) -> None:
    async with world(tmp_path, RIGHT, speculator={"samples": 1}, mode="observe") as w:
        await w.thinking(asking(), lambda: w.tally.guesses.samples["answered"] == 1)
        assert w.ran == []
        assert await w.tool("lookup", q="a") == ("run", FOUND)
        await w.until(lambda: sum(w.tally.shadow_outcomes.values()) == 1)
        assert (w.tally.guesses.right, w.tally.guesses.hits) == (1, 0)


async def test_the_account_is_in_the_metrics_with_labels_from_closed_sets(tmp_path: Path) -> None:
    async with world(tmp_path, RIGHT, speculator={"samples": 1}) as w:
        await w.thinking(asking(), lambda: bool(w.ran))
        await w.tool("lookup", q="a")
        async with w.web.get(f"{w.url}/metrics") as answer:
            text = await answer.text()
    for line in (
        'paste_speculator_turns_total{asked="true"} 1.0',
        'paste_speculator_samples_total{end="answered"} 1.0',
        'paste_speculator_tokens_total{kind="input"} 100.0',
        'paste_speculator_guesses_total{right="true"} 1.0',
        "paste_speculator_hits_total 1.0",
    ):
        assert line in text


@pytest.mark.parametrize("answer", [WRONG, SILENT, calling("book", q="a"), calling("nobody_has_this", q="a")])
async def test_a_wrong_guess_changes_nothing(tmp_path: Path, answer: Any) -> None:
    async with world(tmp_path, answer, speculator={"samples": 1}) as w:
        seen = await w.thinking(asking(), lambda: w.tally.guesses.samples["answered"] == 1)
        assert seen == await plain(tmp_path, asking())
        outcome, found = await w.tool("lookup", q="a")
        assert (outcome in ("run", "promoted", "reused"), found) == (True, FOUND)
        assert not [ran for ran in w.ran if ran.tool == "book"]
        assert (w.tally.guesses.right, w.tally.guesses.hits) == (0, 0)


async def test_samples_that_agree_end_the_asking_upstream_too(tmp_path: Path) -> None:
    async with world(tmp_path, RIGHT, None, RIGHT) as w:
        turn = asyncio.ensure_future(w.turn(asking()))
        await w.until(lambda: w.small.gone == 1)
        await w.until(lambda: w.tally.guesses.samples == {"answered": 2, "stopped": 1})
        assert not turn.done()
        w.go.set()
        await turn


async def test_the_call_in_the_llms_own_stream_ends_the_asking(tmp_path: Path) -> None:
    async with world(tmp_path, None, speculator={"samples": 2}) as w:
        turn = asyncio.ensure_future(w.turn(asking()))
        await w.until(lambda: len(w.small.bodies) == 2)
        w.go.set()
        await w.until(lambda: w.small.gone == 2)
        assert await turn == await plain(tmp_path, asking())
        assert (await w.tool("lookup", q="a"))[1] == FOUND
        await w.until(lambda: w.tally.guesses.samples["stopped"] == 2)
        assert w.tally.faults == {}


async def test_a_turn_that_ends_without_a_call_ends_the_asking(tmp_path: Path) -> None:
    words = [event({"content": "no"}, None), event({}, "stop"), b"data: [DONE]\n\n"]
    async with world(tmp_path, None, call=words, speculator={"samples": 1}) as w:
        await w.thinking(asking(), lambda: len(w.small.bodies) == 1)
        await w.until(lambda: w.small.gone == 1)


BROKEN = {
    "an error": lambda _: web.Response(status=500),
    "no JSON": lambda _: web.Response(text="<html>", content_type="application/json"),
    "no completion": lambda _: web.json_response({"error": "x"}),
    "too long": lambda _: web.Response(body=b" " * 2**21),
    "a redirect": lambda _: web.Response(status=307, headers={"location": "/v1/chat/completions"}),
    "compressed": lambda _: web.Response(body=b"x" * 99, headers={"content-encoding": "gzip"}),
}


@pytest.mark.parametrize("broken", BROKEN)
async def test_a_broken_endpoint_is_counted_warned_of_once_and_not_noticed(tmp_path: Path, broken: str) -> None:
    with capture_logs() as logs:
        async with world(tmp_path, BROKEN[broken], speculator={"samples": 2}) as w:
            seen = await w.thinking(asking(), lambda: w.tally.guesses.samples["failed"] == 2)
            assert seen == await plain(tmp_path, asking())
            assert (await w.tool("lookup", q="a"))[1] == FOUND
            assert w.tally.faults == {"speculator": 2}
            assert len(w.small.bodies) == 2
    (warning,) = [line for line in logs if line["event"] == "upstream_failed"]
    assert warning["upstream"] == w.small.url
    assert "look a up" not in json.dumps(logs)


@pytest.mark.parametrize(
    ("answer", "keys", "end"),
    [(RIGHT, {"base_url": "http://127.0.0.1:9/v1"}, "failed"), (None, {"timeout_s": 0.05}, "timed_out")],
)
async def test_an_endpoint_that_is_not_there_or_takes_too_long_is_given_up(
    tmp_path: Path, answer: Any, keys: dict[str, Any], end: str
) -> None:
    async with world(tmp_path, answer, speculator={"samples": 1, **keys}) as w:
        seen = await w.thinking(asking(), lambda: w.tally.guesses.samples[end] == 1)
        assert seen == await plain(tmp_path, asking())


def came_to(guesses: GuessTally, answered: int, passed: int) -> bool:
    return (guesses.samples["answered"], guesses.passed) == (answered, passed)


async def test_limits_hold(tmp_path: Path) -> None:
    async with world(tmp_path, RIGHT, speculator={"samples": 1, "calls_per_minute": 2}) as w:
        for answered, passed in ((1, 0), (2, 0), (2, 1), (2, 2)):
            await w.thinking(asking(), partial(came_to, w.tally.guesses, answered, passed))
        assert len(w.small.bodies) == 2


async def test_nothing_is_sent_of_what_is_kept_out(tmp_path: Path) -> None:
    history: list[dict[str, Any]] = []
    for number, (name, text) in enumerate((("secret", "XYZZY"), ("lookup", "plugh"), ("book", "booked"))):
        function = {"name": name, "arguments": json.dumps({"q": text})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        history += [{"role": "assistant", "content": None, "tool_calls": [call]}]
        history += [{"role": "tool", "tool_call_id": f"c{number}", "content": f"result {text}"}]
    async with world(tmp_path, RIGHT, speculator={"samples": 1, "without_sessions": ["private-*"]}) as w:
        w.go.set()
        await w.turn(asking(*history), session="private-1")
        await w.turn(asking(tools=[TOOLS[1]]), session="t")
        await w.thinking(asking(*history), lambda: len(w.small.bodies) == 1)
        (body,) = w.small.bodies
    said = json.dumps(body)
    assert ("XYZZY" in said, "secret" in said) == (False, False)
    assert ("result plugh" in said, "result booked" in said) == (True, True)


async def test_without_tools_and_shows_say_otherwise(tmp_path: Path) -> None:
    async with world(tmp_path, RIGHT, speculator={"samples": 1, "shows": "all", "without_tools": ["boo*"]}) as w:
        await w.thinking(asking(), lambda: len(w.small.bodies) == 1)
        names = [tool["function"]["name"] for tool in w.small.bodies[0]["tools"]]
    assert names == ["lookup", "secret"]


async def test_a_request_read_in_the_worker_process_is_asked_about_too(tmp_path: Path) -> None:
    body = asking({"role": "assistant", "content": "x" * 300_000}, {"role": "user", "content": "and now?"})
    async with world(tmp_path, RIGHT, speculator={"samples": 1}) as w:
        seen = await w.thinking(body, lambda: bool(w.ran))
        assert seen == b"".join(stream("lookup", q="a"))
        (asked,) = w.small.bodies
    assert [message["role"] for message in asked["messages"]] == ["system", "user", "assistant", "user"]
    assert 10_000 < len(json.dumps(asked)) < 70_000


async def test_a_call_in_the_text_of_an_answer_is_read(tmp_path: Path) -> None:
    text = '<tool_call>\n{"name": "lookup", "arguments": {"q": "a"}}\n</tool_call>'
    async with world(tmp_path, saying({"role": "assistant", "content": text}), speculator={"samples": 1}) as w:
        await w.thinking(asking(), lambda: bool(w.ran))


async def test_of_the_environment_the_key_named_is_used_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("OPENAI_ORG_ID", "somebody"), ("OPENAI_API_KEY", "k-0"), ("HTTP_PROXY", "http://127.0.0.1:9")):
        monkeypatch.setenv(name, value)
    with pytest.raises(InputFault, match=r"speculator\.api_key_env"):
        async with world(tmp_path, RIGHT, speculator={"api_key_env": "NOT_SET_HERE"}):
            pass
    monkeypatch.setenv("MY_KEY", "k-1")
    async with world(tmp_path, RIGHT, speculator={"api_key_env": "MY_KEY", "samples": 1}) as w:
        await w.thinking(asking(), lambda: len(w.small.headers) == 1)
        (headers,) = w.small.headers
    assert headers["authorization"] == "Bearer k-1"
    assert "openai-organization" not in headers
