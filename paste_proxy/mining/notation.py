"""How mappers and templates are written, in the JSON pool and in TOML alike, and how they are checked.

An argument is `{"constant": VALUE}` or `{"from": "output", "tool": "search", "take": "/results/*/url"}`, with
`"which": "each"` for every such event instead of the latest, `"last": true` for the last value only, and
`"form"`, `"frame"` for light normalisation. `{"from": "call", "tool": "list", "take": "/page", "step": 1}` is one more
than the latest call's page; with `"step": "same"` it goes on as it did between the last two. A text with several holes
is `{"text": "cd {a} && pytest {b} -q", "holes": {"a": ARGUMENT, "b": ARGUMENT}}`; a word in braces that is none of
them has the braces twice: `{{HOME}}` stands for `{HOME}`.

A template is `{"tool": T, "arguments": {NAME: ARGUMENT}}` or `{"tool": T, "repeat": true}`.
"""

from collections.abc import Iterable

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, brief, canonical_text
from paste_proxy.mining.algebra import AnyMapper
from paste_proxy.mining.filled import (
    LONGEST_TEXT,
    MOST_HOLES,
    MOST_PLACES,
    Filled,
    Filler,
    doubled,
    parts_of,
    sourceless,
    undoubled,
)
from paste_proxy.mining.forms import FORMS, LISTED, SLOT
from paste_proxy.mining.mappers import Constant, Mapper
from paste_proxy.mining.material import FILE, WORD
from paste_proxy.mining.mentions import KINDS
from paste_proxy.mining.neighbours import AFTER, BEFORE
from paste_proxy.mining.relative import BELOW, FOLDER, is_relative
from paste_proxy.mining.sources import ORIGINS, Source
from paste_proxy.mining.steps import LARGEST_STEP, Step
from paste_proxy.mining.templates import AnyTemplate, Repeat, Template
from paste_proxy.mining.window import CALL, OUTPUT

_TAKES = f"a JSON pointer, {', '.join(KINDS)}, {FILE}, {WORD}SHAPE, {AFTER}WORD or {BEFORE}WORD"
_FORMS = f"one of {', '.join(filter(None, FORMS))}, {BELOW}FOLDER or {FOLDER}FOLDER"
_DEEPEST = 100
"""Levels of a value; far below where reading one might fail at some depth of calls and not at another."""
_MAPPER_KEYS = ("from", "tool", "which", "take", "form", "frame", "last")
_STEP_KEYS = ("from", "tool", "take", "step")
_FILLED_KEYS = ("text", "holes")
_SAME = "same"


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
        raise InputFault(f"{where}.tool", shown(tool), "the name of a tool")
    arguments, repeat = table(raw.get("arguments", {}), f"{where}.arguments"), raw.get("repeat", False)
    if not isinstance(repeat, bool):
        raise InputFault(f"{where}.repeat", shown(repeat), "true or false")
    if repeat and arguments:
        raise InputFault(f"{where}.arguments", "given with repeat", "either of them")
    if repeat:
        return Repeat(tool)
    return Template(
        tool, tuple((name, read_mapper(one, f"{where}.arguments.{name}")) for name, one in sorted(arguments.items()))
    )


def table(raw: Json, where: str) -> dict[str, Json]:
    """A JSON object.

    Raises:
        InputFault: it is something else.
    """
    if not isinstance(raw, dict):
        raise InputFault(where, shown(raw), "a table")
    return raw


def shown(value: Json) -> str:
    """A value that stands where another was expected, for a fault."""
    return "nothing" if value is None else brief(value)


def written_mapper(mapper: AnyMapper) -> dict[str, Json]:
    """The JSON object of a mapper."""
    match mapper:
        case Constant(value):
            return {"constant": value}
        case Filled(text, holes):
            return {"text": doubled(text, dict(holes)), "holes": {name: written_mapper(hole) for name, hole in holes}}
        case Step(source, take, by):
            return {**_written_source(source), "take": take, "step": by or _SAME}
        case Mapper(source, take, form, frame, last):
            light: dict[str, Json] = {"form": form, "frame": frame, "last": last}
            return {**_written_source(source), "take": take, **{key: value for key, value in light.items() if value}}


def _written_source(source: Source) -> dict[str, Json]:
    written: dict[str, Json] = {"from": source.origin}
    if source.tool:
        written["tool"] = source.tool
    if source.each:
        written["which"] = "each"
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
    return _read_filled(written, where) if "text" in written else _read_filler(written, where)


def _read_filled(written: dict[str, Json], where: str) -> Filled:
    _only(written, _FILLED_KEYS, where)
    text, holes = written["text"], table(written.get("holes"), f"{where}.holes")
    if not 0 < len(holes) <= MOST_HOLES:
        raise InputFault(f"{where}.holes", f"{len(holes)} of them", f"1 to {MOST_HOLES}")
    if not isinstance(text, str) or len(undoubled(text, holes)) > LONGEST_TEXT:
        raise InputFault(f"{where}.text", shown(text), f"a text of {LONGEST_TEXT} characters at most")
    if (name := sourceless(text, holes)) is not None:
        expected = f"where {{{name}}} comes from, or {{{{{name}}}}} for the word in braces"
        raise InputFault(f"{where}.holes", f"nothing for {{{name}}}", expected)
    text = undoubled(text, holes)
    parts = list(parts_of(text, set(holes)))
    for name in holes:
        if name not in parts[1::2]:
            raise InputFault(f"{where}.text", shown(text), f"a text with {{{name}}} in it")
    if len(parts) // 2 > MOST_PLACES:
        raise InputFault(f"{where}.text", f"{len(parts) // 2} holes", f"{MOST_PLACES} at most")
    if "" in parts[2:-1:2] or not any(part.strip() for part in parts[::2]):
        raise InputFault(f"{where}.text", shown(text), "holes with something between them")
    read = ((name, _read_hole(hole, f"{where}.holes.{name}")) for name, hole in sorted(holes.items()))
    return Filled(text, tuple(read))


def _read_hole(raw: Json, where: str) -> Filler:
    written = table(raw, where)
    for key in ("constant", *_FILLED_KEYS):
        if key in written:
            raise InputFault(f"{where}.{key}", "what no hole is filled with", "a value from the session")
    return _read_filler(written, where)


def _read_filler(written: dict[str, Json], where: str) -> Filler:
    _only(written, _STEP_KEYS if "step" in written else _MAPPER_KEYS, where)
    take = written.get("take")
    if not isinstance(take, str) or not (take in (*KINDS, FILE) or take.startswith(("/", WORD, AFTER, BEFORE))):
        raise InputFault(f"{where}.take", shown(take), _TAKES)
    if "step" in written:
        return Step(_read_source(written, where), take, _read_step(written["step"], f"{where}.step"))
    frame = written.get("frame", "")
    if not isinstance(frame, str) or (frame and frame != LISTED and SLOT not in frame):
        raise InputFault(f"{where}.frame", shown(frame), f"a text with {SLOT} in it, or {LISTED}")
    form = written.get("form", "")
    if not isinstance(form, str) or not (form in FORMS or is_relative(form)):
        raise InputFault(f"{where}.form", shown(form), _FORMS)
    last = written.get("last", False)
    if not isinstance(last, bool):
        raise InputFault(f"{where}.last", shown(last), "true or false")
    return Mapper(_read_source(written, where), take, form, frame, last)


def _read_step(step: Json, where: str) -> int:
    if step == _SAME:
        return 0
    if isinstance(step, bool) or not isinstance(step, int) or not 0 < abs(step) <= LARGEST_STEP:
        raise InputFault(where, shown(step), f"{_SAME!r}, or a whole number other than 0, up to {LARGEST_STEP}")
    return step


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
        raise InputFault(where, shown(value), "a JSON value; write a date as a text") from fault
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
        raise InputFault(f"{where}.tool", shown(tool), expected)
    return Source(origin, tool, each=_choice(written, "which", ("", "each"), where) == "each")


def _choice(written: dict[str, Json], key: str, allowed: Iterable[str], where: str) -> str:
    value = written.get(key, "")
    if not isinstance(value, str) or value not in allowed:
        raise InputFault(f"{where}.{key}", shown(value), "one of " + ", ".join(filter(None, allowed)))
    return value


def _only(written: dict[str, Json], keys: tuple[str, ...], where: str) -> None:
    for key in written:
        if key not in keys:
            raise InputFault(f"{where}.{key}", "an unknown key", "one of " + ", ".join(keys))
