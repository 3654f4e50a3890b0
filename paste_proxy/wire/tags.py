"""Finds tags in a text fed in pieces, however it is cut."""

import re
from collections.abc import Iterable, Iterator


class TagScanner:
    """Cuts a text at given tags; each character is looked at once.

    Args:
        tags: what to find; each begins with `<` and has no other `<`.
    """

    def __init__(self, tags: Iterable[str]) -> None:
        self._tags = tuple(tags)
        self._any = re.compile("|".join(map(re.escape, self._tags)))
        self._held = ""
        """The end of the text so far, where it may be the beginning of a tag."""

    def feed(self, piece: str) -> Iterator[tuple[str, str]]:
        """Texts, each with the tag that ends it; the last has none, its tag is empty."""
        text, at = self._held + piece, 0
        for tag in self._any.finditer(text):
            yield text[at : tag.start()], tag[0]
            at = tag.end()
        begun = text.rfind("<", at)
        cut = begun if begun >= 0 and any(tag.startswith(text[begun:]) for tag in self._tags) else len(text)
        self._held = text[cut:]
        yield text[at:cut], ""

    def end(self) -> str:
        """The text is over: what was held back."""
        held, self._held = self._held, ""
        return held
