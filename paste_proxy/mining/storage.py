"""The pool as a JSON text: versioned, readable, one pattern a line; of a pool with one model at most."""

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, brief, canonical_text, loads
from paste_proxy.mining.calibration import read_calibration
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.forecast.storage import dump_model, load_model
from paste_proxy.mining.handwritten import read_handwritten
from paste_proxy.mining.notation import read_template, table, written_template
from paste_proxy.mining.outlook import Outlook
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Origin, Pool, ToolFacts

FORMAT = "paste-proxy patterns"
VERSION = 1

_LARGEST = 2**53
"""Up to here a double holds every whole number."""


def dump_pool(pool: Pool) -> str:
    """The JSON text of a pool."""
    head: list[tuple[str, Json]] = [
        ("format", FORMAT),
        ("version", VERSION),
        ("mined", _written_origin(pool.origin)),
        ("tools", {tool: _written_facts(facts) for tool, facts in pool.tools.items()}),
        ("calibration", [list(step) for step in pool.calibration.steps]),
    ]
    lines = [f"{canonical_text(key)}: {canonical_text(value)}" for key, value in head]
    patterns = ",\n".join(_one_line(_written_pattern(pattern)) for pattern in pool.patterns)
    lines += [f'"model": {dump_model(model)}' for model in pool.models]
    text = "{\n" + ",\n".join([*lines, f'"patterns": [\n{patterns}\n]']) + "\n}\n"
    return text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair, escaped as JSON has it


def load_pool(text: str, where: str) -> Pool:
    """The pool of a JSON text; `where` names it in faults.

    Raises:
        InputFault: naming the key that is wrong, what stands there and what was expected.
    """
    try:
        raw = loads(text)
    except ValueError as fault:
        raise InputFault(where, f"is not JSON ({fault})", "a pool written by `paste-proxy mine`") from fault
    try:
        return _read_pool(raw, where)
    except RecursionError as fault:
        raise InputFault(where, "is nested too deeply", "a pool written by `paste-proxy mine`") from fault


def _read_pool(raw: Json, where: str) -> Pool:
    top = table(raw, where)
    if top.get("format") != FORMAT:
        raise InputFault(f"{where}: format", brief(top.get("format")), f"{FORMAT!r}")
    if top.get("version") != VERSION:
        raise InputFault(f"{where}: version", brief(top.get("version")), f"{VERSION}, or a newer paste-proxy")
    patterns = _list(top.get("patterns"), f"{where}: patterns")
    tools = table(top.get("tools", {}), f"{where}: tools")
    weighed = "model" in top
    read = tuple(_read_pattern(one, f"{where}: patterns[{at}]", weighed) for at, one in enumerate(patterns))
    return Pool(
        patterns=read,
        models=(load_model(top["model"], f"{where}: model", Outlook(read)),) if weighed else (),
        tools={tool: _read_facts(facts, f"{where}: tools.{tool}") for tool, facts in tools.items()},
        calibration=read_calibration(top.get("calibration", []), f"{where}: calibration"),
        origin=_read_origin(top.get("mined", {}), f"{where}: mined"),
    )


def _one_line(value: dict[str, Json]) -> str:
    return "{" + ", ".join(f"{canonical_text(key)}: {canonical_text(item)}" for key, item in value.items()) + "}"


def _written_pattern(pattern: Pattern) -> dict[str, Json]:
    ranks: list[Json] = [
        {context: [count.seen, count.next, count.ever] for context, count in counts.items()} for counts in pattern.ranks
    ]
    return {"id": pattern.id, **written_template(pattern.template), "groups": pattern.groups, "ranks": ranks}


def _read_pattern(raw: Json, where: str, weighed: bool) -> Pattern:
    written = table(raw, where)
    template = read_template(written, where)
    name = written.get("id")
    if not isinstance(name, str):
        raise InputFault(f"{where}.id", brief(name), "a text")
    ranks = _list(written.get("ranks"), f"{where}.ranks")
    return Pattern(
        template,
        tuple(_read_counts(counts, f"{where}.ranks[{rank}]") for rank, counts in enumerate(ranks)),
        _count(written.get("groups", 0), f"{where}.groups"),
        name,
        weighed=weighed,
    )


def _read_counts(raw: Json, where: str) -> dict[str, Count]:
    return {context: _read_count(count, f"{where}[{context!r}]") for context, count in table(raw, where).items()}


def _read_count(raw: Json, where: str) -> Count:
    numbers = [_count(number, where) for number in _list(raw, where)]
    if len(numbers) != 3 or not numbers[1] <= numbers[2] <= numbers[0]:
        raise InputFault(where, brief(raw), "[seen, next, ever] with next <= ever <= seen")
    return Count(*numbers)


def _written_facts(facts: ToolFacts) -> Json:
    return {"calls": facts.calls, "median_s": facts.median_s}


def _read_facts(raw: Json, where: str) -> ToolFacts:
    written = table(raw, where)
    seconds = written.get("median_s")
    if seconds is None:
        return ToolFacts(_count(written.get("calls", 0), f"{where}.calls"))
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 <= seconds <= _LARGEST:
        raise InputFault(f"{where}.median_s", brief(seconds), "seconds or null")
    return ToolFacts(_count(written.get("calls", 0), f"{where}.calls"), seconds)


def _written_origin(origin: Origin) -> Json:
    return {
        "sessions": origin.sessions,
        "groups": origin.groups,
        "calls": origin.calls,
        "sources": list(origin.sources),
        **({"ids": list(origin.ids)} if origin.ids else {}),
        **({"tasks": list(origin.tasks)} if origin.tasks else {}),
        **({"sampled_from": origin.sampled_from} if origin.sampled_from else {}),
    }


def _read_origin(raw: Json, where: str) -> Origin:
    written = table(raw, where)
    sources = _list(written.get("sources", []), f"{where}.sources")
    numbers = [_count(written.get(key, 0), f"{where}.{key}") for key in ("sessions", "groups", "calls")]
    ids, tasks = (tuple(map(str, _list(written.get(key, []), f"{where}.{key}"))) for key in ("ids", "tasks"))
    sampled_from = _count(written.get("sampled_from", 0), f"{where}.sampled_from")
    return Origin(numbers[0], numbers[1], numbers[2], tuple(map(str, sources)), ids, tasks, sampled_from)


def _list(raw: Json, where: str) -> list[Json]:
    if not isinstance(raw, list):
        raise InputFault(where, brief(raw), "a list")
    return raw


def _count(raw: Json, where: str) -> int:
    if not isinstance(raw, int) or isinstance(raw, bool) or not 0 <= raw <= _LARGEST:
        raise InputFault(where, brief(raw), f"a whole number from 0 to {_LARGEST}")
    return raw


def parse_pool(text: str, where: str) -> Pool:
    """The pool of a file's text: TOML by people if its name ends so, else JSON by `paste-proxy mine`.

    Raises:
        InputFault: as `load_pool` and `read_handwritten`.
    """
    return read_handwritten(text, where) if where.endswith(".toml") else load_pool(text, where)
