"""What a Gemini request says, and how its results find their calls."""

import json
from dataclasses import replace
from typing import Any

import pytest

from paste_proxy.wire.gemini import Gemini
from paste_proxy.wire.types import LlmRequest, Message, SeenOutput
from tests.wire.gemini_streams import call, response, said, sse
from tests.wire.reading import answered_by, request_of

TARGET = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
LOOK = {"functionDeclarations": [{"name": "look"}, {"name": "find"}]}
UNTRUSTED = "<untrusted_context>\nEcho: hi\nho\n</untrusted_context>"
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}


def read(*contents: Any, target: str = TARGET, **fields: Any) -> LlmRequest:
    return request_of(Gemini(), {"contents": list(contents), **fields}, target)


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def result(name: str, response: Any = None, **fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **fields}}


def outputs(messages: tuple[Message, ...]) -> list[SeenOutput]:
    return [message.output for message in messages if message.output]


@pytest.mark.parametrize(
    ("target", "model", "stream"),
    [
        (TARGET, "gemini-2.5-pro", True),
        ("/run/r42/v1beta/models/gemini-2.5-pro:generateContent?key=k", "gemini-2.5-pro", False),
        ("/v1beta/models/gemini-2.5-pro%3AstreamGenerateContent", "gemini-2.5-pro", True),
        ("/v1beta/models%2Fgemini-2.5-pro%3agenerateContent", "gemini-2.5-pro", False),
        (
            "/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-3:streamGenerateContent",
            "gemini-3",
            True,
        ),
        ("/v1/projects/p/locations/l/endpoints/1234:generateContent", "1234", False),
    ],
)
def test_b54_model_and_verb_stand_in_the_path(target: str, model: str, stream: bool) -> None:
    request = read(user(said("hi")), target=target)
    assert (request.model, request.stream) == (model, stream)


@pytest.mark.parametrize("verb", ["countTokens", "embedContent", "batchGenerateContent", "predict"])
def test_other_verbs_are_no_turns(verb: str) -> None:
    body = json.dumps({"contents": [user(said("hi"))]}).encode()
    assert Gemini().read_request(body, target=f"/v1beta/models/m:{verb}") is None


@pytest.mark.parametrize("body", [b"", b"[]", b'{"contents":[]}', b'{"contents":"x"}', b'{"request":{}}'])
def test_a_body_without_contents_is_none(body: bytes) -> None:
    assert Gemini().read_request(body, target=TARGET) is None


def test_code_assist_wraps_the_request_and_names_the_session() -> None:
    inner = {"contents": [user(said("hi"))], "tools": [LOOK], "session_id": "s-1"}
    body = {"model": "gemini-3", "project": "p", "user_prompt_id": "u", "request": inner}
    request = request_of(Gemini(), body, "/v1internal:streamGenerateContent?alt=sse")
    assert (request.model, request.stream, request.session_hint, request.utility) == ("gemini-3", True, "s-1", False)
    assert request.messages == read(*inner["contents"]).messages
    assert request.tools == ("look", "find")


def test_both_spellings_of_fields_are_read() -> None:
    plain = read(
        user(said("hi")),
        model(call("look", {"x": 1})),
        user(result("look", {"output": "1"})),
        systemInstruction={"parts": [said("be")]},
        tools=[LOOK],
    )
    proto = read(
        user(said("hi")),
        model({"function_call": {"name": "look", "args": {"x": 1}}}),
        user({"function_response": {"name": "look", "response": {"output": "1"}}}),
        system_instruction={"parts": [said("be")]},
        tools=[{"function_declarations": LOOK["functionDeclarations"]}],
    )
    assert replace(plain, offered=()) == replace(proto, offered=())
    assert [m.role for m in plain.messages] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize(
    ("fields", "utility"),
    [
        ({}, True),
        ({"tools": [LOOK]}, False),
        ({"tools": [{"googleSearch": {}}]}, True),
        ({"tools": [{"codeExecution": {}}, {"urlContext": {}}]}, True),
        ({"tools": [{"googleSearch": {}}, LOOK]}, False),
        ({"tools": [{"computerUse": {"environment": "ENVIRONMENT_BROWSER"}}]}, False),
        ({"tools": [{"functionDeclarations": []}]}, True),
        ({"generationConfig": {"responseJsonSchema": {}}}, True),
        ({"generationConfig": {"responseSchema": {}}, "tools": [LOOK]}, False),
    ],
)
def test_a_request_that_offers_the_agent_no_tool_is_a_side_question(fields: dict[str, Any], utility: bool) -> None:
    assert read(user(said("hi")), **fields).utility is utility


def test_several_results_are_a_message_each_and_what_else_is_said_comes_after_them() -> None:
    request = read(
        model(call("look", {}, id="a"), call("find", {}, id="b")),
        user(said("go on"), result("look", {"output": "1"}, id="a"), result("find", {"error": "no"}, id="b"), IMAGE),
    )
    assert [(m.role, m.text) for m in request.messages[1:]] == [("tool", "1"), ("tool", "no"), ("user", "go on")]
    assert outputs(request.messages) == [
        SeenOutput(call_id="a", output="1"),
        SeenOutput(call_id="b", output="no", failed=True),
    ]


@pytest.mark.parametrize(
    ("given", "output", "failed"),
    [
        ({"output": "text"}, "text", False),
        ({"output": {"a": [1]}}, {"a": [1]}, False),
        ({"result": 3}, 3, False),
        ({"output": "text", "took_ms": 3}, {"output": "text", "took_ms": 3}, False),
        ({"temperature": 3}, {"temperature": 3}, False),
        ({"error": {"code": 3}}, {"code": 3}, True),
        ({"error": "no", "output": "half"}, {"error": "no", "output": "half"}, True),
        ({"error": None, "output": "x"}, {"error": None, "output": "x"}, False),
        ({"output": UNTRUSTED}, "Echo: hi\nho", False),
        ({"error": UNTRUSTED}, "Echo: hi\nho", True),
        ({"output": UNTRUSTED + " y"}, UNTRUSTED + " y", False),
        ({}, {}, False),
        (None, None, False),
        ("text", "text", False),
    ],
)
def test_an_output_is_what_the_tool_said_without_its_envelopes(given: Any, output: Any, failed: bool) -> None:
    (seen,) = outputs(read(user(result("look", given, id="a"))).messages)
    assert (seen.output, seen.failed) == (output, failed)


def test_the_models_contents_in_a_row_are_one_turn_and_thoughts_and_empty_text_none_of_it() -> None:
    one = read(model(said("I look."), call("look", {"x": 1}, signature="c2ln"))).messages
    cut = read(
        model(said("so", thought=True)),
        model(said("I ")),
        model(said("look."), said("")),
        model(call("look", {"x": 1}), said("", thoughtSignature="c2ln")),
    ).messages
    assert one == cut
    assert len(one) == 1
    streamed = answered_by(Gemini(), [sse(response(said("I look.")), response(call("look", {"x": 1}), finish="STOP"))])[
        1
    ]
    assert one[0].digest == streamed.digest
    assert one[0].calls == streamed.calls


STREAM = [response(call("look", {"x": 1}), call("look", {"x": 1})), response(call("find", {}), finish="STOP")]


def ids_of(calls: list[dict[str, Any]], results: list[dict[str, Any]]) -> list[str]:
    """Ids of the outputs, in a request with these calls and results."""
    return [seen.call_id for seen in outputs(read(model(*calls), user(*results)).messages)]


class TestPairing:
    SEALED = tuple(seen.call_id for seen in answered_by(Gemini(), [sse(*STREAM)])[0])

    def test_calls_without_ids_have_different_ones(self) -> None:
        assert len(set(self.SEALED)) == 3
        assert all(self.SEALED)

    @pytest.mark.parametrize(
        "made",
        [
            ["look_1796072645771_0", "look_1796072645772_1", "find_1796072645772_2"],
            ["adk-1f", "adk-2f", "adk-3f"],
            ["pyd_ai_1f", "pyd_ai_2f", "pyd_ai_3f"],
            [f"c3d7a1f0-0b1e-4c5e-9d55-0a1b2c3d4e5{n}" for n in range(3)],
        ],
        ids=["gemini-cli", "google-adk", "pydantic-ai", "uuid"],
    )
    def test_an_id_that_the_client_made_up_is_read_back_to_the_sealed_calls(self, made: list[str]) -> None:
        names, args = ["look", "look", "find"], [{"x": 1}, {"x": 1}, {}]
        calls = [call(name, given, id=own) for name, given, own in zip(names, args, made, strict=True)]
        results = [result(name, {"output": ""}, id=own) for name, own in zip(names, made, strict=True)]
        assert ids_of(calls, results) == list(self.SEALED)
        assert ids_of(calls, results[::-1]) == list(self.SEALED[::-1])
        assert ids_of(calls, [result(name, {}) for name in names]) == list(self.SEALED)

    def test_without_ids_results_are_paired_by_name_and_order(self) -> None:
        calls = [call("look", {"x": 1}), call("look", {"x": 1}), call("find", {})]
        assert ids_of(calls, [result("find"), result("look"), result("look")]) == [self.SEALED[n] for n in (2, 0, 1)]
        assert ids_of(calls, [result("other")]) == [""]

    def test_results_may_come_in_contents_of_their_own(self) -> None:
        messages = read(
            model(call("look", {"x": 1}), call("look", {"x": 1})),
            {"role": "function", "parts": [result("look")]},
            {"parts": [result("look"), said("and")]},
        ).messages
        assert [seen.call_id for seen in outputs(messages)] == list(self.SEALED[:2])
        assert messages[-1].role == "user"

    def test_an_id_of_the_model_is_kept_on_both_sides(self) -> None:
        (sealed,) = answered_by(Gemini(), [sse(response(call("look", {}, id="fc_7"), finish="STOP"))])[0]
        assert sealed.call_id == "fc_7"
        assert ids_of([call("look", {}, id="fc_7")], [result("look", id="fc_7")]) == ["fc_7"]
        assert ids_of([], [result("look", id="fc_7")]) == ["fc_7"]
        assert ids_of([call("look", {}, id="fc_7")], [result("look", id="fc_8")]) == ["fc_8"]

    def test_b38_one_id_twice_is_two_calls(self) -> None:
        calls = [call("look", {"x": 1}, id="c"), call("look", {"x": 2}, id="c")]
        request = read(model(*calls), user(result("look", id="c"), result("look", id="c")))
        assert [(c.order, c.call_id, c.arguments) for c in request.messages[0].calls] == [
            (0, "c", {"x": 1}),
            (1, "c", {"x": 2}),
        ]
        assert [seen.call_id for seen in outputs(request.messages)] == ["c", "c"]

    def test_a_result_answers_the_latest_turn(self) -> None:
        turn = [model(call("look", {"x": 1})), user(result("look", {"output": "1"}))]
        later = [model(call("look", {"x": 2})), user(result("look", {"output": "2"}))]
        first, second = (seen.call_id for seen in outputs(read(*turn, *later).messages))
        assert first == self.SEALED[0]
        assert first != second


def test_what_is_no_text_counts_in_a_digest() -> None:
    first, second = read(user(said("a"), IMAGE)).messages + read(user(said("a"))).messages
    assert (first.text, second.text) == ("a", "a")
    assert first.digest != second.digest
