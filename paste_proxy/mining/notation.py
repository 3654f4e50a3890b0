"""How mappers and templates are written, in the JSON pool and in TOML alike, and how they are checked.

An argument is `{"constant": VALUE}` or `{"from": "output", "tool": "search", "take": "/results/*/url"}`, with
`"which": "each"` for every such event instead of the latest, `"last": true` for the last value only, and
`"form"`, `"frame"` for light normalisation. A template is `{"tool": T, "arguments": {NAME: ARGUMENT}}` or
`{"tool": T, "repeat": true}`.
"""

from collections.abc import Iterable

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.forms import FORMS, LISTED, SLOT
from paste_proxy.mining.mappers import AnyMapper, Constant, Mapper
from paste_proxy.mining.material import FILE, WORD
from paste_proxy.mining.mentions import KINDS
from paste_proxy.mining.neighbours import AFTER, BEFORE
from paste_proxy.mining.sources import ORIGINS, Source
from paste_proxy.mining.templates import AnyTemplate, Repeat, Template
from paste_proxy.mining.window import CALL, OUTPUT

_TAKES = f"a JSON pointer, {', '.join(KINDS)}, {FILE}, {WORD}SHAPE, {AFTER}WORD or {BEFORE}WORD"
_DEEPEST = 100
"""Levels of a value; far below where reading one might fail at some depth of calls and not at another."""
_MAPPER_KEYS = ("from", "tool", "which", "take", "form", "frame", "last")


def written_template(template: AnyTemplate) -> dict[str, Json]:
    """The JSON object of a template."""
    if isinstance(template, Repeat):
        return {"tool": template.tool, "repeat": True}
    return {"tool": template.tool, "arguments": {name: written_mapper(mapper) for name, mapper in template.arguments}}


def text_of(template: AnyTemplate) -> str:
    """One text per template."""
    return canonical_text(written_template(template))


def read_template(raw: dict[str, Json], where: str) -> AnyTemplate:
    """The template of a JSON object; keys beyond `tool`, `arguments` and `repeat` are another's business.

    Raises:
        InputFault: naming `where` and the key.
    """
    tool = raw.get("tool")
    if not isinstance(tool, str) or not tool:
        raise InputFault(f"{where}.tool", repr(tool), "the name of a tool")
    if raw.get("repeat") is True:
        return Repeat(tool)
    arguments = table(raw.get("arguments", {}), f"{where}.arguments")
    return Template(
        tool, tuple((name, read_mapper(one, f"{where}.arguments.{name}")) for name, one in sorted(arguments.items()))
    )


def table(raw: Json, where: str) -> dict[str, Json]:
    """A JSON object.

    Raises:
        InputFault: it is something else.
    """
    if not isinstance(raw, dict):
        raise InputFault(where, f"{raw!r:.60}", "a table")
    return raw


def written_mapper(mapper: AnyMapper) -> dict[str, Json]:
    """The JSON object of a mapper."""
    if isinstance(mapper, Constant):
        return {"constant": mapper.value}
    written: dict[str, Json] = {"from": mapper.source.origin}
    if mapper.source.tool:
        written["tool"] = mapper.source.tool
    if mapper.source.each:
        written["which"] = "each"
    written["take"] = mapper.take
    if mapper.form:
        written["form"] = mapper.form
    if mapper.frame:
        written["frame"] = mapper.frame
    if mapper.last:
        written["last"] = True
    return written


def read_mapper(raw: Json, where: str) -> AnyMapper:
    """The mapper of a JSON object.

    Raises:
        InputFault: naming `where` and the key.
    """
    written = table(raw, where)
    if "constant" in written:
        _only(written, ("constant",), where)
        return Constant(read_json(written["constant"], f"{where}.constant"))
    _only(written, _MAPPER_KEYS, where)
    take = written.get("take")
    if not isinstance(take, str) or not (take in (*KINDS, FILE) or take.startswith(("/", WORD, AFTER, BEFORE))):
        raise InputFault(f"{where}.take", repr(take), _TAKES)
    frame = written.get("frame", "")
    if not isinstance(frame, str) or (frame and frame != LISTED and SLOT not in frame):
        raise InputFault(f"{where}.frame", repr(frame), f"a text with {SLOT} in it, or {LISTED}")
    form = _choice(written, "form", FORMS, where)
    last = written.get("last", False)
    if not isinstance(last, bool):
        raise InputFault(f"{where}.last", repr(last), "true or false")
    return Mapper(_read_source(written, where), take, form, frame, last)


def read_json(value: Json, where: str) -> Json:
    """A value that a tool can be called with.

    Raises:
        InputFault: it is a date or an infinite number, as TOML has them, or nested beyond reason.
    """
    if not _shallow(value, _DEEPEST):
        raise InputFault(where, "is nested too deeply", f"a value of {_DEEPEST} levels at most")
    try:
        canonical_text(value)
    except (TypeError, ValueError) as fault:
        raise InputFault(where, f"{value!r:.60}", "a JSON value; write a date as a text") from fault
    return value


def readable(value: Json) -> bool:
    """Whether a value is nested no deeper than what can be read again."""
    return _shallow(value, _DEEPEST)


def _shallow(value: Json, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_shallow(one, levels - 1) for one in inner)


def _read_source(written: dict[str, Json], where: str) -> Source:
    origin = _choice(written, "from", ORIGINS, where)
    tool = written.get("tool", "")
    if not isinstance(tool, str) or (origin in (OUTPUT, CALL)) != bool(tool):
        expected = "the name of a tool, or *" if origin in (OUTPUT, CALL) else "no tool"
        raise InputFault(f"{where}.tool", repr(tool), expected)
    return Source(origin, tool, each=_choice(written, "which", ("", "each"), where) == "each")


def _choice(written: dict[str, Json], key: str, allowed: Iterable[str], where: str) -> str:
    value = written.get(key, "")
    if not isinstance(value, str) or value not in allowed:
        raise InputFault(f"{where}.{key}", repr(value), "one of " + ", ".join(filter(None, allowed)))
    return value


def _only(written: dict[str, Json], keys: tuple[str, ...], where: str) -> None:
    for key in written:
        if key not in keys:
            raise InputFault(f"{where}.{key}", "an unknown key", "one of " + ", ".join(keys))
