"""The stable part of an event, used to match control flow (PASTE 4.1).

The alphabet, words joined by `:`, the tool's identity last because it may hold any character:

    user                       a user message
    llm                        an LLM turn that said something besides its calls
    call:TOOL                  an authoritative call
    output:STATUS:SHAPE:TOOL   its answer

STATUS is `ok` or `error`. SHAPE is one of

    empty  number  bool                     nothing (null, blank text, `[]`, `{}`), or a bare scalar
    object  list.one  list.few  list.many   JSON, also where it comes as text; few is up to 9 items
    url.one  url.many                       text with links in it
    line  text  long                        other text: a single line, up to 4,000 characters, more

What people and models wrote, names, numbers and sizes beyond these classes are payload.
"""

from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json, loads

SHAPES = (
    *("empty", "number", "bool", "object", "list.one", "list.few", "list.many"),
    *("url.one", "url.many", "line", "text", "long"),
)
_FEW = 9
_LONG = 4_000
_PARSED_CHARACTERS = 50_000
"""Longer JSON texts are classed by their first character: parsing them would cost more than it tells."""


def signature(event: Event) -> str | None:
    """The signature of an event, None for one that carries no control flow of its own.

    An LLM turn without text only carries its calls, and an incomplete one is never matched: both None.
    """
    match event:
        case UserMessage():
            return "user"
        case LlmTurn():
            return "llm" if event.complete and event.text.strip() else None
        case ToolCall():
            return f"call:{event.invocation.tool}"
        case ToolOutput():
            return of_output(event, content(event.output))
        case _:
            return None


def of_output(event: ToolOutput, held: Json) -> str:
    """The signature of an answer whose `content` has been taken out already."""
    status = Status.ERROR if event.status is Status.ERROR or _says_error(held) else Status.OK
    return f"output:{status}:{shape(held)}:{event.tool}"


def content(output: Json) -> Json:
    """What a tool's answer holds: one text block of MCP or of a message is taken out of its envelope,
    and a text that is JSON is read."""
    match output:
        case {"content": [{"type": "text", "text": str(text)}]} | [{"type": "text", "text": str(text)}]:
            return content(text)
        case str() if output.lstrip()[:1] in ("{", "[") and len(output) <= _PARSED_CHARACTERS:
            try:
                return loads(output)
            except ValueError:
                return output
        case _:
            return output


def shape(value: Json) -> str:
    """The SHAPE of a value that `content` has unwrapped."""
    match value:
        case None:
            return "empty"
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case dict():
            return "object" if value else "empty"
        case list():
            return _list_shape(len(value))
        case _:
            return _text_shape(str(value))


def _list_shape(items: int) -> str:
    match items:
        case 0:
            return "empty"
        case 1:
            return "list.one"
        case _:
            return "list.few" if items <= _FEW else "list.many"


def _text_shape(text: str) -> str:
    start = text.lstrip()[:1]
    if not start:
        return "empty"
    if len(text) > _PARSED_CHARACTERS and start in ("{", "["):
        return "object" if start == "{" else "list.many"
    links = text.count("://")
    if links:
        return "url.one" if links == 1 else "url.many"
    if len(text) > _LONG:
        return "long"
    return "text" if "\n" in text.strip() else "line"


def _says_error(value: Json) -> bool:
    """Whether an answer that came as a success tells of a failure, as many tools do."""
    match value:
        case str():
            return value.lstrip()[:5].lower() == "error"
        case dict():
            return bool(value.get("error")) or value.get("isError") is True
        case _:
            return False
