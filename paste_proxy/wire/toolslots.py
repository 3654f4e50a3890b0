"""Puts tool calls together from the fragments of a Chat Completions stream.

Servers disagree about what marks a fragment's call, so all of it counts: `index` is a key and nothing
more, an id may be repeated, missing or reused, a name may come whole, repeated or in pieces.

A call is sealed when the next one opens or the answer ends. Besides, arguments that form a whole JSON
object are given at once: the wire has no seal of its own, and nothing can follow such an object but
white space.
"""

from dataclasses import dataclass, field

from paste_proxy.events.values import Json
from paste_proxy.wire.balance import BalanceScanner
from paste_proxy.wire.call_part import CallPart
from paste_proxy.wire.digest import whole_arguments
from paste_proxy.wire.loose import canonical, mapping, mended, piece, string
from paste_proxy.wire.types import SeenCall, SeenPart


@dataclass(frozen=True, slots=True)
class Fragment:
    """One entry of a `tool_calls` list, in a delta or in a whole message."""

    index: int | str | None
    call_id: str
    name: str
    text: str
    """The arguments, or the free text of a custom tool's input."""
    free: bool
    """The text is a custom tool's input, not JSON."""


def read_fragment(value: Json) -> Fragment:
    """The fragment in a `tool_calls` entry of any shape."""
    entry = mapping(value)
    custom = mapping(entry.get("custom"))
    function = custom or mapping(entry.get("function"))
    given = function.get("input") if custom else function.get("arguments")
    index = entry.get("index")
    return Fragment(
        index=index if isinstance(index, int | str) else None,
        call_id=string(entry.get("id")),
        name=string(function.get("name")),
        text=canonical(given) if isinstance(given, dict) else piece(given),
        free=bool(custom),
    )


@dataclass(slots=True, eq=False)
class Slot:
    """One call being put together."""

    call_id: str = ""
    name: str = ""
    order: int | None = None
    """Position among the calls of its turn, known once it has a name."""
    free: bool = False
    given: str | None = None
    """Canonical arguments of the `SeenCall` last given for it."""
    _scanner: BalanceScanner = field(default_factory=BalanceScanner)
    _pieces: list[str] = field(default_factory=list)
    _part: CallPart = field(default_factory=CallPart)

    @property
    def text(self) -> str:
        """The arguments so far."""
        return mended("".join(self._pieces))

    @property
    def balanced(self) -> bool:
        """The arguments hold a whole object."""
        return self._scanner.balanced

    @property
    def blank(self) -> bool:
        """Nothing is known of it: no call at all."""
        return not self.name and not self.text.strip()

    def goes_on(self, fragment: Fragment) -> bool:
        """Whether a fragment addressed to this slot belongs to it, rather than to a call of its own.

        Without an index another id or name is another call. With one it takes both an id and a name,
        since some servers make up an id per fragment: then it is another call if the name differs, or
        if this call is whole already.
        """
        other_id = bool(fragment.call_id and self.call_id and fragment.call_id != self.call_id)
        other_name = bool(fragment.name and self.name and fragment.name != self.name)
        again = self.balanced and bool(fragment.name) and fragment.text.lstrip().startswith("{")
        if fragment.index is None:
            return not (other_id or other_name or again)
        return not (other_id and fragment.name and (other_name or self.balanced))

    def take(self, fragment: Fragment) -> bool:
        """Go on with a fragment; whether the arguments have just become a whole object."""
        self.call_id = self.call_id or fragment.call_id
        self.free = self.free or fragment.free
        if not self._pieces and fragment.name != self.name:
            self.name += fragment.name
        if not fragment.text:
            return False
        self._pieces.append(fragment.text)
        if self.free or self.balanced:
            return False
        self._scanner.feed(fragment.text)
        return self.balanced

    def part(self) -> SeenPart | None:
        """What more is known of the call before it is whole. A name may grow until the arguments begin."""
        if self.order is None or self.free or self.balanced or not self._pieces:
            return None
        return self._part.of_text(self.order, self.name, self._pieces)

    def call(self) -> tuple[SeenCall, str] | None:
        """The call and its canonical arguments, None if it is not whole."""
        whole = whole_arguments({"input": self.text} if self.free else self.text)
        if whole is None or self.order is None:
            return None
        return SeenCall(order=self.order, call_id=self.call_id, name=self.name, arguments=whole[0]), whole[1]


class ToolSlots:
    """The calls of one streamed answer."""

    def __init__(self) -> None:
        self._slots: list[Slot] = []
        self._by_index: dict[int | str, Slot] = {}
        self._by_id: dict[str, Slot] = {}
        self._open: Slot | None = None
        self._named = 0

    def take(self, fragment: Fragment) -> list[SeenCall]:
        """Go on with a fragment; the calls that it seals."""
        sealed: list[SeenCall] = []
        slot = self._addressed(fragment)
        if slot is None or not slot.goes_on(fragment):
            sealed = _seal(self._open) if self._open else []
            slot = Slot()
            self._slots.append(slot)
        became_whole = slot.take(fragment)
        self._note(slot, fragment)
        return sealed + _seal(slot) if became_whole else sealed

    def under_way(self) -> list[SeenPart]:
        """The call being written, where more is known of it than when this was asked last."""
        part = self._open.part() if self._open else None
        return [part] if part else []

    def seal(self) -> list[SeenCall]:
        """The answer is over: the calls not given before."""
        return [call for slot in self._slots for call in _seal(slot)]

    def end(self) -> tuple[tuple[SeenCall, ...], list[tuple[str, str]], bool]:
        """The calls that were given and still stand; name and arguments of each; whether all are whole."""
        calls, identities, whole = [], [], True
        for slot in sorted((slot for slot in self._slots if not slot.blank), key=_position):
            call = slot.call()
            identities.append((slot.name, call[1] if call else slot.text.strip()))
            whole = whole and call is not None
            if call and slot.given is not None:
                calls.append(call[0])
        return tuple(calls), identities, whole

    def _addressed(self, fragment: Fragment) -> Slot | None:
        """The slot that a fragment speaks of; one that names nothing speaks of the open slot."""
        if fragment.index is not None:
            known = self._by_index.get(fragment.index)
            return known if known or fragment.call_id or fragment.name else self._open
        return self._by_id.get(fragment.call_id, self._open)

    def _note(self, slot: Slot, fragment: Fragment) -> None:
        self._open = slot
        if fragment.index is not None:
            self._by_index[fragment.index] = slot
        if fragment.call_id:
            self._by_id[fragment.call_id] = slot
        if slot.name and slot.order is None:
            slot.order = self._named
            self._named += 1


def _position(slot: Slot) -> float:
    return float("inf") if slot.order is None else slot.order


def _seal(slot: Slot) -> list[SeenCall]:
    whole = slot.call()
    if whole is None or whole[1] == slot.given:
        return []
    slot.given = whole[1]
    return [whole[0]]
