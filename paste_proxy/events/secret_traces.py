"""Where secrets stand in a text.

Each kind of secret has a literal trace, `ghp_` or `password`, and a pattern that must match where the
trace is found. Looking for literals is what makes this cheap: a text without any costs one pass of
`str.find` per trace, and the patterns run only at the few places that have one.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from paste_proxy.events.secret_options import TRACES, option_spans

_KINDS_OF_KEY = ("api", "access", "secret", "private", "account", "signing", "encryption", "subscription")
_KEY = "(?:" + "|".join(f"(?<={kind})|(?<={kind}[ _.-])" for kind in _KINDS_OF_KEY) + ")key"

_SCHEME = r"(?:(?:bearer|basic|token|digest)\s+)?"
_VALUE = (
    r"""
    (?P<quote>\\*["'`])?"""
    + _SCHEME
    + r"""
    (?P<secret> (?(quote) (?:\\.|[^\n])+?(?=(?P=quote)|\n|\Z) | [^\s"'`&,;<>(){}\[\]\\]{4,}+(?!\() ) )
"""
)
"""A quoted text to its closing quote, else a word that is no call; quotes may be escaped, for JSON within a text."""
_NAMED = r"""(?:[ _.-]?(?:value|string|hash))? [\\"'`]* \s* (?:=>|:?=|:) \s* """ + _VALUE

_NAMES = {
    "token": r"token(?!s)",
    "key": _KEY + "s?",
    **{
        name: name + "s?"
        for name in (
            "authorization", "password", "passwd", "passphrase", "passcode", "secret", "cookie", "credential",
        )
    },
}  # fmt: skip

_VARIABLES = ("pgpassword", "mysql_pwd", "sshpass", "rediscli_auth")
"""From which programs read a password, however short."""

_MAKES = {
    "sk-": r"(?: (?<![A-Za-z0-9]) | (?<=\\[nrt]) ) sk-[\w-]{16,}",
    **{f"{letter}k_{mode}_": r"\w\w_\w{4}_\w{16,}" for letter in "sr" for mode in ("live", "test")},
    **{f"gh{letter}_": r"gh\w_\w{20,}" for letter in "pousr"},
    "github_pat_": r"github_pat_\w{20,}",
    "glpat-": r"glpat-[\w-]{16,}",
    "hf_": r"hf_\w{20,}",
    "npm_": r"npm_\w{30,}",
    "xox": r"xox[abeprs]-[\w-]{10,}",
    "akia": r"AKIA[0-9A-Z]{16}",
    "asia": r"ASIA[0-9A-Z]{16}",
    "aiza": r"AIza[\w-]{30,}",
    "eyj": r"eyJ[\w-]{6,2000}\.[\w-]{6,}(?:\.[\w-]*)?",
    "-----begin ": r"-----BEGIN[ ][A-Z0-9 ]*PRIVATE[ ]KEY-----(?s:.*?)(?:-----END[ ][A-Z0-9 ]*KEY-----|\Z)",
}


def _compiled() -> Iterator[tuple[str, re.Pattern[str]]]:
    loose, exact = re.X | re.A | re.I, re.X | re.A
    for trace, name in _NAMES.items():
        yield trace, re.compile(name + _NAMED, loose)
    yield "cookie:", re.compile(r"""cookie:\s*(?P<secret>[^\n"'\\]+)""", loose)
    yield "key=", re.compile(r"(?<=[?&])key=" + _VALUE, loose)
    yield "sig=", re.compile(r"(?<=[?&])sig=" + _VALUE, loose)
    yield "signature=", re.compile(r"signature=" + _VALUE, loose)
    for name in _VARIABLES:
        yield f"{name}=", re.compile(name + r"""=\\*["']?(?P<secret>[^\s"'`$\\]+)""", loose)
    yield "bearer", re.compile(r"bearer\s+(?P<secret>(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,})", loose)
    yield "://", re.compile(r"""://[^\s/:@"'<>]*:(?P<secret>[^\s/"'<>]+)@""", exact)
    for trace, make in _MAKES.items():
        yield trace, re.compile(f"(?P<secret>{make})", exact)


_RULES = tuple(_compiled())
_TRACES = tuple(trace.encode() for trace in (*TRACES, *(trace for trace, _ in _RULES)))
_LONGEST_ARGV = 200
"""Words."""
_SECRET_NAME = re.compile(rf"(?:{'|'.join(_NAMES.values())})(?:[ _.-]?(?:value|string|hash))?$", re.A | re.I)
_DECLARED = frozenset(
    ("string", "text", "true", "false", "null", "none", "undefined", "number", "boolean", "required", "optional")
)
"""What stands after a secret's name where code or a schema declares it."""
_LEADING_SCHEME = re.compile(_SCHEME, re.A | re.I)


def names_secret(key: str) -> bool:
    """Whether a field of this name holds a secret: `apiKey`, `X-Auth-Token`, but not `max_tokens`."""
    return _SECRET_NAME.search(key) is not None


def scheme_length(value: str) -> int:
    """Length of the authorization scheme a secret value opens with, 0 for none."""
    match = _LEADING_SCHEME.match(value)
    return match.end() if match else 0


def may_hold_secret(line: bytes) -> bool:
    """Whether an encoded line can hold anything to redact: the quick look at bytes before the real one."""
    lowered = line.lower().replace(b"tokens", b"t0kens")  # every LLM turn counts its tokens
    return any(trace in lowered for trace in _TRACES)


def secret_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every secret in a text, in order, none overlapping."""
    lowered = _lower(text)
    found = list(option_spans(text, lowered))
    for trace, pattern in _RULES:
        place = lowered.find(trace)
        while place >= 0:
            match = pattern.match(text, place)
            if match and match["secret"].lower() not in _DECLARED:
                found.append(match.span("secret"))
            place = lowered.find(trace, match.end() if match else place + len(trace))
    return _merged(sorted(found))


def argv_spans(words: Sequence[str]) -> list[list[tuple[int, int]]]:
    """The same of each word of a list that may be a command's: `["curl", "-u", "user:SECRET"]`."""
    found = [secret_spans(word) for word in words]
    line = " ".join(words[:_LONGEST_ARGV])
    lowered = _lower(line)
    if any(trace in lowered for trace in TRACES):
        starts = list(accumulate((len(word) + 1 for word in words[:_LONGEST_ARGV]), initial=0))
        for start, end in option_spans(line, lowered):
            at = bisect_right(starts, start) - 1
            found[at].append((start - starts[at], min(end - starts[at], len(words[at]))))
    return [_merged(sorted(spans)) for spans in found]


def _lower(text: str) -> str:
    return text.replace("\u0130", "i").lower()  # the one character that grows when lowered


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
