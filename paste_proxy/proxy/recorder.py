"""Records events on disk, off the loop and never in its way.

The loop only puts events into a bounded queue. One thread of its own encodes, redacts and writes them; a
fault there is counted and costs events of the log, nothing else.
"""

import asyncio
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from queue import SimpleQueue

import structlog

from paste_proxy.clock import Clock
from paste_proxy.config import Recording
from paste_proxy.events.codec import dump, record_of
from paste_proxy.events.redaction import Redactor
from paste_proxy.events.signature import signature
from paste_proxy.events.types import Event
from paste_proxy.events.values import Json
from paste_proxy.proxy.segments import Segments

log = structlog.get_logger(__name__)

_LONGEST_LINE = 2**20
"""Bytes; a larger payload is recorded as its size and signature."""
_PAUSE_S = 1.0
"""After a disk error nothing is tried for this long, so a full disk does not cost a system call an event."""
_PATIENCE_S = 10.0
"""How long closing waits for a disk that does not answer."""
_NUMBERED_SESSIONS = 10_000
_PAYLOADS = ("args", "output", "text")


class Recorder:
    """Writes every recorded event as a line of the log that `config` describes, or nothing without a directory.

    Args:
        fault: called with a place for every event lost to an error of its own and for every one that found
            no room; from two threads, which never name the same place.
    """

    def __init__(self, config: Recording, clock: Clock, fault: Callable[[str], None] = lambda _: None) -> None:
        self._config, self._clock, self._fault = config, clock, fault
        self._failing = False
        self._queue: SimpleQueue[tuple[Event, int] | None] = SimpleQueue()
        self._positions = _Positions()
        self._overflowed = self._skipped = self.faults = 0
        self._redactor = Redactor(secrets.token_bytes(32))
        self._paused_until = float("-inf")
        self._thread: threading.Thread | None = None
        if config.directory is not None:
            segments = Segments(config.directory, config, clock)
            self._thread = threading.Thread(target=self._run, args=(segments,), name="recorder", daemon=True)
            self._thread.start()

    @property
    def dropped(self) -> int:
        """Events not recorded: the queue was full, the recorder closed, or the disk had just failed.

        `faults` counts those lost to an error of their own: a disk error, a payload that is not JSON.
        """
        return self._overflowed + self._skipped

    def record(self, event: Event) -> None:
        """Take an event. Never blocks, never raises; a dropped event leaves a gap in its session's `seq`."""
        if self._config.directory is None:
            return
        seq = self._positions.next(event.session)
        if self._thread is None or self._queue.qsize() >= self._config.queue_events:
            self._overflowed += 1
            self._fault("recorder_queue")
        else:
            self._queue.put((event, seq))

    async def close(self) -> None:
        """Write out what was taken and stop. Waits at most ten seconds for the disk."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            await asyncio.to_thread(thread.join, _PATIENCE_S)

    def _run(self, segments: Segments) -> None:
        while (item := self._queue.get()) is not None:
            if self._clock.monotonic() < self._paused_until:
                self._skipped += 1
                continue
            try:
                segments.write(self._line(*item))
                self._failing = False
            except OSError as fault:
                self._failed()
                self._paused_until = self._clock.monotonic() + _PAUSE_S
                if not self._failing:
                    log.warning("recording_fault", directory=str(self._config.directory), fault=str(fault))
                self._failing = True
            except Exception:  # noqa: BLE001  whatever an event holds, the next one is written
                self._failed()
        segments.close()

    def _failed(self) -> None:
        self.faults += 1
        self._fault("recorder")

    def _line(self, event: Event, seq: int) -> bytes:
        record = record_of(event, seq)
        if self._config.payloads == "signatures" or len(dump(record)) > _LONGEST_LINE:
            record = _without_payload(record, event)
        return self._redactor.line(record)


def _without_payload(record: dict[str, Json], event: Event) -> dict[str, Json]:
    """The record with its payload emptied; `signature` and `bytes` say what it was."""
    held = {name: record[name] for name in _PAYLOADS if name in record}
    sizes: dict[str, Json] = {name: len(dump(value)) - 1 for name, value in held.items()}
    empty: dict[str, Json] = {name: {} if name == "args" else "" for name in held}
    cut: dict[str, Json] = {"truncated": True} if "output" in held else {}
    return {**record, **empty, **cut, "signature": signature(event), "bytes": sizes}


class _Positions:
    """The next `seq` of each session, for a bounded number of sessions.

    A forgotten session that comes back goes on above every position forgotten so far, so that its events
    stay in order.
    """

    def __init__(self) -> None:
        self._next: OrderedDict[str, int] = OrderedDict()
        self._floor = 0

    def next(self, session: str) -> int:
        seq = self._next.pop(session, self._floor)
        self._next[session] = seq + 1
        if len(self._next) > _NUMBERED_SESSIONS:
            self._floor = max(self._floor, self._next.popitem(last=False)[1])
        return seq
