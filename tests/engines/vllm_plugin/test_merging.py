"""One answer of several turns, as the client gets it."""

from typing import Any

from paste_proxy.engines.vllm_plugin.merging import Account, Stream, answered_turn, with_ids

ANSWERED = answered_turn(None, [("own", "look", '{"city": "Oslo"}')], ["rain"])


def delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def called(index: int, call_id: str) -> dict[str, Any]:
    return delta(tool_calls=[{"index": index, "id": call_id, "function": {"name": "look", "arguments": ""}}])


def test_a_stream_without_an_answered_turn_is_as_vllm_makes_it() -> None:
    stream = Stream(Account(prompt=5, written=3))
    chunks = [delta(role="assistant", content=""), called(0, "shown"), delta("tool_calls")]
    expected = [delta(role="assistant", content=""), called(0, "shown"), delta("tool_calls")]
    assert [stream.chunk(chunk, None) for chunk in chunks] == expected


def test_a_stream_goes_on_past_the_calls_that_were_answered() -> None:
    account = Account(prompt=5)
    stream = Stream(account)
    stream.chunk(delta(role="assistant", content=""), None)
    stream.chunk(called(0, "shown"), None)
    end = stream.chunk(delta("tool_calls"), ANSWERED)
    assert end is not None
    assert end["choices"][0]["finish_reason"] is None
    assert end["choices"][0]["paste_messages"][1] == {"role": "tool", "tool_call_id": "shown", "content": "rain"}
    assert stream.chunk({"choices": [], "usage": {"prompt_tokens": 5}}, ANSWERED) is None
    stream.next_turn()
    assert stream.chunk(delta(role="assistant", content=""), None) is None
    assert stream.chunk(called(0, "next"), None) == called(1, "next"), "a client puts deltas together by their index"
    assert stream.chunk(delta("tool_calls"), None) == delta("tool_calls")
    account.written, account.tools = 9, 4
    usage = stream.chunk(
        {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 2, "total_tokens": 72}}, None
    )
    assert usage is not None
    assert usage["usage"] == {"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14, "paste_tool_tokens": 4}


def test_an_error_passes() -> None:
    assert Stream(Account(prompt=1)).chunk({"error": {"message": "no"}}, None) == {"error": {"message": "no"}}


def test_messages_are_those_that_a_client_would_have_sent() -> None:
    assert answered_turn("I look.", [("a", "look", "{}"), ("b", "see", "{}")], ["rain", "sun"]) == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "see", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "rain"},
        {"role": "tool", "tool_call_id": "b", "content": "sun"},
    ]


def test_messages_keep_their_ids_where_others_do_not_fit() -> None:
    assert with_ids(ANSWERED, []) == ANSWERED
    assert with_ids(ANSWERED, ["new"])[0]["tool_calls"][0]["id"] == "new"
