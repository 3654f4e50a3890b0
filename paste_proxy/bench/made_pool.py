"""As many patterns as wanted, made as mining would make them: contexts that came up in a session, and for the tool
that followed, arguments taken from places where such values stand."""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from paste_proxy.bench.made_session import Tool
from paste_proxy.events.types import Event, ToolCall
from paste_proxy.mining.algebra import AnyMapper
from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.mappers import Constant, Mapper
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.sources import Source
from paste_proxy.mining.templates import Repeat, Template
from paste_proxy.mining.window import ANY, CALL, OUTPUT, USER, Window

Followed = tuple[tuple[str, ...], str]
"""The contexts of a moment, and the tool called next."""

_TAKES = {
    "results": ("/results/*/url", "/results/*/title", "/results/*/published", "url", "name", "date", "word:a-a"),
    "records": ("/records/*/order_id", "/records/*/items/*/sku", "/records/*/user", "/total", "word:X8", "word:a_a_9"),
    "listing": ("path", "number", "quoted", "word:a_a", "word:a.a"),
    "source": ("path", "name", "quoted", "number", "word:a_a", "word:x"),
    "log": ("path", "date", "number", "word:a_a_a", "word:9-9-9x"),
    "page": ("url", "name", "quoted", "date", "word:a-a"),
}
_REPEATS, _CONSTANTS, _EACH = 0.02, 0.1, 0.3


def moments(events: Iterable[Event]) -> Iterator[Followed]:
    """What followed in which contexts."""
    window = Window()
    contexts: tuple[str, ...] | None = None
    for event in events:
        if isinstance(event, ToolCall) and contexts is not None:
            yield contexts, event.invocation.tool
        contexts = suffixes(window.context()) if window.step(event) else contexts


def made_patterns(tools: Sequence[Tool], seen: Sequence[Followed], number: int, seed: int = 2) -> list[Pattern]:
    """The patterns, each in the contexts of a few of the moments at which its tool followed."""
    random = Random(seed)  # noqa: S311 - the same in every run
    named = {tool.name: tool for tool in tools}
    contexts: dict[str, list[tuple[str, ...]]] = {}
    for found, tool in seen:
        contexts.setdefault(tool, []).append(found)
    followed = list(contexts)
    return [_pattern(random, named[random.choice(followed)], tools, contexts, at) for at in range(number)]


def _pattern(
    random: Random, tool: Tool, tools: Sequence[Tool], contexts: dict[str, list[tuple[str, ...]]], at: int
) -> Pattern:
    where = [random.choice(contexts[tool.name]) for _ in range(random.randint(1, 6))]
    if random.random() < _REPEATS:
        return Pattern(Repeat(tool.name), _ranks(random, where, 3), id=f"made{at}")
    arguments = tuple((name, _mapper(random, tools)) for name in sorted(tool.arguments))
    return Pattern(Template(tool.name, arguments), _ranks(random, where, random.randint(1, 8)), id=f"made{at}")


def _mapper(random: Random, tools: Sequence[Tool]) -> AnyMapper:
    if random.random() < _CONSTANTS:
        return Constant(f"constant{random.randint(1, 500)}")
    tool, each = random.choice(tools), random.random() < _EACH
    match random.randint(0, 9):
        case 0:
            return Mapper(Source(USER, each=each), random.choice(("url", "word:X8", "name")))
        case 1 if tool.arguments:
            return Mapper(Source(CALL, tool.name, each), f"/{random.choice(tool.arguments)}")
        case 2:
            return Mapper(Source(OUTPUT, ANY, each), random.choice(("url", "path", "word:X8")))
        case _:
            return Mapper(Source(OUTPUT, tool.name, each), random.choice(_TAKES[tool.form]), last=random.random() < 0.1)


def _ranks(random: Random, where: Sequence[tuple[str, ...]], ranks: int) -> tuple[dict[str, Count], ...]:
    return tuple(_counts(random, where, rank) for rank in range(ranks))


def _counts(random: Random, where: Sequence[tuple[str, ...]], rank: int) -> dict[str, Count]:
    counts: dict[str, Count] = {}
    for contexts in where:
        for context in contexts:
            seen = random.randint(5, 60)
            ever = random.randint(0, seen) // (rank + 2)
            counts[context] = Count(seen, random.randint(0, ever), ever)
    return counts
