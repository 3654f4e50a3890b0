"""Contexts, mappers and traits in the words of a person; what is not known here is shown as it is written."""

import re
from collections.abc import Mapping

from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.contexts import START

_LONGEST = 60
_SHAPES = {
    "empty": "nothing",
    "number": "a number",
    "bool": "yes or no",
    "object": "an object",
    "list.one": "a list of one",
    "list.few": "a list of up to 9",
    "list.many": "a list of 10 or more",
    "url.one": "text with a link",
    "url.many": "text with links",
    "line": "a line",
    "text": "some lines",
    "long": "a long text",
}
_KINDS = {
    "url": "a link",
    "path": "a path",
    "date": "a date",
    "number": "a number",
    "quoted": "a quoted text",
    "name": "a name",
    "tag": "a tag",
    "file": "a file of the workspace",
}
_FORMS = {
    "text": "as text",
    "number": "as a number",
    "real": "as a decimal",
    "lower": "in lower case",
    "upper": "in upper case",
    "title": "With Capitals",
}


def shortened(value: Json, longest: int = _LONGEST) -> str:
    """The JSON text of a value, its middle left out where it is long."""
    text = canonical_text(value)
    if len(text) <= longest:
        return text
    end = (longest - 3) // 2
    return text[: longest - 3 - end] + "..." + text[len(text) - end :]


# --- contexts --------------------------------------------------------------------------------------


def context_in_words(context: str) -> str:
    """`after search answered a list of up to 9, then the user spoke`; see `contexts`."""
    if not context:
        return "at any moment"
    return "after " + ", then ".join(map(_happened, context.split(" > ")))


def _happened(signature: str) -> str:
    match signature:
        case "user":
            return "the user spoke"
        case "llm":
            return "the model spoke and called nothing"
        case _ if signature == START:
            return "the session began"
    status, _, rest = signature.partition(":")
    if rest:
        shape, _, tool = rest.partition(":")
        said = f" {_SHAPES.get(shape, shape)}"
    else:
        status, _, tool = signature.partition(" ")
        said = ""
    if not tool:
        return signature
    return f"{tool} answered{said}" if status == "ok" else f"{tool} failed"


# --- mappers ---------------------------------------------------------------------------------------


def mapper_in_words(written: Mapping[str, Json], *, alone: bool = True) -> str:
    """`/results/*/url of the latest answer of search`.

    Args:
        written: see `notation.written_mapper`.
        alone: whether nothing else is known to give the argument.
    """
    if "constant" in written:
        return f"{'always' if alone else 'a usual value,'} {shortened(written['constant'])}"
    if "text" in written:
        holes = written.get("holes")
        each = holes.items() if isinstance(holes, dict) else ()
        filled = "; ".join(f"{name}: {mapper_in_words(hole)}" for name, hole in each if isinstance(hole, dict))
        return f"the text {shortened(written['text'])}, {filled}"
    said = f"{_taken(str(written.get('take', '')), last=bool(written.get('last')))} of {_source(written)}"
    if "step" in written:
        by = written["step"]
        return f"{by} more than {said}" if isinstance(by, int) else f"what goes on from {said}, as between the last two"
    if form := written.get("form"):
        said += f", {_FORMS.get(str(form), form)}"
    if frame := written.get("frame"):
        said += ", in a list of one" if frame == "[]" else f", set into {shortened(frame)}"
    return said


def _taken(take: str, *, last: bool) -> str:
    first, _, word = take.partition(":")
    if take.startswith("/"):
        said = f"what stands at {take}"
    elif first in ("after", "before") and word:
        said = f"what stands {first} {word!r}"
    elif first == "word" and word:
        said = f"a word of the shape {word}"
    else:
        said = _KINDS.get(take, take)
    return f"the last: {said}," if last else said


def _source(written: Mapping[str, Json]) -> str:
    tool = written.get("tool")
    which = "any" if written.get("which") == "each" else "the latest"
    of = "any tool" if tool == "*" else tool
    match written.get("from"):
        case "user":
            return f"{which} words of the user"
        case "turn":
            return f"{which} words of the model"
        case "output":
            return f"{which} answer of {of}"
        case "call":
            return f"{which} arguments that {of} was called with"
    return str(written.get("from"))


# --- traits ----------------------------------------------------------------------------------------

_TRAITS = {
    "judged": "all that is measured of it, taken together",
    "one": "it was found at all",
    "tool": "how likely its tool is now",
    "free": "how likely a call of its tool with arguments of its own is",
    "joint": "how likely its tool and its arguments are together",
    "argued": "how likely its arguments are",
    "unargued": "its arguments are not among the likely ones of its tool",
    "frequent": "it is often asked for",
    "chosen": "how likely the whole call is after such moments",
    "next": "how often a pattern that gives it was right at once",
    "ever": "how often a pattern that gives it was right in time",
    "unvoted": "no pattern gives it",
    "new": "the session has not asked for it before",
    "repeat": "the session has asked for it before",
    "usual": "how often it was asked for again",
    "failed": "it failed",
    "followed": "the same followed the same before",
    "following": "it is next in a list that the session works through",
    "habit": "sessions of this workspace usually ask for it",
    "usually": "how usual it is in this workspace after such a moment",
}
_MARKED = (
    (r"T:(.+)", "calls of {0} as such"),
    (r"A:(.+)", "how likely its arguments are, for {0}"),
    (r"N:(.+)", "a new call of {0}"),
    (r"L:(.+)", "next in a list, for {0}"),
    (r"H:(.+)", "usual here, for {0}"),
    (r"F:(.+)", "a failed call of {0}"),
    (r"S:(.+)", "followed so before, for {0}"),
    (r"P:(.+)", "what pattern {0} gives"),
    (r"rank:6", "place 7 or later among the likely arguments"),
    (r"rank:(?P<place>\d)", "place {place} among the likely arguments"),
    (r"votes:1", "1 pattern gives it"),
    (r"votes:(\d)", "{0} patterns give it"),
    (r"following:(?P<place>\d)", "place {place} among what is next in the list"),
    (r"habit:(\d)", "{0} sessions here asked for it"),
    (r"times:1", "asked for once before"),
    (r"times:(\d)", "asked for {0} times before"),
    (r"followed:(\d)", "it followed the last call {0} times before"),
    (r"age:(?P<age>\d)", "asked for before: {age}"),
    (r"R:(.+):(?P<age>\d)", "{0} asked for the same before: {age}"),
    (r"touch:(?P<age>\d)", "an argument stood in an earlier call: {age}"),
    (r"touch:(.+)>(.+):(?P<age>\d)", "an argument of {1} stood in a call of {0}: {age}"),
    (r"after:(?P<context>.+)>(.+)", "{1} again {context}"),
    (r"nth:(?P<context>.+)>(.+):(?P<place>\d)", "place {place} among earlier calls of {1}, {context}"),
    (r"nth:(.+):(?P<place>\d)", "place {place} among earlier calls of {0}"),
    (r"any (.+)", "asked for before, of whatever tool: {0}"),
)
_AGES = ("the last call", "the call before the last", "2 or 3 calls ago", "4 to 7 calls ago", "8 to 15 calls ago")
_LONG_AGO = "16 calls ago or more"


def trait_in_words(trait: str) -> str:
    """`the session has asked for it before`; see `forecast.traits`."""
    for pattern, words in _MARKED:
        if found := re.fullmatch(pattern, trait):
            named = found.groupdict()
            if "age" in named:
                named["age"] = dict(enumerate(_AGES)).get(int(named["age"]), _LONG_AGO)
            if "place" in named:
                named["place"] = str(int(named["place"]) + 1)
            if "context" in named:
                named["context"] = context_in_words(named["context"])
            return words.format(*found.groups(), **named)
    return _TRAITS.get(trait, trait)
