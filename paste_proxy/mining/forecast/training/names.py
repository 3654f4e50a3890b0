"""Numbers for names, given in the order of first use."""

from collections.abc import Hashable
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)


class Names(Generic[Name]):
    """Features and labels as models number them."""

    def __init__(self) -> None:
        self.of: dict[Name, int] = {}

    def __call__(self, name: Name) -> int:
        """The number of a name."""
        return self.of.setdefault(name, len(self.of))
