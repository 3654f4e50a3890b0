"""The history of a Gemini request as messages.

Contents of the model that follow each other are one turn: some clients send back each chunk of a stream as
a content of its own. Results are paired with the calls of the turn before them, by id where both have one,
else by name and order, and get the call's id.
"""

import re
from itertools import groupby

from paste_proxy.events.values import Json
from paste_proxy.wire.digest import message_digest, output_digest
from paste_proxy.wire.gemini_fields import field_of, is_text, parts_of, text_of
from paste_proxy.wire.gemini_turn import Asked, ModelTurn
from paste_proxy.wire.loose import canonical, listing, mapping, mended, string
from paste_proxy.wire.types import Message, SeenOutput

_UNTRUSTED = re.compile(r"<untrusted_context>\n(.*)\n</untrusted_context>\s*", re.DOTALL)
"""What gemini-cli puts around the output of MCP and shell tools."""

_ENVELOPES = ("output", "result")
"""The one key under which a result stands that is no object of its own."""


def read_history(fields: dict[str, Json]) -> tuple[Message, ...]:
    """The messages of a request, its system instruction first."""
    instruction = parts_of(field_of(fields, "systemInstruction"))
    history = [_plain("system", instruction)] if instruction else []
    waiting: list[Asked] = []
    for by_model, contents in groupby(listing(fields.get("contents")), _is_models):
        if by_model:
            turn = ModelTurn()
            for content in contents:
                turn.take(parts_of(content))
            turn.seal()
            waiting = turn.asked
            history.append(turn.message())
        else:
            for content in contents:
                history += _read_content(content, waiting)
    return tuple(history)


def _is_models(content: Json) -> bool:
    return mapping(content).get("role") == "model"


def _read_content(content: Json, waiting: list[Asked]) -> list[Message]:
    parts = parts_of(content)
    responses = [field_of(part, "functionResponse") for part in parts]
    results = [_read_response(response, waiting) for response in responses if isinstance(response, dict)]
    rest = [part for part, response in zip(parts, responses, strict=True) if not isinstance(response, dict)]
    return [*results, _plain(_role(content), rest)] if rest or not results else results


def _role(content: Json) -> str:
    role = string(mapping(content).get("role"))
    return "user" if role in {"", "function", "tool"} else role


def _read_response(response: dict[str, Json], waiting: list[Asked]) -> Message:
    call_id = _paired(string(response.get("id")), string(response.get("name")), waiting)
    output, failed = _output(response.get("response"))
    text = mended(output if isinstance(output, str) else canonical(output))
    return Message(
        role="tool",
        text=text,
        digest=output_digest(call_id, text, listing(response.get("parts"))),
        output=SeenOutput(call_id=call_id, output=output, failed=failed),
    )


def _paired(given_id: str, name: str, waiting: list[Asked]) -> str:
    """The id of the call that a result answers; that call waits no longer."""
    same_id = (asked for asked in waiting if given_id and asked.given_id == given_id)
    same_name = (asked for asked in waiting if asked.name == name and not (given_id and asked.given_id))
    found = next(same_id, None) or next(same_name, None)
    if found is None:
        return given_id
    waiting.remove(found)
    return found.call_id


def _output(response: Json) -> tuple[Json, bool]:
    """What the tool said, and whether that is an error."""
    fields = mapping(response)
    failed = bool(fields.get("error"))
    if len(fields) == 1 and (failed or fields.keys() <= set(_ENVELOPES)):
        (response,) = fields.values()
    if isinstance(response, str):
        response = mended(response)
        wrapped = _UNTRUSTED.fullmatch(response)
        return (wrapped[1] if wrapped else response), failed
    return response, failed


def _plain(role: str, parts: list[dict[str, Json]]) -> Message:
    text = "\n".join(text_of(part) for part in parts if is_text(part))
    return Message(
        role=role, text=text, digest=message_digest(role, text, [part for part in parts if not is_text(part)])
    )
