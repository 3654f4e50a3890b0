"""An assistant's turn whose calls are text, put together from its pieces.

The same reader takes the streamed turn and its echo in a later request, so both read alike. An agent may
cut the text where the model began to make up a result, strip it, and leave out or put back the model's
thinking: the digest is over the rest.
"""

from dataclasses import dataclass

from paste_proxy.events.values import Json
from paste_proxy.wire.digest import assistant_digest
from paste_proxy.wire.loose import mended
from paste_proxy.wire.openai_message import text_of
from paste_proxy.wire.tagged_call import is_code, made_up_id, read_block
from paste_proxy.wire.tagged_part import BlockPart
from paste_proxy.wire.tags import TagScanner
from paste_proxy.wire.types import Message, SeenCall, SeenPart

OPEN, CLOSE, RESULT = "<tool_call>", "</tool_call>", "<tool_response>"


@dataclass(frozen=True, slots=True)
class _Block:
    """One block of a call's tags."""

    name: str
    canonical: str
    """Canonical arguments; the block's text where it is no whole call."""
    call: SeenCall | None


class TaggedTurn:
    """Takes a turn's text; a call is sealed by its closing tag.

    Args:
        first_only: only the turn's first call counts, read as Qwen DeepResearch does.
    """

    def __init__(self, *, first_only: bool) -> None:
        self._first_only = first_only
        self._tags = TagScanner((OPEN, CLOSE, RESULT))
        self._texts: list[list[str]] = [[]]
        """Pieces of the texts between the blocks."""
        self._open: list[str] | None = None
        """Pieces of the block that is open."""
        self._so_far = BlockPart()
        self._blocks: list[_Block] = []
        self._over = False

    def take(self, delta: dict[str, Json]) -> list[SeenCall]:
        """Go on with a delta; the calls that it seals."""
        return self.text(text_of(delta.get("content")))

    def text(self, piece: str) -> list[SeenCall]:
        """Go on with a piece of the text; the calls that it seals."""
        return [] if self._over else [call for text, tag in self._tags.feed(piece) for call in self._piece(text, tag)]

    def under_way(self) -> list[SeenPart]:
        """The call in the open block, where more is known of it than when this was asked last."""
        if self._open is None or self._over or (self._first_only and self._blocks):
            return []
        part = self._so_far.of_block(len(self._blocks), self._open)
        return [] if part is None or (self._first_only and is_code(part.name)) else [part]

    def seal(self) -> list[SeenCall]:
        """Nothing: a call without its closing tag is none."""
        return []

    def end(self) -> tuple[Message, bool]:
        """The turn, and whether the calls that count are whole."""
        if not self._over:
            self._piece(self._tags.end(), RESULT)
        text = "\n".join(filter(None, (mended("".join(pieces)).strip() for pieces in self._texts)))
        counted = self._blocks[:1] if self._first_only else self._blocks
        return Message(
            role="assistant",
            text=text,
            digest=assistant_digest(_spoken(text), [(block.name, block.canonical) for block in self._blocks]),
            calls=tuple(block.call for block in counted if block.call is not None),
        ), all(block.call is not None for block in counted)

    def _piece(self, text: str, tag: str) -> list[SeenCall]:
        """Go on with a text and the tag after it. A block that another tag than its own ends is no call."""
        if self._over:
            return []
        (self._texts[-1] if self._open is None else self._open).append(text)
        if not tag:
            return []
        block, self._open = self._open, [] if tag == OPEN else None
        self._over = tag == RESULT
        self._so_far = BlockPart()
        if block is None:
            return []
        self._texts.append([])
        return self._closed(mended("".join(block)), whole=tag == CLOSE)

    def _closed(self, text: str, *, whole: bool) -> list[SeenCall]:
        order = len(self._blocks)
        read = read_block(text, code_is_python=self._first_only) if whole else None
        if read is None:
            self._blocks.append(_Block("", text.strip(), None))
            return []
        name, arguments, canonical = read
        call = SeenCall(order=order, call_id=made_up_id(order, name, canonical), name=name, arguments=arguments)
        self._blocks.append(_Block(name, canonical, call))
        return [call] if order == 0 or not self._first_only else []


def read_text(text: str, *, first_only: bool) -> tuple[Message, bool]:
    """An assistant's whole text as a turn, and whether the calls that count are whole."""
    turn = TaggedTurn(first_only=first_only)
    turn.text(text)
    return turn.end()


def _spoken(text: str) -> str:
    """The text without the model's thinking, whose opening tag may have stood in the prompt."""
    return text.rpartition("</think>")[2].partition("<think>")[0]
