"""Three faults, by whose fault it is, and the HTTP status each is answered with.

Expected outcomes are values, not errors; these are for what a person has to mend.
"""

from urllib.parse import urlsplit

_LONGEST_SHOWN = 300
"""Characters of a place, and of what was found there, that a person is shown."""


class PasteError(Exception):
    """A fault with a sentence for people: what was wrong, where, what to do."""

    http_status = 500


class ClientFault(PasteError):
    """The caller's request cannot be served as it is."""

    http_status = 400


class UpstreamFault(PasteError):
    """The endpoint behind us failed or could not be reached."""

    http_status = 502


class UpstreamBusy(UpstreamFault):
    """The endpoint behind us wants fewer calls.

    Args:
        retry_after_s: none for so many seconds, where it says so.
    """

    def __init__(self, words: str, retry_after_s: float | None) -> None:
        super().__init__(words)
        self.retry_after_s = retry_after_s


class OurFault(PasteError):
    """Something in the sidecar broke; forwarding goes on without it."""

    http_status = 500


class InputFault(PasteError):
    """A file or option a person wrote is wrong.

    Args:
        where: file, and line or key where known.
        found: what stands there.
        expected: what should.
    """

    http_status = 400

    def __init__(self, where: str, found: str, expected: str) -> None:
        self.where, self.found, self.expected = _shown(where), _shown(found), expected
        super().__init__(f"{self.where}: {self.found}; expected {expected}")

    def __reduce__(self) -> tuple[type["InputFault"], tuple[str, str, str]]:
        """It can be raised in one process and reported by another."""
        return InputFault, (self.where, self.found, self.expected)


def place_of(address: str) -> str:
    """A web address as it may be shown to anybody: host and path; a user, a query and a fragment may hold secrets."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "(no address)"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _shown(text: str) -> str:
    text = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
    return text.encode("utf-8", "backslashreplace").decode()
