"""The recorder never gets in the loop's way, and its log is readable whatever happens."""

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from structlog.testing import capture_logs

from paste_proxy.clock import FakeClock
from paste_proxy.config import Recording
from paste_proxy.events.codec import BadLine, read_lines
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json
from paste_proxy.importers.neutral import read
from paste_proxy.proxy.recorder import Recorder


class Gate(FakeClock):
    """A clock that lets the writer thread take one event per `open`, and says when it waits at the next."""

    def __init__(self) -> None:
        super().__init__(1_700_000_000.0)
        self._arrived = threading.Semaphore(0)
        self._open = threading.Semaphore(0)

    def monotonic(self) -> float:
        self._arrived.release()
        assert self._open.acquire(timeout=30)
        return self.now

    def wait_for_writer(self) -> None:
        assert self._arrived.acquire(timeout=30)

    def open(self, times: int = 1) -> None:
        self._open.release(times)


def said(text: str, session: str = "s") -> UserMessage:
    return UserMessage(session=session, ts=1.0, text=text)


def recording(directory: Path | None, **config: Json) -> Recording:
    return Recording.model_validate({"directory": directory, **config})


def on_disk(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.glob("events-*.jsonl")))


def records(directory: Path) -> Iterator[dict[str, Json]]:
    yield from map(json.loads, on_disk(directory).splitlines())


async def logged(directory: Path, *events: Event, **config: Json) -> list[dict[str, Json]]:
    recorder = Recorder(recording(directory, **config), FakeClock(1_700_000_000.0))
    for event in events:
        recorder.record(event)
    await recorder.close()
    assert (recorder.dropped, recorder.faults) == (0, 0)
    return list(records(directory))


async def test_events_come_back_in_order_numbered_by_session(tmp_path: Path) -> None:
    events = [said(f"{n}", "even" if n % 2 == 0 else "odd") for n in range(50)]
    lines = await logged(tmp_path, *events)
    assert [line["seq"] for line in lines] == [n // 2 for n in range(50)]
    reading = await asyncio.to_thread(read, [tmp_path])
    sessions = {session.id: list(session.events) for session in reading.sessions}
    assert sessions == {"even": events[::2], "odd": events[1::2]}


async def test_no_directory_records_nothing_and_is_no_fault() -> None:
    recorder = Recorder(recording(None), FakeClock())
    recorder.record(said("x"))
    await recorder.close()
    assert (recorder.dropped, recorder.faults) == (0, 0)


async def test_a_full_queue_drops_and_counts_and_leaves_a_gap(tmp_path: Path) -> None:
    gate = Gate()
    recorder = Recorder(recording(tmp_path, queue_events=3), gate)
    recorder.record(said("0"))
    gate.wait_for_writer()
    for n in range(1, 6):
        recorder.record(said(f"{n}"))
    assert recorder.dropped == 2
    gate.open(2)
    for _ in range(2):
        gate.wait_for_writer()
    recorder.record(said("6"))
    gate.open(10)
    await recorder.close()
    assert [(line["seq"], line["text"]) for line in records(tmp_path)] == [(n, f"{n}") for n in (0, 1, 2, 3, 6)]
    assert (recorder.dropped, recorder.faults) == (2, 0)


async def test_closing_twice_is_closing_once_and_later_events_are_dropped(tmp_path: Path) -> None:
    recorder = Recorder(recording(tmp_path), FakeClock(1_700_000_000.0))
    recorder.record(said("in time"))
    await recorder.close()
    await recorder.close()
    recorder.record(said("late"))
    assert recorder.dropped == 1
    assert [line["text"] for line in records(tmp_path)] == ["in time"]


async def test_a_disk_error_is_counted_and_tried_again_after_a_pause(tmp_path: Path) -> None:
    log, gate = tmp_path / "log", Gate()
    log.write_text("in the way")
    recorder = Recorder(recording(log), gate)
    for n in range(4):
        recorder.record(said(f"{n}"))
    gate.open(2)  # the first event fails and reads the clock once more for its pause
    for _ in range(3):
        gate.wait_for_writer()
    assert (recorder.dropped, recorder.faults) == (0, 1)
    log.unlink()
    gate.open()  # the second falls into the pause
    gate.wait_for_writer()
    assert (recorder.dropped, recorder.faults) == (1, 1)
    gate.advance(1.0)
    gate.open(10)
    await recorder.close()
    assert [line["text"] for line in records(log)] == ["2", "3"]
    assert (recorder.dropped, recorder.faults) == (1, 1)


async def test_a_payload_that_is_not_json_costs_its_own_event_only(tmp_path: Path) -> None:
    recorder = Recorder(recording(tmp_path), FakeClock(1_700_000_000.0))
    deep: Json = None
    for _ in range(100_000):
        deep = [deep]
    for output in (1, deep, 2):
        event = ToolOutput(session="s", ts=None, call_id="c", tool="t", output=output, status=Status.OK)
        recorder.record(event)
    await recorder.close()
    assert [line["output"] for line in records(tmp_path)] == [1, 2]
    assert (recorder.dropped, recorder.faults) == (0, 1)


async def test_secrets_do_not_reach_the_disk_and_still_match(tmp_path: Path) -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    output: Json = {"stdout": f"export GITHUB_TOKEN={secret}", "input_tokens": 7}
    one, two = await logged(
        tmp_path,
        ToolOutput(session="s", ts=None, call_id="a", tool="sh", output=output, status=Status.OK),
        ToolCall(session="s", ts=None, call_id="b", invocation=Invocation("login", {"token": secret})),
    )
    assert secret.encode() not in on_disk(tmp_path)
    assert isinstance(two["args"], dict)
    assert isinstance(one["output"], dict)
    assert one["output"] == {"stdout": f"export GITHUB_TOKEN={two['args']['token']}", "input_tokens": 7}


async def test_cut_to_signatures_the_log_holds_no_payload(tmp_path: Path) -> None:
    call = Invocation("fs/read", {"path": "/home/me/diary"})
    lines = await logged(
        tmp_path,
        said("my diary"),
        LlmTurn(session="s", ts=1.0, text="the diary", model="m", input_tokens=9),
        ToolCall(session="s", ts=1.0, call_id="c", invocation=call),
        ToolOutput(session="s", ts=1.0, call_id="c", tool="fs/read", output=["dear diary"], status=Status.ERROR),
        payloads="signatures",
    )
    assert b"diary" not in on_disk(tmp_path)
    assert [line["signature"] for line in lines] == ["user", "llm", "call:fs/read", "output:error:list.one:fs/read"]
    assert lines[1]["input_tokens"] == 9
    assert lines[3]["status"] == "error"
    assert lines[3]["bytes"] == {"output": 14}
    [session] = (await asyncio.to_thread(read, [tmp_path])).sessions
    assert [type(event) for event in session.events] == [UserMessage, LlmTurn, ToolCall, ToolOutput]


async def test_a_huge_payload_is_recorded_as_its_size(tmp_path: Path) -> None:
    huge = ToolOutput(session="s", ts=1.0, call_id="c", tool="t", output="x" * 5_000_000, status=Status.OK)
    [line] = await logged(tmp_path, huge)
    assert line["bytes"] == {"output": 5_000_002}
    assert line["output"] == ""
    assert line["truncated"] is True


async def test_a_session_forgotten_and_back_goes_on_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paste_proxy.proxy.recorder._NUMBERED_SESSIONS", 2)
    events = [said(f"{n}", session) for n, session in enumerate("aaabcdabd")]
    lines = await logged(tmp_path, *events)
    seen: dict[Json, list[Json]] = {}
    for line in lines:
        seen.setdefault(str(line["session"]), []).append(line["seq"])
    assert all(numbers == sorted(set(map(int, map(str, numbers)))) for numbers in seen.values())
    assert seen["a"][:3] == [0, 1, 2]


ENDLESS = """
import sys
from itertools import count
from pathlib import Path
from paste_proxy.clock import SystemClock
from paste_proxy.config import Recording
from paste_proxy.proxy.recorder import Recorder
from tests.proxy.test_recorder import said

recorder = Recorder(Recording(directory=Path(sys.argv[1]), segment_bytes=100_000), SystemClock())
for n in count():
    recorder.record(said(f"{n} " + "x" * 300))
    if n % 100 == 0:
        print(n, flush=True)
"""


@pytest.mark.parametrize("reports", [1, 20, 60])
def test_a_process_killed_at_any_moment_leaves_a_readable_log(tmp_path: Path, reports: int) -> None:
    with Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=PIPE) as process:
        assert process.stdout is not None
        for _ in range(reports):
            process.stdout.readline()
        process.kill()
    files = sorted(tmp_path.iterdir())
    found = [entry for path in files for entry in read_lines(path.read_bytes().splitlines(keepends=True))]
    bad = [entry for entry in found if isinstance(entry, BadLine)]
    assert all(entry.torn for entry in bad)
    assert len(bad) <= 1
    texts = [entry.text.split()[0] for entry in found if isinstance(entry, UserMessage)]
    assert texts == sorted(texts, key=int)
    assert len(set(texts)) == len(texts)
    read([tmp_path] if files else [])


async def test_what_the_log_loses_is_told_by_place_and_a_failing_disk_is_logged_once(tmp_path: Path) -> None:
    in_the_way = tmp_path / "log"
    in_the_way.write_text("a file")
    lost, clock = list[str](), FakeClock(1_700_000_000.0)
    with capture_logs() as said_of_it:
        recorder = Recorder(recording(in_the_way, queue_events=1_000), clock, lost.append)
        for n in range(3):
            recorder.record(said(f"{n}"))
            async with asyncio.timeout(10):
                while recorder.faults + recorder.dropped <= n:  # noqa: ASYNC110 - another thread's doing
                    await asyncio.sleep(0.001)
            clock.advance(2.0)
        await recorder.close()
    recorder.record(said("late"))
    assert lost == ["recorder"] * 3 + ["recorder_queue"]
    assert [entry["event"] for entry in said_of_it] == ["recording_fault"]
    assert str(in_the_way) in str(said_of_it)
