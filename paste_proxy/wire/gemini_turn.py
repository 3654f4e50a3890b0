"""What the model says in one Gemini turn, put together from its parts: of an answer, or of its echo.

A call arrives whole in one part and is sealed at once, unless its arguments are streamed.

A model may give its calls no ids. Clients then make up their own, which only the echo shows, or send none.
So that stream and echo agree, a call without an id, and one with an id of the forms that clients are known
to make up, gets its id from its name, its order in the turn and its arguments. Repeated in a later turn it
has that id again, as with servers that number the calls of each turn anew.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from paste_proxy.events.values import Json
from paste_proxy.wire.digest import assistant_digest, whole_arguments
from paste_proxy.wire.gemini_fields import field_of, is_text
from paste_proxy.wire.gemini_partial import PartialCall
from paste_proxy.wire.loose import canonical, listing, mended, piece, string
from paste_proxy.wire.types import Message, SeenCall, SeenPart

_CLIENTS_OWN = re.compile(
    r"(?:adk-|pyd_ai_|call_|toolu_).*|[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.DOTALL | re.IGNORECASE
)
"""Ids that frameworks make up: of google-adk, pydantic-ai, gateways between protocols, and plain UUIDs."""
_CLI_COUNTER = re.compile(r"_\d{10,}_\d+")
"""How gemini-cli ends the ids it makes: name, milliseconds, order."""

_UNREADABLE = "{"


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as a later result may name it."""

    given_id: str
    """The id that it has on the wire, empty where it has none."""
    name: str
    call_id: str


class ModelTurn:
    """One turn of the model, its parts taken in order; raises nothing."""

    def __init__(self) -> None:
        self.calls: list[SeenCall] = []
        self.asked: list[Asked] = []
        self.whole = True
        """No call was cut or does not read."""
        self._text: list[str] = []
        self._identities: list[tuple[str, str]] = []
        self._open: PartialCall | None = None

    def take(self, parts: Iterable[dict[str, Json]]) -> list[SeenCall]:
        """Go on with these parts; the calls that they seal."""
        sealed: list[SeenCall] = []
        for part in parts:
            call = field_of(part, "functionCall")
            if isinstance(call, dict):
                sealed += self._call(call)
            elif is_text(part):
                self._text.append(piece(part.get("text")))
        return sealed

    def under_way(self) -> list[SeenPart]:
        """The call being written, where more is known of it than when this was asked last."""
        part = self._open.part(len(self._identities)) if self._open else None
        return [part] if part else []

    def seal(self) -> list[SeenCall]:
        """The call that was still being written is whole: another follows, or the turn is over."""
        call, self._open = self._open, None
        if call is None:
            return []
        arguments = call.arguments()
        return self._add(call.given_id, call.name, _UNREADABLE if arguments is None else arguments)

    def message(self) -> Message:
        """The turn as a message of a history."""
        text = mended("".join(self._text))
        open_call = [(self._open.name, "")] if self._open else []
        return Message(
            role="assistant",
            text=text,
            digest=assistant_digest(text, [*self._identities, *open_call]),
            calls=tuple(self.calls),
        )

    @property
    def ended(self) -> bool:
        """No call is still being written."""
        return self._open is None

    def _call(self, call: dict[str, Json]) -> list[SeenCall]:
        name, given_id, arguments = string(call.get("name")), string(call.get("id")), call.get("args")
        pieces, goes_on = listing(field_of(call, "partialArgs")), field_of(call, "willContinue") is True
        sealed: list[SeenCall] = []
        if name and (self._open is None or self._open.name != name or not (pieces or goes_on)):
            sealed += self.seal()
            if not (pieces or goes_on):
                return sealed + self._add(given_id, name, arguments)
            self._open = PartialCall(given_id, name, arguments)
        if self._open is None:
            self.whole = self.whole and not (pieces or arguments)
            return sealed
        self._open.take(pieces)
        return sealed if goes_on else sealed + self.seal()

    def _add(self, given_id: str, name: str, arguments: Json) -> list[SeenCall]:
        order = len(self._identities)
        read = whole_arguments(arguments if isinstance(arguments, dict | str | None) else _UNREADABLE)
        self._identities.append((name, read[1] if read else canonical(arguments)))
        self.whole = self.whole and read is not None
        if read is None:
            return []
        call = SeenCall(order=order, call_id=_call_id(given_id, name, order, read[1]), name=name, arguments=read[0])
        self.calls.append(call)
        self.asked.append(Asked(given_id, name, call.call_id))
        return [call]


def _call_id(given_id: str, name: str, order: int, arguments: str) -> str:
    if given_id and not _made_up(given_id, name):
        return given_id
    digest = blake2b(arguments.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{name}-{order}-{digest}"


def _made_up(given_id: str, name: str) -> bool:
    counter = given_id[len(name) :] if given_id.startswith(name) else ""
    return bool(_CLI_COUNTER.fullmatch(counter) or _CLIENTS_OWN.fullmatch(given_id))
