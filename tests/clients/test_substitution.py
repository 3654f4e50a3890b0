"""A built-in shell's results put in place by hooks: the model is told what it would have been told."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.clients import test_claude_code as claude
from tests.clients import test_gemini_cli as gemini
from tests.clients.formats.gemini import Gemini
from tests.clients.formats.messages import Messages
from tests.clients.script import Call, Turn
from tests.clients.world import Run, World, world

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(300)]


def shell(*commands: str) -> tuple[Call, ...]:
    return tuple(Call("Bash", {"command": command, "description": "Look"}) for command in commands)


def gemini_shell(*commands: str) -> tuple[Call, ...]:
    return tuple(Call("run_shell_command", {"command": command, "description": "Look"}) for command in commands)


PASSING = re.compile(r"PGID: \d+|run_shell_command_\d+_\d+|result-\d+|paste-wrap-\w+")
TURNS = (
    Turn(text="Let me look.", calls=shell("grep -n harbour note.txt")),
    Turn(calls=shell("find . -name '*.txt' | wc -l", "grep nothing note.txt", "cat note.txt")),
    Turn(calls=shell("ls missing note.txt", "sort -r big.txt | head -2")),
    Turn(calls=shell("grep -c . big.txt", "grep '' big.txt", "grep '' empty.txt")),
    Turn(calls=shell("printf 'more\\n' >> note.txt && mkdir sub && cd sub")),
    Turn(calls=shell("ls ..", "ls -a")),
    Turn(text="All is fine at the harbour."),
)


def lay_out(place: World) -> None:
    lines = (f"  line {number}\twith \x1b[31mred\x1b[0m\n" for number in range(2_000))
    (place.folder / "big.txt").write_text("".join(lines))
    (place.folder / "empty.txt").write_text("")


async def run(root: Path, *, substitute: bool) -> tuple[World, Run]:
    async with world(root, Messages(), TURNS) as place:
        claude.furnish(place)
        lay_out(place)
        wrap = ["--mode", "speculate", *(["--substitute"] if substitute else [])]
        return place, await place.run(claude.command("--allowedTools", "Bash"), wrap=wrap)


async def test_claude_code_is_told_the_same_and_some_results_were_run_ahead(tmp_path: Path) -> None:
    there, without = await run(tmp_path / "plain", substitute=False)
    here, behind = await run(tmp_path / "behind", substitute=True)
    assert (without.code, behind.code) == (0, 0), behind.stderr
    assert claude.told(here, behind) == claude.told(there, without)
    assert claude.spoken(here, behind.stdout) == claude.spoken(there, without.stdout)
    put_in_place = [
        entry for entry in entries(behind) if "updatedInput" in entry.get("attachment", {}).get("stdout", "")
    ]
    assert len(put_in_place) >= 2
    assert behind.account["stats"]["hits"] >= len(put_in_place)
    assert len(messages(behind)) == len(messages(without))


def entries(run: Run) -> list[dict[str, Any]]:
    return [json.loads(line) for line in claude.transcript(run).splitlines()]


def messages(run: Run) -> list[dict[str, Any]]:
    """What was said, without the client's own bookkeeping, which comes as it comes."""
    return [entry for entry in entries(run) if entry["type"] in ("user", "assistant")]


GEMINI_TURNS = (
    Turn(text="Let me look.", calls=gemini_shell("grep -n harbour note.txt")),
    Turn(calls=gemini_shell("find . -name '*.txt' | wc -l", "grep nothing note.txt", "ls")),
    Turn(calls=gemini_shell("grep '' big.txt")),
    Turn(calls=gemini_shell("sort -r big.txt | head -2")),
    Turn(calls=gemini_shell("ls missing")),
    Turn(calls=gemini_shell("cat empty.txt | wc -l")),
    Turn(calls=gemini_shell("printf 'more\\n' >> note.txt && mkdir sub && cd sub")),
    Turn(calls=gemini_shell("ls", "grep -c . note.txt")),
    Turn(text="All is fine at the harbour."),
)


async def run_gemini(root: Path, *, substitute: bool) -> tuple[World, Run]:
    async with world(root, Gemini(), GEMINI_TURNS) as place:
        gemini.furnish(place)
        lay_out(place)
        wrap = ["--mode", "speculate", *(["--substitute"] if substitute else [])]
        return place, await place.run(gemini.command(), wrap=wrap)


def passing(place: World, text: str) -> str:
    return PASSING.sub("N", place.scrub(text))


async def test_gemini_cli_is_told_the_same_and_some_results_were_run_ahead(tmp_path: Path) -> None:
    there, without = await run_gemini(tmp_path / "plain", substitute=False)
    here, behind = await run_gemini(tmp_path / "behind", substitute=True)
    assert (without.code, behind.code) == (0, 0), behind.stderr
    contents = [
        [passing(place, json.dumps(asked.body["contents"])) for asked in run.asked]
        for place, run in ((there, without), (here, behind))
    ]
    assert contents[1] == contents[0]
    shown = [
        sorted(passing(place, line) for line in run.stdout.splitlines() if '"type":"result"' not in line)
        for place, run in ((there, without), (here, behind))
    ]
    assert shown[1] == shown[0]
    assert behind.account["stats"]["outcomes"]["reused"] >= 3


LOOKS = ("ls | wc -l", "grep -n TOP secret.txt")
DENIED = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "grep"\ndecision = "deny"\npriority = 900\n'


def results(run: Run) -> str:
    """What the model was told last."""
    return json.dumps(run.asked[-1].body)


async def test_claude_codes_rules_hold_and_a_note_says_that_nothing_is_put_in_place(tmp_path: Path) -> None:
    turns = (*(Turn(text="Hm.", calls=shell(command)) for command in LOOKS), Turn(text="Well."))
    async with world(tmp_path, Messages(), turns) as place:
        claude.furnish(place)
        (place.folder / "secret.txt").write_text("TOP of the heap\n")
        rules = place.folder / ".claude/settings.json"
        rules.parent.mkdir()
        rules.write_text(json.dumps({"permissions": {"deny": ["Read(./secret.txt)"]}}))
        behind = await place.run(claude.command("--allowedTools", "Bash"), wrap=["--mode", "speculate", "--substitute"])
    assert behind.code == 0, behind.stderr
    assert "of the heap" not in results(behind)
    assert "there are rules under permissions.deny" in behind.stderr
    assert behind.account["stats"]["launched"] == 0


async def test_geminis_policies_hold_and_a_note_says_that_nothing_is_put_in_place(tmp_path: Path) -> None:
    turns = (*(Turn(text="Hm.", calls=gemini_shell(command)) for command in LOOKS), Turn(text="Well."))
    async with world(tmp_path, Gemini(), turns) as place:
        gemini.furnish(place)
        (place.folder / "secret.txt").write_text("TOP of the heap\n")
        policy = tmp_path / "policy.toml"
        policy.write_text(DENIED)
        behind = await place.run(gemini.command("--policy", str(policy)), wrap=["--mode", "speculate", "--substitute"])
    assert behind.code == 0, behind.stderr
    assert "of the heap" not in results(behind)
    assert "the option --policy is not known" in behind.stderr
    assert behind.account["stats"]["launched"] == 0
