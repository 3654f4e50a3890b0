"""What is used of a day's budgets outlives the sidecar: private, whole, shared, and never in the way."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from paste_proxy.clock import Clock, day_of
from paste_proxy.config import Budget, Config, Learning, Recording, Speculating
from paste_proxy.proxy.budget_checkup import check_budgets
from paste_proxy.proxy.budget_file import KeptBudgets, budget_path
from paste_proxy.proxy.budget_format import read_kept
from paste_proxy.proxy.finding import Level
from paste_proxy.speculation.budgets.budgets import BudgetLimits, Budgets
from paste_proxy.speculation.budgets.limited import Limited
from paste_proxy.speculation.budgets.pauses import Pauses
from paste_proxy.speculation.budgets.used import Used
from paste_proxy.speculation.budgets.waste import Door
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Mode
from paste_proxy.testing import FakeClock

DAY = "2026-03-01"


async def opened(
    path: Path, day: str = DAY, faults: list[str] | None = None, clock: Clock | None = None
) -> KeptBudgets:
    budgets = Budgets(BudgetLimits(wasted_s_per_minute=10.0), {})
    kept = KeptBudgets(budgets, clock or FakeClock(), path, (lambda _: None) if faults is None else faults.append)
    await kept.start()
    budgets.book.turn(day, 0)
    return kept


async def test_the_next_sidecar_goes_on_with_what_this_one_used(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "budgets.json"
    first = await opened(path)
    used = Used(calls=2, money=0.5, bytes=10, cpu_s=1.5)
    used.rules["test: rule 1"] = 2
    first.budgets.book.charge("s", used)
    await first.close()
    second = await opened(path)
    assert second.budgets.book.record.used == used
    assert second.budgets.book.record.of("s") == used
    await second.close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["budgets.json"]


async def test_a_new_day_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "budgets.json"
    first = await opened(path)
    first.budgets.book.charge("s", Used(calls=2))
    await first.close()
    second = await opened(path, "2026-03-02")
    assert (second.budgets.book.record.used.calls, second.budgets.book.record.of("s").calls) == (0, 2)
    second.budgets.book.charge("s", Used(calls=1))
    await second.close()
    assert (await asyncio.to_thread(read_kept, path)).record.used.calls == 1


async def test_two_sidecars_share_a_day(tmp_path: Path) -> None:
    path = tmp_path / "budgets.json"
    one, other = await opened(path), await opened(path)
    for kept, calls in ((one, 2), (other, 3), (one, 1)):
        kept.budgets.book.charge("s", Used(calls=calls))
        await kept.save()
    assert (one.budgets.book.record.used.calls, other.budgets.book.record.used.calls) == (6, 5)
    for kept in (one, other):
        await kept.close()
    assert (await asyncio.to_thread(read_kept, path)).record.used.calls == 6


@dataclass
class Clocks:
    """The wall's clock and a process's own, which tell different times."""

    wall: float
    own: float = 7.0

    def epoch(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.own


async def test_the_next_sidecar_leaves_alone_what_this_one_left_alone(tmp_path: Path) -> None:
    path, wall = tmp_path / "budgets.json", 1_800_000_000.0
    first = await opened(path, clock=Clocks(wall, own=3_000.0))
    first.budgets.limited("search", Limited(100), 3_000)
    first.budgets.wasted(11, 3_000)
    await first.save()
    kept = path.read_bytes()
    await first.close()
    assert path.read_bytes() == kept, "nothing is new"
    for later, left in ((40.0, 60.0), (-86_400.0, 60.0)):
        clock = Clocks(wall + later)
        again = await opened(path, clock=clock)
        assert dict(again.budgets.closed(7)) == pytest.approx({"search": left})
        assert again.budgets.door(7) is Door.SHUT
        await again.close()
    clock.own, clock.wall = clock.own + 61, clock.wall + 61
    over = await opened(path, clock=clock)
    assert over.budgets.pauses(clock.own) == Pauses(0)
    await over.close()


async def test_two_sidecars_remember_what_either_leaves_alone(tmp_path: Path) -> None:
    path, clock = tmp_path / "budgets.json", Clocks(1_800_000_000.0)
    one, other = await opened(path, clock=clock), await opened(path, clock=clock)
    one.budgets.limited("search", Limited(100), 7)
    await one.close()
    other.budgets.limited("visit", Limited(50), 7)
    await other.close()
    third = await opened(path, clock=clock)
    assert sorted(tool for tool, _ in third.budgets.closed(7)) == ["search", "visit"]
    await third.close()


async def test_a_file_of_a_sidecar_that_kept_no_pauses_is_one_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "budgets.json"
    first = await opened(path)
    first.budgets.book.charge("s", Used(calls=2))
    await first.close()
    held = json.loads(path.read_text())
    assert held.pop("pauses")
    path.write_text(json.dumps(held))
    second = await opened(path)
    assert second.budgets.book.record.used.calls == 2
    await second.close()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "paste-proxy budgets"}', "[" * 100_000])
async def test_a_file_that_is_none_of_ours_is_put_aside_and_begun_anew(tmp_path: Path, text: str) -> None:
    path, faults = tmp_path / "budgets.json", list[str]()
    path.write_text(text)
    with capture_logs() as logs:
        kept = await opened(path, faults=faults)
    assert (faults, [log["event"] for log in logs]) == (["budgets"], ["budgets_refused"])
    kept.budgets.book.charge("s", Used(calls=1))
    await kept.close()
    assert (await asyncio.to_thread(read_kept, path)).record.used.calls == 1
    assert path.with_name("budgets.json.refused").read_text() == text


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
async def test_a_disk_that_takes_nothing_costs_nothing_but_the_record(tmp_path: Path) -> None:
    faults: list[str] = []
    (tmp_path / "shut").mkdir(mode=0o500)
    kept = await opened(tmp_path / "shut" / "deep" / "budgets.json", faults=faults)
    kept.budgets.book.charge("s", Used(calls=1))
    with capture_logs():
        await kept.close()
    assert "budgets" in faults
    assert kept.budgets.book.fresh.used.calls == 1


_CHARGES = """
import asyncio, pathlib, sys
from paste_proxy.clock import SystemClock
from paste_proxy.proxy import budget_file
from paste_proxy.speculation.budgets.budgets import NO_BUDGET, Budgets
from paste_proxy.speculation.budgets.used import Used
budget_file.SAVE_EVERY_S = 0.01
async def main():
    kept = budget_file.KeptBudgets(Budgets(NO_BUDGET, {}), SystemClock(), pathlib.Path(sys.argv[1]), print)
    await kept.start()
    kept.budgets.book.turn("2026-03-01", 0)
    while True:
        kept.budgets.book.charge("s", Used(calls=1))
        print(kept.budgets.book.record.used.calls, flush=True)
        await kept.save()
asyncio.run(main())
"""


def test_one_that_is_killed_has_kept_what_it_saved(tmp_path: Path) -> None:
    path, told = tmp_path / "budgets.json", 0
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", _CHARGES, str(path)], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(20):
                told = int(child.stdout.readline())
            child.send_signal(signal.SIGKILL)
        assert read_kept(path).record.used.calls >= told - 1


def config(folder: Path, **budget: float) -> Config:
    return Config(
        speculation=Speculating(mode=Mode.SPECULATE),
        learning=Learning(directory=folder),
        budget=Budget.model_validate(budget),
    )


def test_it_stands_beside_what_sessions_taught(tmp_path: Path) -> None:
    assert budget_path(config(tmp_path)) == tmp_path / "budgets.json"
    beside = Config(recording=Recording(directory=tmp_path / "events"))
    assert budget_path(beside) == tmp_path / "events-memory" / "budgets.json"
    assert budget_path(Config()) is None


async def used_before(path: Path, day: str) -> None:
    kept = await opened(path, day)
    kept.budgets.book.charge("s", Used(calls=4, money=0.25))
    await kept.close()


def test_doctor_tells_what_is_used_and_what_is_used_up(tmp_path: Path) -> None:
    clock = FakeClock(1_000_000.0)
    asyncio.run(used_before(tmp_path / "budgets.json", day_of(clock.epoch())))
    (one,) = check_budgets(config(tmp_path, calls_per_day=10, money_per_day=1), Policy(), clock)
    assert (one.level, one.found) == (
        Level.OK,
        "used today: budget.calls_per_day 4 of 10, budget.money_per_day 0.25 of 1",
    )
    full, _ = check_budgets(config(tmp_path, calls_per_day=4), Policy(), clock)
    assert (full.level, full.found.partition(":")[0]) == (Level.WARN, "budget.calls_per_day 4 of 4")
    (tmp_path / "budgets.json").write_text(json.dumps({}))
    (wrong,) = check_budgets(config(tmp_path, calls_per_day=4), Policy(), clock)
    assert wrong.level is Level.WARN
    (none,) = check_budgets(config(tmp_path), Policy(), clock)
    assert none.found.startswith("none")
