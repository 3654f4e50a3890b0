"""Patterns that people write, in TOML.

    [[pattern]]
    id = "first-result"
    tool = "fetch"
    after = "ok search"          # a context, see `contexts`; leave it out for any
    confidence = 0.4             # what its author believes, weighed like forty occurrences
    arguments.url = { from = "output", tool = "search", take = "url" }

`paste-proxy mine --patterns` puts them through the same validation as mined ones; a pool read straight
from TOML goes by its author's word.
"""

from paste_proxy.errors import InputFault
from paste_proxy.events.redaction import Redactor
from paste_proxy.events.toml import read_toml
from paste_proxy.events.values import Json
from paste_proxy.mining.contexts import typo_in
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.mappers import Constant
from paste_proxy.mining.notation import read_template, shown, table
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.templates import Template

_KEYS = ("id", "tool", "after", "confidence", "arguments", "repeat")
_WORTH = 40


def read_handwritten(text: str, where: str) -> Pool:
    """The patterns of a TOML text; `where` names it in faults.

    Raises:
        InputFault: naming the key that is wrong, what stands there and what was expected.
    """
    raw: dict[str, Json] = read_toml(text, where, "[[pattern]] tables")
    for key in raw:
        if key != "pattern":
            raise InputFault(f"{where}: {key}", "an unknown key", "[[pattern]] tables")
    patterns = raw.get("pattern")
    if not isinstance(patterns, list) or not patterns:
        found = "no pattern" if patterns in (None, []) else shown(patterns)
        raise InputFault(f"{where}: pattern", found, "[[pattern]] tables")
    read = tuple(_read(one, f"{where}: pattern[{at}]") for at, one in enumerate(patterns))
    for at, pattern in enumerate(read):
        if pattern.id in (before.id for before in read[:at]):
            raise InputFault(f"{where}: pattern[{at}].id", f"{shown(pattern.id)} again", "a name of its own")
    return Pool(read)


def holds_secret(pattern: Pattern) -> bool:
    """Whether what it was written with looks like a secret: a constant, by its argument's name too, or other text."""
    redactor = Redactor(b"")
    return any(
        redactor.value({name: mapper.value}) != {name: mapper.value}
        if isinstance(mapper, Constant)
        else redactor.text(mapper.frame) != mapper.frame
        for name, mapper in (pattern.template.arguments if isinstance(pattern.template, Template) else ())
    )


def _read(raw: Json, where: str) -> Pattern:
    written = table(raw, where)
    for key in written:
        if key not in _KEYS:
            raise InputFault(f"{where}.{key}", "an unknown key", "one of " + ", ".join(_KEYS))
    name, after = written.get("id"), written.get("after", "")
    if not isinstance(name, str) or not name:
        raise InputFault(f"{where}.id", shown(name), "a name")
    if not isinstance(after, str):
        raise InputFault(
            f"{where}.after",
            shown(after),
            "one text such as 'ok search', or several signatures in it: 'user > ok:text:search'",
        )
    typo = typo_in(after)
    if typo is not None:
        raise InputFault(f"{where}.after", *typo)
    believed = written.get("confidence")
    if not isinstance(believed, int | float) or isinstance(believed, bool) or not 0 < believed <= 1:
        raise InputFault(f"{where}.confidence", shown(believed), "a number above 0, up to 1")
    hits = round(_WORTH * believed)
    counts = {after: Count(_WORTH, hits, hits)}
    if after:
        counts[""] = Count(_WORTH)
    return Pattern(read_template(written, where), (counts,), id=name, believed=float(believed))
