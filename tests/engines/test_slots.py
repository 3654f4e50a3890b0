"""How full the cache of a llama.cpp server is."""

import json
from typing import Any

import pytest

from paste_proxy.engines.slots import kv_used


def slot(**more: Any) -> dict[str, Any]:
    return {"id": 0, "n_ctx": 1_000, "is_processing": True, **more}


def test_slots_in_use_fill_what_was_read_and_written() -> None:
    slots = [slot(n_prompt_tokens=300, next_token=[{"n_decoded": 100}]), slot(is_processing=False, n_prompt_tokens=900)]
    assert kv_used(json.dumps(slots).encode()) == pytest.approx(0.2)


def test_as_other_versions_tell_it() -> None:
    slots = [slot(n_past=250), slot(n_prompt_tokens=100, next_token={"n_decoded": 150}), slot(n_past=5_000), slot()]
    assert kv_used(json.dumps(slots).encode()) == pytest.approx(1.5 / 4)


@pytest.mark.parametrize(
    "document", [b"", b"{}", b"[]", b"[1]", b'{"error": {"code": 501}}', b'[{"n_ctx": "many"}]', b'[{"n_ctx": -1}]']
)
def test_what_says_nothing(document: bytes) -> None:
    assert kv_used(document) is None


def test_odd_values_count_for_nothing() -> None:
    slots = [slot(n_past="x", n_prompt_tokens=None, next_token=[7])]
    assert kv_used(json.dumps(slots).encode()) == 0
