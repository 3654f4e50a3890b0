"""Mutations of recorded bytes, the same for one seed and number."""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

_LARGEST = 48 * 2**10
_VALUE = re.compile(rb'(?<=[:\[,]) ?("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|\{\}|\[\])')
_KEY = re.compile(rb'"(\w+)" ?:')
_STRUCTURE = re.compile(rb'[{}\[\]":,0-9]')
_OTHER_VALUES = (
    *(b"null", b"true", b"false", b"0", b"1", b"-1", b"-0", b"2.5", b'""', b'" "', b'"x"', b"[]", b"{}", b"[[]]"),
    *(b"[null]", b"[{}]", b'{"type":"x"}', b'[{"type":"text","text":"t"}]', b'"{}"', b'"{\\"a\\":"', b'"null"'),
    *(b"1e400", b"-1e999", b"NaN", b"Infinity", b"18446744073709551616", b"9" * 400, b"9" * 5000, b"1e-400"),
    *(b'"\\ud83d"', b'"\\ude00\\ud83d"', b'"\\u0000"', b'"\\u2028"', b'"length"', b'"error"', b'"<tool_call>"'),
)
_SNIPPETS = (
    *(b"\n\n", b"\r", b"\r\n\r\n", b"\n", b"data:", b"data: [DONE]\n\n", b"event: error\n", b":", b"\0", b'"', b"\\"),
    *(b"<tool_call>", b"</tool_call>", b"<code>", b"</code>", b"<tool_response>", b"<answer>", b"<think>", b"```"),
    *(b"\xff", b"\xfe\xff", b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xc3", b"\xf0\x9f", b"\xc0\xaf", b"\xef\xbb\xbf"),
    *(b"\\ud800", b"\\", b"\\u", b"\xe2\x80\xa8", b"\xc2\x85", b"{", b"}", b"[", b"]", b",", b"'", b"/*", b"//"),
)


def mutated(seeds: Sequence[bytes], dice: Random) -> bytes:
    """One of the seeds after one to four mutations."""
    data = dice.choice(seeds)
    for _ in range(dice.choice((1, 1, 2, 2, 3, 4))):
        data = dice.choice(_MUTATIONS)(data, dice, seeds)
    return data[:_LARGEST]


def retyped(seed: bytes) -> Iterator[bytes]:
    """Every JSON value of the seed in turn as each of a few others."""
    for value in _VALUE.finditer(seed):
        for other in (b"null", b"0", b'"\\ud83d"', b"[]", b"{}", b"9" * 400):
            yield seed[: value.start(1)] + other + seed[value.end(1) :]


def pieces(data: bytes, dice: Random) -> list[bytes]:
    """The same bytes in two or three chunks."""
    cuts = sorted(dice.randrange(len(data) + 1) for _ in range(dice.randint(1, 2)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def _at(data: bytes, dice: Random) -> int:
    return dice.randrange(len(data)) if data else 0


def _flip(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    raw = bytearray(data)
    for _number in range(dice.randint(1, 4) if raw else 0):
        raw[_at(data, dice)] ^= 1 << dice.randrange(8)
    return bytes(raw)


def _delete(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    at = _at(data, dice)
    return data[:at] + data[at + dice.choice((1, 1, 2, 8, 40)) :]


def _insert(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    at = _at(data, dice)
    return data[:at] + dice.randbytes(dice.randint(1, 8)) + data[at:]


def _snippet(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    at = _at(data, dice)
    return data[:at] + dice.choice(_SNIPPETS) + data[at:]


def _truncate(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    return data[: _at(data, dice)]


def _behead(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    return data[_at(data, dice) :]


def _splice(data: bytes, dice: Random, seeds: Sequence[bytes]) -> bytes:
    other = dice.choice(seeds)
    return data[: _at(data, dice)] + other[_at(other, dice) :]


def _repeat(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    start = _at(data, dice)
    end = start + dice.choice((1, 7, 30, 200))
    return data[:end] + data[start:end] * dice.choice((1, 2, 20)) + data[end:]


def _events(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    """An event twice, left out, elsewhere, or all in another order."""
    events = data.split(b"\n\n")
    at = dice.randrange(len(events))
    match dice.randrange(4):
        case 0:
            events.insert(dice.randrange(len(events)), events[at])
        case 1:
            del events[at]
        case 2:
            events.insert(dice.randrange(len(events)), events.pop(at))
        case _:
            dice.shuffle(events)
    return b"\n\n".join(events)


def _swap(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    """A digit, bracket, quote or comma for another."""
    mark = _STRUCTURE.search(data, _at(data, dice))
    if mark is None:
        return data
    return (
        data[: mark.start()] + dice.choice((b"{", b"}", b"[", b"]", b'"', b":", b",", b"0", b"")) + data[mark.end() :]
    )


def _retype(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    """A JSON value becomes one of another kind."""
    value = _VALUE.search(data, _at(data, dice)) or _VALUE.search(data)
    return data[: value.start(1)] + dice.choice(_OTHER_VALUES) + data[value.end(1) :] if value else data


def _rename(data: bytes, dice: Random, seeds: Sequence[bytes]) -> bytes:
    """A key becomes another of the recordings' keys."""
    key, others = _KEY.search(data, _at(data, dice)), _KEY.findall(dice.choice(seeds))
    return data[: key.start(1)] + dice.choice(others) + data[key.end(1) :] if key and others else data


def _nest(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    """A value becomes deeply nested."""
    value = _VALUE.search(data, _at(data, dice))
    if value is None or dice.random() < 0.8:  # costly, so seldom
        return data
    depth = dice.choice((10, 130, 300, 1100, 3000))
    opened, closed = dice.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"[", b"")))
    return data[: value.start(1)] + opened * depth + value[1] + closed * depth + data[value.end(1) :]


def _line_ends(data: bytes, dice: Random, _: Sequence[bytes]) -> bytes:
    return data.replace(b"\n", dice.choice((b"\r", b"\r\n")), dice.choice((1, 3, -1)))


_MUTATIONS: tuple[Callable[[bytes, Random, Sequence[bytes]], bytes], ...] = (
    *(_flip, _delete, _insert, _snippet, _snippet, _truncate, _behead, _splice, _repeat, _events, _events),
    *(_swap, _swap, _retype, _retype, _retype, _rename, _nest, _line_ends),
)
