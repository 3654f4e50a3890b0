"""Effect domains: names of the state that tools read and write, as policies give them and as calls mean them.

A domain covers those below it: `crm` covers `crm:orders`, and `*` everything. In a policy a domain may
have places, `crm:orders:{order_id}` or `shop:{session}`: the first is filled from the call's argument of
that name, the second from the session, for tools whose state every session has for itself. Where an
argument is absent or no plain value, the domain is cut there and so covers all it might have meant.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote

from paste_proxy.events.invocation import Invocation

EVERYTHING = "*"
SESSION = "session"

WRITTEN = re.compile(r"\*|[A-Za-z0-9_.-]+(?::(?:[A-Za-z0-9_.-]+|\{[A-Za-z0-9_.-]+\}))*")
"""How a policy may write a domain; it begins with a word, so that it never means everything by accident."""

_PLACE = re.compile(r"\{([^}]*)\}")


def overlap(one: str, other: str) -> bool:
    """Whether two domains share state."""
    return one == other or EVERYTHING in (one, other) or one.startswith(other + ":") or other.startswith(one + ":")


def meant(domains: frozenset[str], session: str, invocation: Invocation) -> frozenset[str]:
    """The domains of one call, places filled."""
    if not any("{" in domain for domain in domains):
        return domains
    return frozenset(_filled(domain, session, invocation) for domain in domains)


def widest(domains: Iterable[str]) -> frozenset[str]:
    """The domains with everything from the first place on cut off: all that any call could mean."""
    return frozenset(domain.partition(":{")[0] for domain in domains)


def places(domains: Iterable[str]) -> frozenset[str]:
    """The arguments that fill the places of domains."""
    return frozenset(place for domain in domains for place in _PLACE.findall(domain)) - {SESSION}


def _filled(domain: str, session: str, invocation: Invocation) -> str:
    parts: list[str] = []
    for part in domain.split(":"):
        place = _PLACE.fullmatch(part)
        if place is None:
            parts.append(part)
            continue
        value = session if place[1] == SESSION else invocation.arguments.get(place[1])
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            break
        parts.append(quote(str(value), safe="", errors="replace"))
    return ":".join(parts)
