"""What calls run ahead have used of their budgets, kept beside what sessions taught.

Written every few seconds while there is anything new, off the loop. Sidecars that share the file share the budgets:
each adds its own to what is kept and goes on from the sum.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from paste_proxy.config import Config
from paste_proxy.proxy.memory import paths
from paste_proxy.proxy.memory_file import REFUSED
from paste_proxy.proxy.private_file import alone, write_whole
from paste_proxy.speculation.budgets.used import Book, Record, Used, whole

log = structlog.get_logger(__name__)

SAVE_EVERY_S = 2.0
_FORMAT, _VERSION = "paste-proxy budgets", 1
_LARGEST_FILE = 8 * 2**20


class _Sums(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    calls: int
    money: float
    bytes: int
    cpu_s: float
    rules: dict[str, int]

    def read(self) -> Used:
        return Used(self.calls, self.money, self.bytes, self.cpu_s, Counter(self.rules))


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    format: str
    version: int
    day: str
    used: _Sums
    sessions: dict[str, _Sums]


def budget_path(config: Config) -> Path | None:
    """Where it is kept; None: nowhere."""
    files = paths(config)
    return None if files is None else files[0].with_name("budgets.json")


def read_record(path: Path) -> Record:
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
    return Record(file.day, file.used.read(), OrderedDict((name, sums.read()) for name, sums in file.sessions.items()))


def text_of(record: Record) -> str:
    """The text of a file."""
    sessions = {name: _sums(used) for name, used in record.sessions.items()}
    made = _File(format=_FORMAT, version=_VERSION, day=record.day, used=_sums(record.used), sessions=sessions)
    return made.model_dump_json()


def _sums(used: Used) -> _Sums:
    return _Sums(calls=used.calls, money=used.money, bytes=used.bytes, cpu_s=used.cpu_s, rules=dict(used.rules))


@dataclass(slots=True)
class KeptBudgets:
    """One sidecar's book and its file."""

    book: Book
    path: Path
    fault: Callable[[str], None]
    """Called with a place for every fault of the disk."""
    _task: "asyncio.Task[None] | None" = None
    _saving: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def start(self) -> None:
        """Go on from what was kept, and keep what is new from now on."""
        kept = await asyncio.to_thread(self._read)
        if kept is not None:
            self.book.begin(kept)
        self._task = asyncio.create_task(self._keep(), name="budgets")

    async def close(self) -> None:
        """Keep what is new, and stop."""
        async with self._saving:
            if self._task is not None:
                self._task.cancel()
                await asyncio.gather(self._task, return_exceptions=True)
        await self.save()

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(SAVE_EVERY_S)
            await self.save()

    async def save(self) -> None:
        """Keep what is new. Raises nothing."""
        async with self._saving:
            await self._save()

    async def _save(self) -> None:
        if self.book.fresh.used == Used():
            return
        record, fresh = self.book.take()
        try:
            made = await asyncio.to_thread(self._write, record, fresh)
        except Exception as fault:  # noqa: BLE001  whatever a disk does, sessions go on
            self.book.not_kept(fresh)
            self.fault("budgets")
            log.warning("budgets_fault", path=str(self.path), fault=str(fault))
        else:
            self.book.kept(made, record)

    def _write(self, record: Record, fresh: Record) -> Record:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone(self.path.parent):
            made = whole(self._stored(), record, fresh)
            write_whole(self.path, text_of(made))
            return made

    def _read(self) -> Record | None:
        try:
            with alone(self.path.parent):
                return self._stored()
        except FileNotFoundError:
            return None
        except OSError as fault:
            self.fault("budgets")
            log.warning("budgets_fault", path=str(self.path), fault=str(fault))
            return None

    def _stored(self) -> Record | None:
        try:
            return read_record(self.path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as fault:
            aside = self.path.with_name(self.path.name + REFUSED)
            with suppress(OSError):
                self.path.replace(aside)
            self.fault("budgets")
            log.warning("budgets_refused", path=str(self.path), fault=str(fault), kept_as=str(aside))
            return None
