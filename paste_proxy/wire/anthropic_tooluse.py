"""Puts the calls of a streamed Messages answer together.

The end of a block is a real seal: nothing can follow the input of its call. Only an input that is blank at
its end waits for what comes next, since an answer may be cut for length before the input's first character,
and that is said after the block.
"""

from dataclasses import dataclass, field

from paste_proxy.events.values import Json
from paste_proxy.wire.anthropic_message import read_input
from paste_proxy.wire.call_part import CallPart
from paste_proxy.wire.digest import whole_arguments
from paste_proxy.wire.loose import mended, string
from paste_proxy.wire.types import SeenCall, SeenPart

Index = int | str | None
"""By which events name their block."""


@dataclass(slots=True, eq=False)
class _ToolUse:
    """A call being written."""

    order: int
    call_id: str
    name: str
    opened_with: Json
    """The input of the block's start: empty where deltas follow, else all there is."""
    sealed: bool = False
    pieces: list[str] = field(default_factory=list)
    so_far: CallPart = field(default_factory=CallPart)

    @property
    def text(self) -> str:
        return mended("".join(self.pieces))

    @property
    def blank(self) -> bool:
        return not self.opened_with and not self.text.strip()

    def call(self) -> tuple[SeenCall, str] | None:
        """The call and its canonical arguments, None if it is not whole."""
        text = self.text
        whole = whole_arguments(text if text.strip() else read_input(self.opened_with))
        if whole is None or not self.name:
            return None
        return SeenCall(order=self.order, call_id=self.call_id, name=self.name, arguments=whole[0]), whole[1]

    def part(self) -> SeenPart | None:
        """What more is known of the call before it is whole."""
        return None if self.opened_with else self.so_far.of_text(self.order, self.name, self.pieces)

    def seal(self) -> list[SeenCall]:
        """The call, if it is whole and was not given before."""
        whole = None if self.sealed else self.call()
        self.sealed = self.sealed or whole is not None
        return [whole[0]] if whole else []


class ToolUses:
    """The calls of one answer."""

    def __init__(self) -> None:
        self._uses: list[_ToolUse] = []
        self._open: dict[Index, _ToolUse | None] = {}
        """Blocks begun and not ended; those that are no call of the agent's as None."""

    def begin(self, index: Index, block: dict[str, Json]) -> list[SeenCall]:
        """A block begins; the calls that this seals."""
        self._open[index] = None
        sealed = self._seal_ended()
        if block.get("type") == "tool_use":
            use = _ToolUse(len(self._uses), string(block.get("id")), string(block.get("name")), block.get("input"))
            self._uses.append(use)
            self._open[index] = use
        return sealed

    def add(self, index: Index, text: str) -> bool:
        """Go on with an input; False if no such block is open."""
        use = self._open.get(index)
        if use is not None:
            use.pieces.append(text)
        return index in self._open

    def stop(self, index: Index) -> list[SeenCall]:
        """A block is over; the calls that this seals."""
        use = self._open.pop(index, None)
        return use.seal() if use and not use.blank else []

    def under_way(self) -> list[SeenPart]:
        """The calls being written of which more is known than when this was asked last."""
        return [part for use in self._open.values() if use and (part := use.part())]

    def end(self, *, cut: bool) -> list[SeenCall]:
        """The message is over, and with it every block, whether that was said or not; the calls not given before."""
        self._open.clear()
        return [] if cut else self._seal_ended()

    def read(self) -> tuple[tuple[SeenCall, ...], list[tuple[str, str]], bool]:
        """The calls that were given; name and arguments of each that was begun; whether all of these are whole."""
        read = [(use, use.call()) for use in self._uses]
        calls = tuple(call[0] for use, call in read if call and use.sealed)
        identities = [(use.name, call[1] if call else use.text.strip()) for use, call in read]
        return calls, identities, all(call for _, call in read)

    def _seal_ended(self) -> list[SeenCall]:
        going_on = [use for use in self._open.values() if use]
        return [call for use in self._uses if use not in going_on for call in use.seal()]
