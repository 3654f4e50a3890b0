"""What sessions taught outlives the sidecar: private, whole, without secrets, and never in the way."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from paste_proxy.config import Config, Learning, Recording
from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forecast.habits import Habits, Usual
from paste_proxy.proxy.memory import Memory
from paste_proxy.testing import FakeClock
from tests.proxy.mcp.parts import until

TEST = Invocation("shell", {"command": "npm test"})
LINT, BUILD = (Invocation("shell", {"command": f"npm run {script}"}) for script in ("lint", "build"))
SECRET = Invocation("shell", {"command": "curl -H 'Authorization: Bearer sk-ant-REDACTED'"})


def config(folder: Path, **recording: Any) -> Config:
    return Config(
        learning=Learning(directory=folder / "memory", workspace=folder), recording=Recording.model_validate(recording)
    )


async def opened(wanted: Config, clock: FakeClock | None = None, faults: list[str] | None = None) -> Memory:
    fault = (lambda _: None) if faults is None else faults.append
    return await asyncio.to_thread(Memory, wanted, clock or FakeClock(), fault)


def teach(memory: Memory, *calls: Invocation) -> None:
    for place in memory.places:
        place.moments += 1
        place.next.step({"repeat": -1.0})
        for call in calls:
            place.habits.note(call, "ok edit", first=True)


async def test_the_next_sidecar_knows_what_this_one_learned(tmp_path: Path) -> None:
    memory = await opened(config(tmp_path))
    memory.start()
    teach(memory, TEST)
    learned = [place.next.of["repeat"].weight for place in memory.places]
    await memory.close()
    again = await opened(config(tmp_path))
    assert [round(place.next.of["repeat"].weight, 4) for place in again.places] == [round(one, 4) for one in learned]
    assert [list(place.habits.known) for place in again.places] == [[TEST.key], [TEST.key]]


async def test_however_much_was_learned_the_next_sidecar_reads_it(tmp_path: Path) -> None:
    faults: list[str] = []
    memory = await opened(config(tmp_path), faults=faults)
    teach(memory, TEST)
    after = {f"ok {at} {'x' * 400}": 1.0 for at in range(64)}
    for place in memory.places:
        calls = (Invocation("shell", {"command": f"{at} {'y' * 390}"}) for at in range(1_000))
        place.habits = Habits.of([*place.habits.written(), *(Usual(call, 0.5, 0.5, after) for call in calls)])
    await memory.close()
    again = await opened(config(tmp_path), faults=faults)
    assert [TEST.key in place.habits.known for place in again.places] == [True, True]
    assert faults == []


async def test_its_files_are_private_and_nothing_else_is_left(tmp_path: Path) -> None:
    memory = await opened(config(tmp_path))
    teach(memory, TEST)
    await memory.close()
    files = sorted((tmp_path / "memory").iterdir())
    assert [path.name.partition("-")[0] for path in files] == ["everywhere.json", "workspace"]
    assert [path.stat().st_mode & 0o777 for path in files] == [0o600, 0o600]
    assert (tmp_path / "memory").stat().st_mode & 0o777 == 0o700


async def test_another_workspace_knows_only_what_holds_everywhere(tmp_path: Path) -> None:
    memory = await opened(config(tmp_path))
    teach(memory, TEST)
    await memory.close()
    other = config(tmp_path).model_copy(
        update={"learning": Learning(directory=tmp_path / "memory", workspace=tmp_path / "other")}
    )
    here, everywhere = (await opened(other)).places
    assert (here.moments, everywhere.moments) == (0, 1)


async def test_a_habit_with_a_secret_is_not_kept(tmp_path: Path) -> None:
    memory = await opened(config(tmp_path))
    teach(memory, TEST, SECRET)
    await memory.close()
    for path in (tmp_path / "memory").iterdir():
        assert "Authorization" not in path.read_text()
        assert [habit["arguments"] for habit in json.loads(path.read_text())["habits"]] == [TEST.arguments]


async def test_where_payloads_are_not_recorded_habits_are_not_kept(tmp_path: Path) -> None:
    memory = await opened(config(tmp_path, payloads="signatures"))
    teach(memory, TEST)
    await memory.close()
    written = [json.loads(path.read_text()) for path in (tmp_path / "memory").iterdir()]
    assert [(one["moments"], one["habits"]) for one in written] == [(1, []), (1, [])]


async def test_by_default_it_stands_beside_the_recording(tmp_path: Path) -> None:
    memory = await opened(Config(recording=Recording(directory=tmp_path / "events")))
    teach(memory)
    await memory.close()
    assert (tmp_path / "events-memory" / "everywhere.json").exists()


async def learned_in_no_file() -> None:
    memory = await opened(Config())
    teach(memory)
    await memory.close()


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asyncio.run(learned_in_no_file())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": "paste-proxy memory"}', "\xff", "[" * 100_000, "[" * 1_010 + "]" * 1_010]
)
async def test_a_file_that_is_no_memory_is_refused_in_words_and_written_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / "memory").mkdir()
    path = tmp_path / "memory" / "everywhere.json"
    path.write_bytes(text.encode("latin-1"))
    faults: list[str] = []
    with capture_logs() as logs:
        memory = await opened(config(tmp_path), faults=faults)
    assert faults == ["memory"]
    (warning,) = logs
    aside = path.with_name("everywhere.json.refused")
    assert (warning["event"], warning["path"], warning["kept_as"]) == ("memory_refused", str(path), str(aside))
    teach(memory)
    with capture_logs() as logs:
        await memory.close()
    assert logs == []
    assert json.loads(path.read_text())["moments"] == 1
    assert aside.read_bytes() == text.encode("latin-1")


async def test_of_refused_files_the_latest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    path = tmp_path / "memory" / "everywhere.json"
    for version in (2, 3):
        path.write_text(json.dumps({"format": "paste-proxy memory", "version": version}))
        await opened(config(tmp_path))
    (kept,) = (tmp_path / "memory").iterdir()
    assert json.loads(kept.read_text())["version"] == 3


async def test_what_two_sidecars_of_a_workspace_learn_is_all_kept(tmp_path: Path) -> None:
    first = await opened(config(tmp_path))
    teach(first, TEST)
    await first.save()
    second = await opened(config(tmp_path))
    teach(second, LINT, TEST)
    teach(first, BUILD, TEST)
    for memory in (second, first, second, first):
        await memory.save()
    teach(first, TEST)
    await second.close()
    await first.close()
    for place in (await opened(config(tmp_path))).places:
        times = {one.invocation.key: round(one.times) for one in place.habits.written()}
        assert times == {TEST.key: 4, LINT.key: 1, BUILD.key: 1}
        assert place.moments == 4


async def test_what_both_learned_is_not_learned_twice(tmp_path: Path) -> None:
    both = [await opened(config(tmp_path)) for _ in range(2)]
    for memory in both:
        teach(memory)
        await memory.close()
    weights = [place.next.of["repeat"].weight for place in (await opened(config(tmp_path))).places]
    assert weights == [round(place.next.of["repeat"].weight, 4) for place in both[0].places]


HOLDS = """
import fcntl, os, sys, time
handle = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(handle, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


async def test_a_sidecar_killed_while_it_writes_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paste_proxy.proxy.private_file._PATIENCE_S", 0.0)
    memory = await opened(config(tmp_path))
    (tmp_path / "memory").mkdir()
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDS, str(tmp_path / "memory"), stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout is not None
    await writer.stdout.readline()
    teach(memory)
    with capture_logs() as logs:
        await memory.save()
    assert {one["event"] for one in logs} == {"memory_fault"}
    writer.kill()
    await writer.wait()
    await memory.save()
    assert [place.moments for place in (await opened(config(tmp_path))).places] == [1, 1]


async def test_a_file_that_somebody_deleted_is_written_as_a_whole(tmp_path: Path) -> None:
    memory = await opened(config(tmp_path))
    teach(memory, TEST)
    await memory.save()
    for path in (tmp_path / "memory").iterdir():
        path.unlink()
    teach(memory, TEST)
    await memory.close()
    assert [place.moments for place in (await opened(config(tmp_path))).places] == [2, 2]


async def test_what_is_not_taught_again_fades_in_a_month(tmp_path: Path) -> None:
    memory, clock = await opened(config(tmp_path)), FakeClock()
    teach(memory, TEST)
    before = memory.places[0].next.of["repeat"].weight
    await memory.close()
    clock.advance(30 * 86_400)
    after = (await opened(config(tmp_path), clock)).places[0].next.of["repeat"].weight
    assert after == pytest.approx(before / 2, rel=0.02)


async def test_a_disk_that_takes_nothing_costs_a_counter(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file, not a folder")
    faults: list[str] = []
    with capture_logs() as logs:
        memory = await opened(config(tmp_path), faults=faults)
        teach(memory)
        await memory.close()
    assert "memory" in faults
    assert logs[-1]["event"] == "memory_fault"


async def test_it_is_saved_while_the_sidecar_runs_so_that_a_kill_costs_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paste_proxy.proxy.memory.SAVE_EVERY_S", 0.01)
    memory = await opened(config(tmp_path))
    memory.start()
    teach(memory, TEST)
    await until((tmp_path / "memory" / "everywhere.json").exists, 10)
    assert [place.moments for place in (await opened(config(tmp_path))).places] == [1, 1]
    await memory.close()


async def test_what_is_known_already_is_not_written_again(tmp_path: Path) -> None:
    memory = await opened(config(tmp_path))
    teach(memory)
    await memory.save()
    for path in (tmp_path / "memory").iterdir():
        path.unlink()
    await memory.save()
    assert list((tmp_path / "memory").iterdir()) == []


async def test_habits_kept_before_go_once_payloads_are_not_recorded(tmp_path: Path) -> None:
    memory = await opened(config(tmp_path))
    teach(memory, TEST)
    await memory.close()
    await (await opened(config(tmp_path, payloads="signatures"))).close()
    assert not [path for path in (tmp_path / "memory").iterdir() if "npm test" in path.read_text()]


async def test_what_a_full_disk_refused_is_saved_at_the_end(tmp_path: Path) -> None:
    faults: list[str] = []
    memory = await opened(config(tmp_path), faults=faults)
    teach(memory, TEST)
    (tmp_path / "memory").write_text("in the way")
    await memory.save()
    assert faults
    (tmp_path / "memory").unlink()
    await memory.close()
    assert [list(place.habits.known) for place in (await opened(config(tmp_path))).places] == [[TEST.key]] * 2


async def test_what_a_kill_left_half_written_goes_in_time(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    part = tmp_path / "memory" / ".workspace-0.json.x.part"
    part.write_text("half")
    clock = FakeClock()
    now = clock.epoch()
    for age, left in ((60, True), (7_200, False)):
        os.utime(part, (now - age, now - age))
        memory = await opened(config(tmp_path), clock)
        teach(memory, TEST)
        await memory.close()
        assert part.exists() is left


async def test_a_clock_a_century_ahead_forgets_and_goes_on(tmp_path: Path) -> None:
    memory = await opened(config(tmp_path))
    teach(memory, TEST)
    await memory.close()
    clock = FakeClock()
    clock.advance(100 * 365 * 86_400.0)
    teach(await opened(config(tmp_path), clock), TEST)
