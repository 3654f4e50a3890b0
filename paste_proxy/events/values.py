"""JSON values, read exactly.

orjson turns integers beyond 64 bits into floats, so two different order numbers could become equal.
Such texts are read with the standard library instead, which keeps them whole.
"""

import json
import re
from typing import TypeAlias

import orjson

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_MAY_HOLD_BIG_INTEGER = re.compile(rb"\d{19}")


def loads(text: bytes | str) -> Json:
    """The value of a JSON text.

    Raises:
        ValueError: the text is not JSON.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if _MAY_HOLD_BIG_INTEGER.search(raw):
        value: Json = json.loads(raw)
        return value
    parsed: Json = orjson.loads(raw)
    return parsed


def canonical_text(value: Json) -> str:
    """One text per value: keys sorted, no white space, `1`, `1.0` and `"1"` kept apart.

    Raises:
        ValueError: the value is not JSON (a set, a NaN, a key that is no string).
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
