import asyncio
from io import StringIO

import pytest
from rich.console import Console

from paste_proxy.bench.account import Account, Ask, Hit, ToolRun
from paste_proxy.bench.agent import Played, Span
from paste_proxy.bench.bound import one_step_bound
from paste_proxy.bench.demo import compare, fitting_speeds
from paste_proxy.bench.latency import DISPATCH_S, FIRST_TOKEN_S
from paste_proxy.bench.replay import Side, together
from paste_proxy.bench.report import Comparison
from paste_proxy.bench.script import build_script
from paste_proxy.bench.sidecar import Setting, running_sidecar
from paste_proxy.bench.timeline import draw
from paste_proxy.bench.workload import Task, Workload, chosen, packaged_tasks
from paste_proxy.errors import InputFault, OurFault
from paste_proxy.speculation.types import Mode
from tests.bench.sessions import S, airline, answered, called

FIXED = {
    "workload", "sessions", "calls", "baseline", "speculative", "cut_task", "cut_exposed", "hits", "hit_rate",
    "wasted_s", "views_equal",
}  # fmt: skip


def shortest(workload: Workload) -> Task:
    return min(
        (task for task in packaged_tasks([workload]) if task.script.calls), key=lambda task: task.script.planned_s
    )


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return [shortest(workload) for workload in Workload]


async def test_the_demo_shows_hits_and_the_agents_see_the_same(tasks: list[Task]) -> None:
    speeds = {Workload.AIRLINE: 4.0, Workload.RESEARCH: 7.0, Workload.CODING: 50.0}
    comparison = await compare("all", tasks, speeds=speeds)
    result = comparison.to_json()
    assert comparison.views_equal
    assert comparison.baseline.account.hits == ()
    assert comparison.baseline.account.wasted == ()
    assert len(comparison.speculative.account.hits) > 0
    assert result.keys() >= FIXED
    assert result["sessions"] == 3


def played(session: str, view: str, spans: tuple[Span, ...]) -> Played:
    return Played(session=session, began=0.0, ended=spans[-1].ended, spans=spans, asks=(), view=view)


def comparison(view: str = "same", written: tuple[str, ...] = ("w",), session: str = S) -> Comparison:
    task = Task(Workload.AIRLINE, build_script(S, airline()))
    before = (Span("llm", 0, 4), Span("tool", 4, 8))
    after = (Span("llm", 0, 4), Span("tool", 4, 6))
    call = task.script.calls[0].invocation
    run = ToolRun(S, call, 2.0, 6.0)
    hit = Hit(Ask(S, call, 5.0, 6.0), run)
    one = Side(Mode.OFF, (played(session, "same", before),), Account((), ()), {S: ("w",)})
    other = Side(Mode.SPECULATE, (played(session, view, after),), Account((hit,), (run,)), {S: written})
    return Comparison("airline", (task,), {Workload.AIRLINE: 1.0}, one, other)


def test_cuts_and_waste_are_told_as_the_two_sides_went() -> None:
    result = comparison().to_json()
    assert result["baseline"] == {"task_s": 8, "exposed_tool_s": 4}
    assert result["speculative"] == {"task_s": 6, "exposed_tool_s": 2}
    assert (result["cut_task"], result["cut_exposed"]) == (0.25, 0.5)
    assert (result["hits"], result["hit_rate"], result["wasted_s"]) == (1, 0.25, 4)
    assert result["views_equal"] is True


@pytest.mark.parametrize(
    "different", [comparison(view="other"), comparison(written=("w", "w")), comparison(written=())]
)
def test_another_view_or_another_write_is_a_difference(different: Comparison) -> None:
    assert not different.views_equal


def test_the_pictures_show_waiting_and_hidden_time_to_one_scale() -> None:
    lines = drawn(comparison(), 40 + len(S) + len(" without 8.0 s "))
    without, with_ = (next(line for line in lines if f" {side} " in line) for side in ("without", "with"))
    assert (without.count("█"), without.count("▒")) == (20, 0)
    assert (with_.count("█"), with_.count("▒"), with_.count("─")) == (10, 10, 10)
    assert f"{FIRST_TOKEN_S:g} s to the first token" in " ".join(lines)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("name", ["t", "a-session-whose-name-is-longer-than-its-column"])
def test_a_task_that_took_three_quarters_ends_at_three_quarters(width: int, name: str) -> None:
    lines = drawn(comparison(session=name), width)
    without, with_ = (next(line for line in lines if f" {side} " in line) for side in ("without", "with"))
    bars = [line.rstrip()[line.index(" s ") + 3 :] for line in (without, with_)]
    assert "…" not in bars[0] + bars[1]
    assert len(without.rstrip()) == width
    assert len(bars[1]) == pytest.approx(len(bars[0]) * 0.75, abs=0.51)
    assert max(map(len, lines)) <= width


def test_a_person_s_time_is_left_out_of_the_picture() -> None:
    spans = (Span("llm", 0, 4), Span("person", 4, 104), Span("tool", 104, 108))
    one = comparison()
    side = Side(Mode.OFF, (played(S, "same", spans),), Account((), ()), {})
    lines = drawn(
        Comparison("airline", one.tasks, one.speeds, side, one.speculative), 40 + len(S) + len(" without 8.0 s ")
    )
    without = next(line for line in lines if " without " in line)
    assert (without.count("─"), without.count("█")) == (20, 20)


def drawn(shown: Comparison, width: int) -> list[str]:
    console = Console(width=width, record=True, file=StringIO())
    console.print(draw(shown, width))
    return console.export_text().splitlines()


def test_a_read_foreseen_one_step_ahead_passes_while_the_llm_answers() -> None:
    script = build_script(S, [called("a", "get_x", {"n": 1}), answered("a", "get_x", "y")])
    (turn,) = script.turns
    llm_s = FIRST_TOKEN_S + turn.stream_s + DISPATCH_S
    wait_s = turn.calls[0].latency_s
    assert one_step_bound([script]) == pytest.approx(min(llm_s, wait_s) / (llm_s + wait_s))


def test_a_write_is_never_foreseen() -> None:
    assert one_step_bound([build_script(S, [called("a", "book_x", {}), answered("a", "book_x", "y")])]) == 0


def test_each_kind_of_agent_is_compressed_to_the_same_wall_time() -> None:
    speeds = fitting_speeds(packaged_tasks(Workload))
    assert speeds.keys() == set(Workload)
    assert all(speed >= 1 for speed in speeds.values())
    assert speeds[Workload.CODING] > speeds[Workload.AIRLINE]


def test_an_unknown_workload_is_named() -> None:
    assert chosen("all") == tuple(Workload)
    with pytest.raises(InputFault, match="--workload: 'nope'"):
        chosen("nope")


async def test_the_first_fault_ends_the_others_and_is_raised_as_it_is() -> None:
    stopped = asyncio.Event()

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async def broken() -> None:
        await asyncio.sleep(0)
        raise OurFault("broken")

    with pytest.raises(OurFault, match="broken"):
        await together([endless(), broken()])
    assert stopped.is_set()


async def test_a_sidecar_that_cannot_start_says_why() -> None:
    setting = Setting(mode=Mode.SPECULATE, llm="http://127.0.0.1:9/v1", tools={}, mcp={}, policy="nonsense = 1")
    with pytest.raises(OurFault, match="nonsense"):
        async with running_sidecar(setting):
            pass
