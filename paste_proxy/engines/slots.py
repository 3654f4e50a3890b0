"""How full the cache of a llama.cpp server is, from its `/slots`: where it has no metric of that."""

from typing import TypeAlias, cast

import orjson

_Slot: TypeAlias = dict[str, object]


def kv_used(document: bytes) -> float | None:
    """Share of all slots' contexts that those in use fill, 0 to 1; None: the document does not say."""
    try:
        slots = orjson.loads(document)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(slots, list) or not all(isinstance(slot, dict) for slot in slots):
        return None
    room = sum(_number(slot, "n_ctx") for slot in slots)
    return sum(_filled(slot) for slot in slots) / room if room else None


def _filled(slot: _Slot) -> float:
    if not slot.get("is_processing"):
        return 0.0
    written = _number(slot, "n_past") or _number(slot, "n_prompt_tokens") + _decoded(slot)
    return min(written, _number(slot, "n_ctx"))


def _decoded(slot: _Slot) -> float:
    """Servers tell it in an object, or in a list of one."""
    told = slot.get("next_token")
    if isinstance(told, list):
        told = next(iter(told), None)
    return _number(cast("_Slot", told), "n_decoded") if isinstance(told, dict) else 0.0


def _number(slot: _Slot, name: str) -> float:
    value = slot.get(name)
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0
