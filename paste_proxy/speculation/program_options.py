"""What a program may be given for it to do nothing but read: every option by its name, none by its look.

Standard library only.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

NUMBER = re.compile(r"\d{1,9}")
ANY = re.compile(r"[^-].*")
MANY = 1_000
NEVER = range(0)
"""As a number of operands: not there at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a program may be given."""

    flags: str = ""
    """Letters of options without a value; several may share a dash."""
    valued: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """Letters of options with one, in the same word or the next."""
    words: Mapping[str, re.Pattern[str] | None] = field(default_factory=dict)
    """Options that are a word, dashes and all, and what the next word is to be."""
    long: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """Options after two dashes, with their value behind `=`."""
    number: bool = False
    """Whether a number after a dash is an option."""
    first: re.Pattern[str] | None = None
    """What the first operand has to be, where it is none that names a file."""
    source: range = range(1, MANY)
    """How many operands it may have as the first of a pipeline."""
    filter: range = range(1)
    """And as any other."""
    spares: str = ""
    """A flag with which it needs one operand less."""

    def takes(self, words: Sequence[str], *, first: bool) -> bool:
        """Whether it may be given these words, as the first of a pipeline or as any other."""
        rest, flags, operands = iter(words), set[str](), 0
        for word in rest:
            if not word.startswith("-"):
                if not operands and self.first is not None and not self.first.fullmatch(word):
                    return False
                operands += 1
            elif not self._option(word, rest, flags):
                return False
        if first and self.spares and self.spares in flags:
            operands += 1
        return operands in (self.source if first else self.filter)

    def _option(self, word: str, rest: Iterator[str], flags: set[str]) -> bool:
        """Whether a word that begins with a dash may be there; takes its value from the rest and notes flags."""
        if word in self.words:
            value = self.words[word]
            return value is None or _next(value, rest)
        name, equals, said = word.partition("=")
        if name in self.long:
            return bool(equals) and self.long[name].fullmatch(said) is not None
        letters = word[1:]
        if self.number and NUMBER.fullmatch(letters):
            return True
        for at, letter in enumerate(letters):
            if letter in self.valued:
                inside = letters[at + 1 :]
                value = self.valued[letter]
                return value.fullmatch(inside) is not None if inside else _next(value, rest)
            if letter not in self.flags:
                return False
            flags.add(letter)
        return bool(letters)


def _next(value: re.Pattern[str], rest: Iterator[str]) -> bool:
    return value.fullmatch(next(rest, "\n")) is not None
