"""Whatever a peer of the Gemini API sends, reading raises nothing."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.gemini import Gemini
from paste_proxy.wire.objectstream import ObjectDecoder
from tests.wire.reading import JSON, answered_by
from tests.wire.test_jsonspans import JSON as ANY_JSON
from tests.wire.test_jsonspans import SCALARS

WIRE = Gemini()
TARGET = "/v1beta/models/m:streamGenerateContent"
WORDS = """candidates content parts text thought functionCall function_call functionResponse name id args partialArgs
willContinue jsonPath stringValue numberValue nullValue response output error finishReason usageMetadata role index
promptFeedback blockReason promptTokenCount contents tools functionDeclarations systemInstruction request session_id"""
NAMES = st.sampled_from(WORDS.split())
VALUES = st.sampled_from(
    [
        "STOP",
        "MAX_TOKENS",
        "model",
        "user",
        "f",
        "$.a",
        "$.a[0]",
        "$['a'].b",
        "$",
        "$.a[99999999]",
        "\ud83d",
        "{}",
        True,
    ]
)
SHAPED: st.SearchStrategy[Any] = st.recursive(
    SCALARS | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)
ENTRY = st.fixed_dictionaries(
    {"jsonPath": st.sampled_from(["$.a", "$.a.b", "$.a[0]", "$.a[1].c", "$", "$.a["])},
    optional={"stringValue": st.text(max_size=3), "numberValue": SHAPED, "nullValue": SHAPED},
)
CALL = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from("fg") | SHAPED,
        "args": st.dictionaries(st.sampled_from("ab"), SHAPED, max_size=2) | SHAPED,
        "partialArgs": st.lists(ENTRY, max_size=3) | SHAPED,
        "willContinue": st.booleans(),
        "id": SHAPED,
    },
)
PART = st.fixed_dictionaries({"functionCall": CALL}) | SHAPED
CANDIDATE = st.fixed_dictionaries(
    {"content": st.fixed_dictionaries({"parts": st.lists(PART, max_size=4)})}, optional={"finishReason": VALUES}
)
CHUNK = st.fixed_dictionaries({"candidates": st.lists(CANDIDATE, max_size=2)}) | SHAPED | ANY_JSON


@given(SHAPED | ANY_JSON)
def test_any_json_reads(value: Any) -> None:
    contents = [{"role": role, "parts": value} for role in ("user", "model", "user")]
    for odd in (value, {"contents": value}, {"contents": contents}, {"contents": [value], "tools": value}):
        body = json.dumps(odd).encode()
        WIRE.read_request(body, target=TARGET)
        WIRE.read_request(b'{"request":' + body + b"}", target=TARGET)
        answered_by(WIRE, [body], content_type=JSON)


@given(st.lists(PART, max_size=5), SHAPED)
def test_any_turn_and_its_results_read(parts: list[Any], result: Any) -> None:
    results = [{"functionResponse": {"name": "f", "response": result}}, {"functionResponse": result}]
    contents = [{"role": "model", "parts": parts}, {"role": "user", "parts": results}]
    request = WIRE.read_request(json.dumps({"contents": contents}).encode(), target=TARGET)
    assert request is not None
    assert all(message.text.encode().decode() == message.text for message in request.messages)


@given(st.binary())
def test_any_bytes_read(body: bytes) -> None:
    WIRE.read_request(body, target=TARGET)
    answered_by(WIRE, [body], content_type=JSON)
    answered_by(WIRE, [b"data: " + body + b"\n\n"])


@given(st.lists(CHUNK, max_size=6), st.booleans())
def test_any_chunks_read_alike_in_both_forms_and_what_stands_at_the_end_was_given_before(
    chunks: list[Any], clean: bool
) -> None:
    stream = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    seen, end = answered_by(WIRE, [stream], clean=clean)
    assert list(end.calls) == seen
    assert end.text.encode().decode() == end.text
    assert [call.order for call in end.calls] == sorted({call.order for call in end.calls})
    only = [chunk for chunk in chunks if isinstance(chunk, dict)]
    if only == chunks:
        assert answered_by(WIRE, [json.dumps(chunks).encode()], clean=clean, content_type=JSON) == (seen, end)


@given(st.lists(st.dictionaries(st.text(), ANY_JSON, max_size=3), max_size=4), st.integers(1, 7), st.booleans())
def test_objects_come_out_of_an_array_as_they_went_in(objects: list[Any], size: int, indented: bool) -> None:
    body = json.dumps(objects, indent=2 if indented else None, ensure_ascii=False).encode("utf-8", "replace")
    decoder = ObjectDecoder()
    found = [one for at in range(0, len(body), size) for one in decoder.feed(body[at : at + size])]
    assert [json.loads(one) for one in found] == json.loads(body)


def test_depth_costs_no_fault() -> None:
    deep = b'{"a":' * 3000 + b"1" + b"}" * 3000
    for nested in (deep, deep.replace(b"1", b"12345678901234567890")):
        part = b'{"functionCall":{"name":"f","args":' + nested + b"}}"
        WIRE.read_request(b'{"contents":[{"role":"model","parts":[' + part + b"]}]}", target=TARGET)
        answered_by(WIRE, [b'[{"candidates":[{"content":{"parts":[' + part + b"]}}]}]"], content_type=JSON)
    path = "$" + ".a" * 3000
    entry = {"functionCall": {"name": "f", "partialArgs": [{"jsonPath": path, "numberValue": 1}]}}
    body = json.dumps({"candidates": [{"content": {"parts": [entry]}, "finishReason": "STOP"}]}).encode()
    assert not answered_by(WIRE, [body], content_type=JSON)[1].complete
