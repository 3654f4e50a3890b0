"""Takes secrets out of JSON values before they reach the disk.

A secret becomes a stand-in made of a keyed hash: under one key the same secret always gives the same
stand-in, so a value in an output still equals the same value in a later argument, and without the key
the stand-in tells nothing. What counts as a secret: values under names such as `api_key` or `password`,
in JSON and in text; tokens of a known make; private keys; passwords in URLs and among the options of a command. Where
in doubt, it is one.
"""

from hashlib import blake2b

from paste_proxy.events.codec import dump
from paste_proxy.events.secret_traces import argv_spans, may_hold_secret, names_secret, scheme_length, secret_spans
from paste_proxy.events.values import Json

MARK = "REDACTED-"
"""Begins every stand-in."""
_SPREADS_FROM = 8
"""Characters from which a secret that is no plain word is removed wherever else it stands in the value."""


class Redactor:
    """Replaces secrets by stand-ins that depend on `key`: random bytes that never leave the process."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def value(self, value: Json) -> Json:
        """The value with every secret in it replaced. Numbers under secret names become texts.

        Raises:
            ValueError: the value is too deeply nested.
        """
        found: set[str] = set()
        try:
            clean = self._walk(value, found, named=False)
        except RecursionError as fault:
            raise ValueError("nested too deeply") from fault
        spreading = [secret for secret in found if len(secret) >= _SPREADS_FROM and not secret.isalpha()]
        return self._spread(clean, sorted(spreading, key=len, reverse=True)) if spreading else clean

    def text(self, text: str) -> str:
        """The text with every secret in it replaced."""
        return str(self.value(text))

    def line(self, record: dict[str, Json]) -> bytes:
        """The line of an event record, its secrets replaced.

        Raises:
            ValueError: the record is not JSON or too deeply nested.
        """
        line = dump(record)
        if not may_hold_secret(line):
            return line
        clean = self.value(record)
        assert isinstance(clean, dict)
        return dump(clean)

    def stand_in(self, secret: str) -> str:
        """What stands for a secret; a stand-in stands for itself."""
        if secret.startswith(MARK):
            return secret
        return MARK + blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=6).hexdigest()

    def _walk(self, value: Json, found: set[str], *, named: bool) -> Json:
        match value:
            case dict():
                return {
                    self._in_text(key, found): self._walk(inner, found, named=named or names_secret(key))
                    for key, inner in value.items()
                }
            case list():
                words = [inner for inner in value if isinstance(inner, str)]
                if not named and len(words) == len(value):
                    return [
                        self._without(word, spans, found) for word, spans in zip(words, argv_spans(words), strict=True)
                    ]
                return [self._walk(inner, found, named=named) for inner in value]
            case str():
                return self._named(value, found) if named else self._in_text(value, found)
            case bool() | None:
                return value
            case _:
                return self.stand_in(str(value)) if named else value

    def _named(self, value: str, found: set[str]) -> str:
        start = scheme_length(value)
        return value[:start] + self._found(value[start:], found) if value[start:] else value

    def _in_text(self, text: str, found: set[str]) -> str:
        return self._without(text, secret_spans(text), found)

    def _without(self, text: str, spans: list[tuple[int, int]], found: set[str]) -> str:
        pieces, done = [], 0
        for start, end in spans:
            pieces += [text[done:start], self._found(text[start:end], found)]
            done = end
        return "".join([*pieces, text[done:]])

    def _found(self, secret: str, found: set[str]) -> str:
        found.add(secret)
        return self.stand_in(secret)

    def _spread(self, value: Json, secrets: list[str]) -> Json:
        match value:
            case dict():
                return {str(self._spread(key, secrets)): self._spread(inner, secrets) for key, inner in value.items()}
            case list():
                return [self._spread(inner, secrets) for inner in value]
            case str():
                for secret in secrets:
                    value = value.replace(secret, self.stand_in(secret))
                return value
            case _:
                return value
