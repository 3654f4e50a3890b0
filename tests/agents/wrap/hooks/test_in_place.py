"""The hook that puts results in place."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from paste_proxy.agents.wrap.hooks import in_place
from paste_proxy.proxy.dispatch.route import ALONE, CALL_ID_HEADER, READY_HEADER
from paste_proxy.speculation.reading_commands import READ_SHELL
from tests.agents.wrap.hooks.program import program


class Sidecar:
    """Answers the hook; notes what it was asked."""

    def __init__(self, answer: web.Response) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self._answer = answer

    async def serve(self, request: web.Request) -> web.Response:
        self.asked.append((request.path, dict(request.headers), await request.json()))
        return self._answer


@asynccontextmanager
async def sidecar(answer: web.Response) -> AsyncIterator[Sidecar]:
    served = Sidecar(answer)
    app = web.Application()
    app.router.add_post("/{path:.*}", served.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        served.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield served
    finally:
        await runner.cleanup()


def question(folder: Path, **more: object) -> dict[str, object]:
    given = {"command": "grep -r x", "description": "Look"}
    asked = {"hook_event_name": "PreToolUse", "tool_name": "Bash"}
    return {**asked, "tool_input": given, "tool_use_id": "toolu_1", "cwd": str(folder), **more}


def results(place: Path) -> list[Path]:
    return list(place.glob("result-*"))


class TestHook:
    async def test_a_result_run_ahead_is_shown_by_another_command(self, tmp_path: Path) -> None:
        async with sidecar(web.Response(body=b"out\r\n\r\n\xff")) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "", "0")
            code, said = await program(in_place.__file__, *arguments, asked=question(tmp_path))
        assert code == 0
        told = json.loads(said)["hookSpecificOutput"]
        assert told["hookEventName"] == "PreToolUse"
        assert "permissionDecision" not in told
        command = told["updatedInput"]["command"]
        assert told["updatedInput"]["description"] == "Look"
        shell = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE)
        assert (await shell.communicate())[0] == b"out\r\n\r\n\xff"
        ((path, headers, asked),) = there.asked
        assert path == f"/paste/v1/sessions/run/tools/{READ_SHELL}"
        assert asked == {"command": "grep -r x"}
        assert READY_HEADER in headers
        assert headers[CALL_ID_HEADER] == "toolu_1"

    @pytest.mark.parametrize("status", [204, 404, 500, 502])
    async def test_where_there_is_none_nothing_is_said(self, tmp_path: Path, status: int) -> None:
        async with sidecar(web.Response(status=status)) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "", "0")
            assert await program(in_place.__file__, *arguments, asked=question(tmp_path)) == (0, b"")
        assert there.asked
        assert await program(in_place.__file__, *arguments, asked=question(tmp_path)) == (0, b""), "sidecar gone"

    @pytest.mark.parametrize(
        "more",
        [
            {"cwd": "/"},
            {"tool_input": {"command": "ls", "run_in_background": True}},
            {"tool_input": {"command": "ls", "timeout": 1}},
            {"tool_input": None},
        ],
    )
    async def test_another_kind_of_call_is_not_even_asked_about(self, tmp_path: Path, more: dict[str, object]) -> None:
        async with sidecar(web.Response(body=b"x")) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "", "0")
            assert await program(in_place.__file__, *arguments, asked=question(tmp_path, **more)) == (0, b"")
        assert not there.asked

    @pytest.mark.parametrize(
        ("modes", "mode", "put"),
        [
            ("bypassPermissions", "default", False),
            ("bypassPermissions", "bypassPermissions", True),
            ("default,acceptEdits", "default", True),
            ("default,acceptEdits", "plan", False),
        ],
    )
    async def test_a_call_that_needs_leave_is_left_alone(
        self, tmp_path: Path, modes: str, mode: str, *, put: bool
    ) -> None:
        async with sidecar(web.Response(body=b"x")) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), modes, "0")
            asked = question(tmp_path, permission_mode=mode)
            _, said = await program(in_place.__file__, *arguments, asked=asked)
        assert bool(said) is put

    async def test_once_a_file_with_rules_has_changed_nothing_is_said(self, tmp_path: Path) -> None:
        rules, place = tmp_path / "rules", tmp_path / "place"
        place.mkdir()
        async with sidecar(web.Response(body=b"x")) as there:
            arguments = (there.url, "run", str(tmp_path), str(place), "", str(time.time() - 5), str(rules))
            _, before = await program(in_place.__file__, *arguments, asked=question(tmp_path))
            rules.write_text("{}")
            _, after = await program(in_place.__file__, *arguments, asked=question(tmp_path))
        assert before
        assert not after

    async def test_results_are_removed_once_shown_and_never_more_than_some(self, tmp_path: Path) -> None:
        shown, waiting = tmp_path / "result-1", tmp_path / "result-2"
        for path in (shown, waiting):
            path.write_bytes(b"old")
        os.utime(shown, (0, 0))
        assert not await self.put(tmp_path, waiting, size=(32 << 20) - 1), "too many bytes"
        assert await self.put(tmp_path, waiting, size=1)
        for number in range(32):
            (tmp_path / f"result-1{number}").write_bytes(b"")
        assert not await self.put(tmp_path, waiting, size=1), "too many results"
        assert not shown.exists()
        assert waiting.exists()

    async def put(self, place: Path, waiting: Path, *, size: int) -> bool:
        """Whether a result is put in place beside one that waits to be shown."""
        os.truncate(waiting, size)
        async with sidecar(web.Response(body=b"x" * 1_000_000)) as there:
            arguments = (there.url, "run", str(place), str(place), "", "0")
            _, said = await program(in_place.__file__, *arguments, asked=question(place))
        return bool(said)


class TestGeminisHook:
    async def test_another_command_follows_one_that_does_nothing_and_shows_the_result(self, tmp_path: Path) -> None:
        async with sidecar(web.Response(body=b"out\n\n")) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "", "0")
            before = {**question(tmp_path), "hook_event_name": "BeforeTool", "tool_use_id": ""}
            _, said = await program(in_place.__file__, *arguments, asked=before)
            changed = json.loads(said)["hookSpecificOutput"]["tool_input"]
            after = {**before, "hook_event_name": "AfterTool", "tool_input": changed}
            _, said = await program(in_place.__file__, *arguments, asked=after)
        follows = json.loads(said)["hookSpecificOutput"]["tailToolCallRequest"]
        assert follows["name"] == "run_shell_command"
        outputs = []
        for command in (changed["command"], follows["args"]["command"]):
            shell = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE)
            outputs.append((await shell.communicate())[0])
        assert outputs == [b"", b"out\n\n"]
        shown = {**after, "tool_input": follows["args"]}
        assert await program(in_place.__file__, *arguments, asked=shown) == (0, b"")
        assert not results(tmp_path)
        assert there.asked[0][1][READY_HEADER] == ALONE
        assert CALL_ID_HEADER not in there.asked[0][1]

    async def test_nothing_follows_any_other_command_and_what_follows_is_not_asked_about(self, tmp_path: Path) -> None:
        async with sidecar(web.Response(body=b"out")) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "", "0")
            for more in ({"hook_event_name": "AfterTool"}, {"original_request_name": "run_shell_command"}):
                assert await program(in_place.__file__, *arguments, asked=question(tmp_path, **more)) == (0, b"")
        assert not there.asked
