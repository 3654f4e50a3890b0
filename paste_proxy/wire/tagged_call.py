"""A tool call written as text: what stands between `<tool_call>` and `</tool_call>`.

`{"name": .., "arguments": {..}}`, JSON or what JSON5 makes of it; code may follow in `<code>` tags, where
it need not be escaped.
"""

from hashlib import blake2b

import pyjson5

from paste_proxy.events.values import Json, loads
from paste_proxy.wire.digest import whole_arguments
from paste_proxy.wire.loose import mapping, string

_CODE = "<code>"
_INTERPRETER = "PythonInterpreter"


def read_block(block: str, *, code_is_python: bool) -> tuple[str, dict[str, Json], str] | None:
    """Name, arguments and canonical arguments of the call; None if the agent cannot read one from it.

    Args:
        code_is_python: the agent takes any call in which the word python stands for code of its interpreter,
            whatever else it says, and refuses it without code. So does Qwen DeepResearch.
    """
    code = block.split(_CODE)[1].partition("</code>")[0].strip() if _CODE in block else None
    if code_is_python and is_code(block):
        return _whole(_INTERPRETER, {"code": code}) if code is not None else None
    fields = mapping(_read(block.partition(_CODE)[0]))
    given = fields.get("arguments")
    if code is not None:
        given = {**mapping(given), "code": code}
    return _whole(string(fields.get("name")), given)


def is_code(text: str) -> bool:
    """Whether that agent takes a call for code by this much of it."""
    return "python" in text.lower()


def made_up_id(order: int, name: str, canonical: str) -> str:
    """An id for a call that has none: the same for the streamed call and for its echo in the history."""
    what = f"{name} {canonical}".encode("utf-8", "surrogatepass")
    return f"text-{order}-{blake2b(what, digest_size=8).hexdigest()}"


def _whole(name: str, given: Json) -> tuple[str, dict[str, Json], str] | None:
    whole = whole_arguments(given) if given is None or isinstance(given, str | dict) else None
    return (name, *whole) if whole and name else None


def _read(text: str) -> Json:
    try:
        return loads(text)
    except ValueError:
        pass
    try:
        value: Json = pyjson5.loads(text)
    except (pyjson5.Json5Exception, ValueError, RecursionError):
        return None
    return value
