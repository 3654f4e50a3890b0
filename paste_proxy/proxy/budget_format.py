"""The file that keeps what calls run ahead have used, and what keeps them from being run for a while: its form."""

from collections import Counter, OrderedDict
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from paste_proxy.speculation.budgets.backoff import Closed
from paste_proxy.speculation.budgets.pauses import Pauses
from paste_proxy.speculation.budgets.used import Record, Used
from paste_proxy.speculation.budgets.waste import Door, Waste

_FORMAT, _VERSION = "paste-proxy budgets", 1
_LARGEST_FILE = 8 * 2**20
_IN_WORDS = ConfigDict(extra="ignore", allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Kept:
    """What a file keeps."""

    record: Record
    pauses: Pauses
    """In seconds since 1970."""


class _Sums(BaseModel):
    model_config = _IN_WORDS

    calls: int
    money: float
    bytes: int
    cpu_s: float
    rules: dict[str, int]

    def read(self) -> Used:
        return Used(self.calls, self.money, self.bytes, self.cpu_s, Counter(self.rules))


class _Closed(BaseModel):
    model_config = _IN_WORDS

    until: float
    pause_s: float


class _Pauses(BaseModel):
    model_config = _IN_WORDS

    at: float = 0.0
    closed: dict[str, _Closed] = {}
    wasted: list[tuple[float, float]] = []
    door: Door = Door.OPEN
    ajar_since: float = 0.0

    def read(self) -> Pauses:
        closed = tuple(Closed(tool, one.until, one.pause_s) for tool, one in self.closed.items())
        return Pauses(self.at, closed, Waste(tuple(self.wasted), self.door, self.ajar_since))


class _File(BaseModel):
    model_config = _IN_WORDS

    format: str
    version: int
    day: str
    used: _Sums
    sessions: dict[str, _Sums]
    pauses: _Pauses = _Pauses()


def read_kept(path: Path) -> Kept:
    """What a file keeps.

    Raises:
        FileNotFoundError: there is none.
        OSError, ValueError: it cannot be read as one of ours.
    """
    if path.stat().st_size > _LARGEST_FILE:
        raise ValueError(f"larger than {_LARGEST_FILE} bytes")
    try:
        file = _File.model_validate_json(path.read_bytes())
    except ValidationError as fault:
        raise ValueError(f"{fault.error_count()} of its fields are wrong or missing") from fault
    if (file.format, file.version) != (_FORMAT, _VERSION):
        raise ValueError(f"it is {file.format!r}, version {file.version}, not {_FORMAT!r}, version {_VERSION}")
    sessions = OrderedDict((name, sums.read()) for name, sums in file.sessions.items())
    return Kept(Record(file.day, file.used.read(), sessions), file.pauses.read())


def text_of(kept: Kept) -> str:
    """The text of a file."""
    record = kept.record
    made = _File(
        format=_FORMAT,
        version=_VERSION,
        day=record.day,
        used=_sums(record.used),
        sessions={name: _sums(used) for name, used in record.sessions.items()},
        pauses=_pauses(kept.pauses),
    )
    return made.model_dump_json()


def _sums(used: Used) -> _Sums:
    return _Sums(calls=used.calls, money=used.money, bytes=used.bytes, cpu_s=used.cpu_s, rules=dict(used.rules))


def _pauses(pauses: Pauses) -> _Pauses:
    waste = pauses.waste
    return _Pauses(
        at=pauses.at,
        closed={one.tool: _Closed(until=one.until, pause_s=one.pause_s) for one in pauses.closed},
        wasted=list(waste.amounts),
        door=waste.door,
        ajar_since=waste.ajar_since,
    )
