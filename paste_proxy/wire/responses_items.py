"""The items that a Responses request's input and an answer's output consist of.

An assistant's turn is a run of items: reasoning, texts, calls, and what the vendor's own tools did in
between, which is no call of the agent's. What the vendor answers itself, or puts in beside (a compaction, more
tools), and any item of a kind that is not known, is part of the run it stands in and of none by itself: so a
stream, which is all one turn, and its echo are read alike.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from paste_proxy.events.values import Json
from paste_proxy.wire.digest import assistant_digest, message_digest, output_digest, whole_arguments
from paste_proxy.wire.loose import listing, mapping, mended, piece, string
from paste_proxy.wire.openai_message import beside_text, text_of
from paste_proxy.wire.types import Message, SeenCall, SeenOutput

_ACTIONS = {
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "computer_call": ("computer", "action"),
}
"""Calls of tools that the vendor defines and the agent runs: the tool's name, the item's field with the arguments."""

_OUTPUTS = ("_call_output", "tool_search_output")
_VENDORS = {"reasoning", "mcp_list_tools", "mcp_approval_request", "program", "program_output"}
"""Items of a turn, besides those named for a call, that say nothing by which the turn is known again."""
_SAID = {"message", "item_reference", "mcp_approval_response"}
"""Items that are messages, besides outputs."""
_FAILED = {"failed", "incomplete"}
_NOT_IDENTITY = {"id", "status"}


@dataclass(frozen=True, slots=True)
class ItemCall:
    """A call of the agent's as its item says it, whole or not."""

    call_id: str
    name: str
    raw: str
    arguments: dict[str, Json] | None
    canonical: str
    """Canonical arguments, where they are whole; else what there is of them."""


def kind_of(item: dict[str, Json]) -> str:
    """The item's type, also where a client may leave it out."""
    return string(item.get("type")) or ("message" if "role" in item else "item_reference")


def is_call(item: dict[str, Json]) -> bool:
    """Whether this is a call that the agent is to run."""
    kind = kind_of(item)
    hosted = string(mapping(item.get("environment")).get("type")).startswith("container")
    return kind in {"function_call", "custom_tool_call"} or (kind in _ACTIONS and not hosted)


def read_call(item: dict[str, Json]) -> ItemCall:
    """The call in an item that `is_call`."""
    kind = kind_of(item)
    name = spelled(string(item.get("namespace")), string(item.get("name")))
    given: str | dict[str, Json]
    if kind in _ACTIONS:
        name, field = _ACTIONS[kind]
        several = listing(item.get("actions"))
        given = {"actions": several} if several else mapping(item.get(field))
    elif kind == "custom_tool_call":
        given = {"input": string(item.get("input"))}
    else:
        arguments = item.get("arguments")
        given = arguments if isinstance(arguments, dict) else mended(piece(arguments))
    whole = None if item.get("status") == "incomplete" else whole_arguments(given)
    raw = given if isinstance(given, str) else ""
    return ItemCall(
        call_id=string(item.get("call_id")) or string(item.get("id")),
        name=name,
        raw=raw,
        arguments=whole[0] if whole else None,
        canonical=whole[1] if whole else raw.strip(),
    )


def spelled(namespace: str, name: str) -> str:
    """A tool's name with the namespace it stands in, if in any."""
    before = namespace.removesuffix("__") + "__"
    return name if before == "__" or name.startswith(before) else before + name


def read_turn(items: Iterable[dict[str, Json]]) -> tuple[Message, bool]:
    """An assistant's turn, and whether all of its calls are whole."""
    texts: list[str] = []
    found: list[ItemCall] = []
    for item in items:
        if is_call(item):
            found.append(read_call(item))
        elif kind_of(item) == "message":
            texts.append(text_of(item.get("content")))
    calls = [
        SeenCall(order=order, call_id=call.call_id, name=call.name, arguments=call.arguments)
        for order, call in enumerate(found)
        if call.name and call.arguments is not None
    ]
    digest = assistant_digest(mended("".join(texts)), [(call.name, call.canonical) for call in found])
    message = Message(role="assistant", text=mended("".join(texts)), digest=digest, calls=tuple(calls))
    return message, len(calls) == len(found)


def read_history(items: Iterable[Json]) -> Iterator[Message]:
    """The messages of a request's input."""
    for of_turn, run in groupby(_standing(list(map(mapping, items))), _of_turn):
        if of_turn:
            yield read_turn(run)[0]
        else:
            yield from map(_read_other, run)


def _standing(items: list[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    """The items but for those that are none by themselves."""
    hosted: set[str] = set()
    for item in items:
        kind = kind_of(item)
        if kind.endswith(_OUTPUTS):
            if not _of_vendor(item, hosted):
                yield item
        elif kind in _SAID or _of_turn(item):
            if kind in _ACTIONS and not is_call(item):
                hosted.add(string(item.get("call_id")))
            yield item


def _of_vendor(output: dict[str, Json], hosted: set[str]) -> bool:
    """Whether the vendor itself gave this output, within its own turn.

    Args:
        hosted: ids of the calls that it ran.
    """
    call_id = string(output.get("call_id"))
    match kind_of(output):
        case "tool_search_output":
            return output.get("execution") != "client" if "execution" in output else not call_id
        case "function_call_output" | "custom_tool_call_output":
            # An agent's own has neither: both are of items that have stood in an answer.
            own_id = string(output.get("id"))
            return bool(own_id and output.get("status")) and own_id != call_id
        case _:
            return bool(call_id) and call_id in hosted


def _of_turn(item: dict[str, Json]) -> bool:
    """Whether an item is part of an assistant's turn."""
    kind = kind_of(item)
    return item.get("role") == "assistant" if kind == "message" else kind in _VENDORS or kind.endswith("_call")


def _read_other(item: dict[str, Json]) -> Message:
    """What the user, the instructions or a tool said; an item of another kind is a message without text."""
    kind = kind_of(item)
    if kind.endswith(_OUTPUTS):
        return _read_output(item)
    if kind != "message":
        kept: Json = {key: value for key, value in item.items() if key not in _NOT_IDENTITY or kind == "item_reference"}
        return Message(role=kind, text="", digest=message_digest(kind, "", [kept]))
    role, content = string(item.get("role")), item.get("content")
    text = mended(text_of(content, between="\n"))
    return Message(role=role, text=text, digest=message_digest(role, text, beside_text(content)))


def _read_output(item: dict[str, Json]) -> Message:
    call_id = string(item.get("call_id")) or string(item.get("id"))
    said = item.get("output")
    text, others = mended(text_of(said, between="\n")), beside_text(said)
    odd = bool(others) or not isinstance(said, str | list)
    return Message(
        role="tool",
        text=text,
        digest=output_digest(call_id, text, [said] if odd else []),
        output=SeenOutput(call_id=call_id, output=said if odd else text, failed=string(item.get("status")) in _FAILED),
    )
