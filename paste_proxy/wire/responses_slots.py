"""Puts the items of a streamed Responses answer together from its events."""

from dataclasses import dataclass, field
from dataclasses import replace as with_

from paste_proxy.events.values import Json
from paste_proxy.wire.call_part import CallPart
from paste_proxy.wire.loose import mapping, mended, piece, string
from paste_proxy.wire.openai_message import text_of
from paste_proxy.wire.responses_items import is_call, kind_of, read_call, read_turn, spelled
from paste_proxy.wire.types import Message, SeenCall, SeenPart

_GROWING = {"function_call": "arguments", "custom_tool_call": "input", "message": "content"}
"""Item type -> its field that comes by deltas."""

_KINDS = {
    "function_call_arguments": "function_call",
    "custom_tool_call_input": "custom_tool_call",
    "output_text": "message",
}
"""Event -> type of the item that it speaks of."""


@dataclass(slots=True, eq=False)
class _Slot:
    """One item being put together."""

    item: dict[str, Json]
    index: Json = None
    order: int | None = None
    """Position among the calls of its turn; None for what is no call."""
    done: bool = False
    pieces: list[str] = field(default_factory=list)
    given: tuple[SeenCall, str] | None = None
    """The call last given for it, and its canonical arguments."""
    so_far: CallPart = field(default_factory=CallPart)

    @property
    def kind(self) -> str:
        return kind_of(self.item)

    def may_be(self, item: dict[str, Json]) -> bool:
        """Whether nothing that is known of the two items tells them apart."""
        known = ((string(self.item.get(key)), string(item.get(key))) for key in ("call_id", "name"))
        return kind_of(item) == self.kind and all(own == other or not own or not other for own, other in known)

    def now(self) -> dict[str, Json]:
        """The item as far as it has come."""
        grows = _GROWING.get(self.kind)
        if grows is None or not self.pieces or text_of(self.item.get(grows)):
            return self.item
        return {**self.item, grows: mended("".join(self.pieces))}

    def part(self) -> SeenPart | None:
        """What more is known of a function's call before it is whole."""
        if self.order is None or self.given or self.kind != "function_call" or self.item.get("arguments"):
            return None
        name = spelled(string(self.item.get("namespace")), string(self.item.get("name")))
        return self.so_far.of_text(self.order, name, self.pieces)


class ItemSlots:
    """The items of one streamed answer."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._by_id: dict[str, _Slot] = {}
        self._by_index: dict[str, _Slot] = {}
        self._calls = 0

    def take(self, event: str, fields: dict[str, Json]) -> list[SeenCall]:
        """Go on with an event; the calls that it seals."""
        subject, _, phase = event.removeprefix("response.").rpartition(".")
        if subject == "output_item" and phase in {"added", "done"}:
            return self._item(mapping(fields.get("item")), fields, done=phase == "done")
        kind = _KINDS.get(subject)
        if kind is None or phase not in {"delta", "done"}:
            return []
        item_id, item = string(fields.get("item_id")), dict[str, Json](type=kind)
        slot = self._find(item, fields, item_id) or self._open(item, fields, item_id)
        if phase == "delta":
            slot.pieces.append(piece(fields.get("delta")))
            return []
        return self._field_done(slot, fields)

    def under_way(self) -> list[SeenPart]:
        """The call being written, where more is known of it than when this was asked last."""
        part = self._slots[-1].part() if self._slots else None
        return [part] if part else []

    def seal(self, output: list[Json]) -> list[SeenCall]:
        """The answer is complete: the calls not given before.

        Args:
            output: the items as the answer's end repeats them; all there is where the stream told none.
        """
        told = [] if self._slots else list(enumerate(output))
        late = [call for n, item in told for call in self._item(mapping(item), {"output_index": n}, done=True)]
        return late + [call for slot in self._slots for call in _sealed(slot)]

    def end(self) -> tuple[Message, bool]:
        """The turn with the calls that were given, and whether all its calls are whole."""
        message, whole = read_turn(slot.now() for slot in self._slots)
        stand = {call.order for call in message.calls}
        given = (slot.given[0] for slot in self._slots if slot.given is not None)
        return with_(message, calls=tuple(call for call in given if call.order in stand)), whole

    def _item(self, item: dict[str, Json], fields: dict[str, Json], *, done: bool) -> list[SeenCall]:
        slot = self._find(item, fields, string(item.get("id")), opens=not done)
        if slot is None:
            slot = self._open(item, fields, string(item.get("id")))
        else:
            slot.item.update((key, value) for key, value in item.items() if value not in (None, "", []))
        slot.done = slot.done or done
        return _sealed(slot) if done else []

    def _field_done(self, slot: _Slot, fields: dict[str, Json]) -> list[SeenCall]:
        grows = _GROWING[slot.kind]
        if slot.kind == "message":
            if not slot.pieces:
                slot.pieces.append(piece(fields.get("text")))
            return []
        for key in ("name", grows):
            if (value := fields.get(key)) not in (None, ""):
                slot.item[key] = value
        return _sealed(slot) if string(slot.item.get("name")) else []

    def _find(
        self, item: dict[str, Json], fields: dict[str, Json], item_id: str, *, opens: bool = False
    ) -> _Slot | None:
        """The slot that an event speaks of: by the item's id, else by its index, else the one that is open.

        Args:
            item: what the event says of the item; no other than that may be it.
            opens: the event begins an item, so that one of the same index is another unless its id says
                otherwise.
        """
        index = fields.get("output_index")
        found = [self._by_id.get(item_id), self._by_index.get(str(index))]
        if index is None and not item_id and self._slots:
            found.append(self._slots[-1])
        for slot in found:
            if slot is None or not slot.may_be(item):
                continue
            if slot.done and (opens or slot.index != index):
                continue
            same = bool(item_id) and slot.item.get("id") == item_id
            if same or not (opens or slot.done):
                return slot
        return None

    def _open(self, item: dict[str, Json], fields: dict[str, Json], item_id: str) -> _Slot:
        slot = _Slot(dict(item), fields.get("output_index"))
        if item_id:
            slot.item.setdefault("id", item_id)
            self._by_id[item_id] = slot
        if is_call(item):
            slot.order, self._calls = self._calls, self._calls + 1
        self._by_index[str(fields.get("output_index"))] = slot
        self._slots.append(slot)
        return slot


def _sealed(slot: _Slot) -> list[SeenCall]:
    """The call of a slot, if it is whole and was not given so before."""
    item = slot.now()
    if slot.order is None or not is_call(item):
        return []
    call = read_call(item)
    if not call.name or call.arguments is None:
        return []
    if slot.given is not None and (slot.given[0].name, slot.given[1]) == (call.name, call.canonical):
        return []
    seen = SeenCall(order=slot.order, call_id=call.call_id, name=call.name, arguments=call.arguments)
    slot.given = seen, call.canonical
    return [seen]
