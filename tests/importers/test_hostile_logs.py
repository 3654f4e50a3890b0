"""Broken and malicious logs of every form: an import ends well or with a fault that names what is wrong."""

import json
import random
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.events.codec import encode
from paste_proxy.events.values import Json
from paste_proxy.importers import detection
from paste_proxy.importers.formats import FORMATS
from paste_proxy.importers.records import Corrupt
from tests.importers.scripted import EXAMPLE
from tests.importers.writers import WRITERS

_ODD: tuple[Json, ...] = (
    None, True, -1, 0, 1e308, 10**30, "", "x", "\ud800", "9" * 40, "2026-13-45T99:99:99Z", "0001-01-01T00:00:00+14:00",
    [], {}, [None], {"": {}}, [[[]]], {"text": 1}, "{", '{"a": ' * 200, [{"type": "text"}], {"time": {"end": "x"}},
)  # fmt: skip


def try_to_read(form: str, path: Path) -> None:
    """Read and write everything; an input fault is the only fault that may come of it."""
    for skip in (False, True):
        with suppress(InputFault):
            for session in FORMATS[form].read([path], Corrupt(skip=skip)):
                for seq, event in enumerate(session.events):
                    encode(event, seq)


def mutated(value: Json, choose: random.Random) -> Json:
    """The value with odd things in some of its places."""
    if choose.random() < 0.03:
        return choose.choice(_ODD)
    match value:
        case dict():
            kept = {key: mutated(inner, choose) for key, inner in value.items() if choose.random() > 0.02}
            return kept | (
                {choose.choice(list(value)): choose.choice(_ODD)} if value and choose.random() < 0.05 else {}
            )
        case list():
            inside = [mutated(inner, choose) for inner in value]
            return inside + inside[:1] if choose.random() < 0.1 else inside
        case _:
            return value


@pytest.mark.parametrize("form", WRITERS)
@settings(max_examples=60, deadline=None)
@given(choose=st.randoms(use_true_random=False))
def test_odd_values_anywhere(form: str, choose: random.Random) -> None:
    with TemporaryDirectory() as folder:
        path = WRITERS[form][0](Path(folder), EXAMPLE)
        text = path.read_text()
        values = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
        path.write_text("\n".join(json.dumps(mutated(value, choose)) for value in values) + "\n")
        try_to_read(form, path)


@pytest.mark.parametrize("form", WRITERS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_broken_bytes_anywhere(form: str, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = WRITERS[form][0](Path(folder), EXAMPLE)
        raw = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            place = data.draw(st.integers(0, len(raw) - 1))
            raw[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
        try_to_read(form, path)


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("other", WRITERS)
def test_a_file_of_another_form(form: str, other: str, tmp_path: Path) -> None:
    try_to_read(form, WRITERS[other][0](tmp_path, EXAMPLE))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n\n", b"{}", b"[]", b"null\n", b"[[[]]]\n", b"\x00\xff", b"\x1f\x8b\x08", b"[" * 3_000,
        b'{"a":' * 3_000,
        b'{"type":"user","sessionId":"s","uuid":"u","message":{"content":' + b"[" * 900 + b"]" * 900 + b"}}\n",
    ],
)  # fmt: skip
def test_files_of_nothing(form: str, content: bytes, tmp_path: Path) -> None:
    for name in ("session-x.jsonl", "x.json", "x.traj", "x.db"):
        path = tmp_path / name
        path.write_bytes(content)
        try_to_read(form, path)
        with suppress(InputFault):
            detection.form_of(path)


def test_a_deeply_nested_answer_does_not_stop_a_session_from_being_read(tmp_path: Path) -> None:
    deep = '{"a":' * 950 + "1" + "}" * 950
    messages = '[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"t",'
    messages += f'"arguments":{deep}}}}}]}},{{"role":"tool","tool_call_id":"a","content":{deep}}}]\n'
    path = tmp_path / "deep.jsonl"
    path.write_text(messages)
    try_to_read("openai-messages", path)
