"""Recorded calls become the project's by what was seen before them, and nothing else."""

import re
from pathlib import Path

import pytest

from paste_proxy.bench.coding.commands import is_suite, mapped_command, without_cut
from paste_proxy.bench.coding.mapping import Project, all_mapped, mapped
from paste_proxy.bench.coding.project import modules
from paste_proxy.bench.script import Script
from paste_proxy.bench.workload import Workload, packaged_tasks


def file_of(path: str) -> tuple[str, str]:
    return ("geo", "sieve")


@pytest.fixture(scope="module")
def scripts() -> list[Script]:
    return [task.script for task in packaged_tasks([Workload.CODING])]


@pytest.mark.parametrize(
    ("recorded", "becomes"),
    [
        ("go test ./...", "python3 -m unittest discover -t . -s ."),
        ("bun run test 2>&1 | tail -20", "python3 -m unittest discover -t . -s . 2>&1 | tail -20"),
        ("cd /a/b && mise run test 2>&1", "python3 -m unittest discover -t . -s . 2>&1"),
        ("go test ./cmd/cli/summarize/...", "python3 -m unittest discover -t . -s geo"),
        ("npx vitest src/a.test.ts", "python3 -m unittest geo.test_sieve"),
        ("git -C /x diff main -- a.go", "git diff --stat"),
        ("git push origin main", "git status --short"),
        ("git commit -m x", "git commit -q --allow-empty -a -m step"),
    ],
)
def test_a_command_becomes_one_of_its_kind(recorded: str, becomes: str) -> None:
    assert mapped_command(recorded, file_of) == becomes


def test_the_same_command_is_the_same_everywhere_and_any_other_is_a_look() -> None:
    for recorded in ("mise run lint", "go test -run TestX", "golangci-lint run"):
        assert is_suite(mapped_command(recorded, file_of))
        assert mapped_command(recorded, file_of) == mapped_command(f"cd /x && {recorded}", file_of)
    for recorded in ("cat a.go", "rm -rf /tmp/x", "gh pr view 3", "ls -la"):
        assert re.fullmatch(r"sed -n 1,\d+p \w+/\w+\.py", mapped_command(recorded, file_of))


def test_what_cuts_an_output_is_known() -> None:
    assert without_cut("x 2>&1 | tail -3") == ("x", slice(-3, None))
    assert without_cut("x | head -n 3") == ("x", slice(3))
    assert without_cut("x 2>&1") == ("x", None)
    assert without_cut("x") == ("x", None)


def test_order_repetition_and_kind_are_the_recorded_ones(scripts: list[Script]) -> None:
    kinds = {"Read": "read", "Edit": "edit", "Write": "edit", "Grep": "grep", "Bash": "run", "Glob": "glob"}
    for script, ours in zip(scripts, all_mapped(scripts), strict=True):
        recorded = [call.invocation.tool for call in script.calls]
        assert [call.invocation.tool for call in ours.calls] == [kinds[tool] for tool in recorded if tool in kinds]
        assert sum(turn.first_token_s + turn.stream_s for turn in ours.turns) > 0


def test_nothing_depends_on_what_comes_later(scripts: list[Script]) -> None:
    for script in scripts:
        whole = mapped(script, Project()).calls
        for steps in range(1, len(whole)):
            assert mapped(script, Project(), steps).calls == whole[:steps]


def test_edits_follow_on_each_other_through_all_sessions(scripts: list[Script]) -> None:
    revisions: dict[str, int] = {}
    for script in all_mapped([*scripts, *scripts]):
        for call in script.calls:
            if call.invocation.tool == "edit":
                path = str(call.invocation.arguments["path"])
                known = revisions.get(path, 0)
                assert call.invocation.arguments["old_text"] == f"REVISION = {known}\n"
                revisions[path] = known + 1
    assert max(revisions.values()) > 3


def test_sessions_go_through_files_in_orders_of_their_own(scripts: list[Script]) -> None:
    first = {str(script.calls[0].invocation.arguments.get("path", "")) for script in all_mapped(scripts)}
    assert len(first) > 1
    assert len(modules()) == 30 == len(set(modules()))


def test_the_project_s_packages_hold_their_modules_and_tests(tmp_path: Path) -> None:
    from paste_proxy.bench.coding.project import make_project

    make_project(tmp_path)
    for package, name in modules():
        assert "REVISION = 0\n" in (tmp_path / package / f"{name}.py").read_text()
        assert (tmp_path / package / f"test_{name}.py").is_file()
    seeds = {re.findall(r"SEED = (\d+)", path.read_text())[0] for path in tmp_path.glob("*/[!t_]*.py")}
    assert len(seeds) > 20
