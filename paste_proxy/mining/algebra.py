"""The mapper algebra: all that may say where the value of an argument comes from."""

from paste_proxy.mining.filled import Filled
from paste_proxy.mining.mappers import Constant, Mapper
from paste_proxy.mining.steps import Step

LiveMapper = Mapper | Step | Filled
"""What takes its values from the session."""
AnyMapper = Constant | LiveMapper


def named(mapper: LiveMapper) -> str:
    """A short text that names a mapper."""
    match mapper:
        case Filled(text, holes):
            return "|".join(["text", text, *(f"{name}={named(hole)}" for name, hole in holes)])
        case Step(source, take, by):
            return "|".join([source.origin, source.tool, "step", take, str(by)])
        case Mapper(source, take, form, frame, last):
            each = "each" if source.each else ""
            return "|".join([source.origin, source.tool, each, take, form, frame, "last" if last else ""])


def kind_of(mapper: LiveMapper) -> str:
    """What a mapper has in common with those of other tools and places."""
    match mapper:
        case Filled(_, holes):
            return f"text|{len(holes)}"
        case Step(source, _, by):
            return f"step|{source.origin}|{'given' if by else 'same'}"
        case Mapper(source, take, _, frame, last):
            kind = "/" if take.startswith("/") else take.partition(":")[0]
            each, only = "each" if source.each else "", "last" if last else ""
            return f"{source.origin}|{'*' if source.tool == '*' else ''}|{each}|{kind}|{bool(frame)}|{only}"
