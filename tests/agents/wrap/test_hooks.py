"""The hook that puts results in place, the shell that ran them ahead, and where the hook is not given."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from paste_proxy.agents.wrap.claude_config import ClaudeConfig
from paste_proxy.agents.wrap.client import Behind, User
from paste_proxy.agents.wrap.hooks import gemini, in_place, run_reading
from paste_proxy.agents.wrap.hooks.ahead import with_reading_shell
from paste_proxy.agents.wrap.hooks.claude import hooks
from paste_proxy.agents.wrap.settings_file import Settings, section
from paste_proxy.config import Config
from paste_proxy.proxy.composition import compose
from paste_proxy.proxy.dispatch.route import ALONE, CALL_ID_HEADER, READY_HEADER
from paste_proxy.speculation.reading_commands import READ_SHELL

PATIENCE_S = 20.0


async def program(file: str | None, *arguments: str, asked: object) -> tuple[int | None, bytes]:
    """Run a program of ours as a client would; its exit code and what it writes."""
    assert file is not None
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", file, *arguments), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE_S):
        said, _ = await process.communicate(json.dumps(asked).encode())
    return process.returncode, said


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


class TestHook:
    async def test_a_result_run_ahead_is_shown_by_another_command(self, tmp_path: Path) -> None:
        async with sidecar(web.Response(body=b"out\r\n\r\n\xff")) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "yes")
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
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "yes")
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
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "yes")
            assert await program(in_place.__file__, *arguments, asked=question(tmp_path, **more)) == (0, b"")
        assert not there.asked

    @pytest.mark.parametrize(("mode", "put"), [("default", False), ("bypassPermissions", True)])
    async def test_a_call_that_needs_leave_is_left_alone(self, tmp_path: Path, mode: str, *, put: bool) -> None:
        async with sidecar(web.Response(body=b"x")) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "no")
            asked = question(tmp_path, permission_mode=mode)
            _, said = await program(in_place.__file__, *arguments, asked=asked)
        assert bool(said) is put


class TestGeminisHook:
    async def test_another_command_follows_one_that_does_nothing_and_shows_the_result(self, tmp_path: Path) -> None:
        async with sidecar(web.Response(body=b"out\n\n")) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "yes")
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
        assert there.asked[0][1][READY_HEADER] == ALONE
        assert CALL_ID_HEADER not in there.asked[0][1]

    async def test_nothing_follows_any_other_command_and_what_follows_is_not_asked_about(self, tmp_path: Path) -> None:
        async with sidecar(web.Response(body=b"out")) as there:
            arguments = (there.url, "run", str(tmp_path), str(tmp_path), "yes")
            for more in ({"hook_event_name": "AfterTool"}, {"original_request_name": "run_shell_command"}):
                assert await program(in_place.__file__, *arguments, asked=question(tmp_path, **more)) == (0, b"")
        assert not there.asked

    @pytest.mark.parametrize(
        ("settings", "words", "given"),
        [
            ({}, ("-p", "hi", "--yolo"), True),
            ({"hooks": {"SessionStart": []}}, ("--prompt=hi", "--approval-mode", "yolo"), True),
            ({}, ("-p", "hi"), False),
            ({}, ("--yolo",), False),
            ({}, ("-p", "hi", "-y", "--sandbox"), False),
            ({"hooks": {"AfterTool": []}}, ("-p", "hi", "-y"), False),
            ({"tools": {"exclude": ["run_shell_command(rm)"]}}, ("-p", "hi", "-y"), False),
        ],
    )
    def test_it_is_given_only_where_it_changes_nothing_else(
        self, tmp_path: Path, settings: Settings, words: tuple[str, ...], *, given: bool
    ) -> None:
        asked = User(command=("gemini", *words), home=tmp_path, folder=tmp_path, env={})
        behind = Behind(url="http://127.0.0.1:9", session="run")
        made = gemini.hooks(settings, asked, behind, tmp_path, tmp_path)
        if not given:
            assert made == {}
            return
        hooked = section(made, "hooks")
        assert {"BeforeTool", "AfterTool"} <= hooked.keys()
        assert section(settings, "hooks").items() <= hooked.items()


class TestShell:
    async def test_errors_stand_where_they_were_written_and_the_exit_code_is_the_commands(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("x\n")
        command = {"command": "grep x a; echo no >&2; echo yes; cat; exit 3"}
        assert await program(run_reading.__file__, str(tmp_path), asked=command) == (3, b"x\nno\nyes\n")

    async def test_the_clients_functions_and_aliases_are_the_shells(self, tmp_path: Path) -> None:
        snapshots = tmp_path / "shell-snapshots"
        snapshots.mkdir()
        (snapshots / "snapshot-bash-1.sh").write_text(
            "grep() { echo mine; }\nalias ls='echo listed'\nshopt -s expand_aliases\n"
        )
        arguments = (str(tmp_path), str(snapshots))
        _, said = await program(run_reading.__file__, *arguments, "0", asked={"command": "grep x a | cat"})
        assert said == b"mine\n"
        _, said = await program(run_reading.__file__, *arguments, "0", asked={"command": "ls"})
        assert said == b"listed\n"
        code, said = await program(run_reading.__file__, *arguments, str(time.time() + 60), asked={"command": "ls"})
        assert (code, said) == (125, b"")

    async def test_without_the_clients_shell_nothing_is_run(self, tmp_path: Path) -> None:
        code, said = await program(
            run_reading.__file__, str(tmp_path), str(tmp_path / "none"), "0", asked={"command": "echo x"}
        )
        assert (code, said) == (125, b"")


def user(tmp_path: Path) -> User:
    return User(command=("claude", "-p"), home=tmp_path, folder=tmp_path, env={})


class TestConfig:
    def test_a_sidecar_can_be_made_of_it_and_the_users_policies_come_first(self, tmp_path: Path) -> None:
        mine = tmp_path / "mine.toml"
        mine.write_text('default = "deny"\n')
        config = with_reading_shell(Config(policies=(str(mine),)), "claude-code", user(tmp_path))
        assert config.policies == (str(mine), "builtin:shell")
        assert list(config.tools) == [READ_SHELL]
        compose(config)

    def test_other_clients_get_no_such_tool(self, tmp_path: Path) -> None:
        assert with_reading_shell(Config(), "codex", user(tmp_path)) == Config()


class TestSettings:
    def made(self, tmp_path: Path, settings: object, *arguments: str) -> str:
        """The hook's command, if there is one."""
        folder = tmp_path / ".claude"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings))
        config = ClaudeConfig(user(tmp_path), arguments)
        found = hooks(config, Behind(url="http://127.0.0.1:9", session="run"), tmp_path)
        return str(found["PreToolUse"]) if found else ""

    @pytest.mark.parametrize(
        ("settings", "arguments"),
        [
            ({"permissions": {"allow": ["Bash"]}}, ()),
            ({"permissions": {"allow": ["Read", "Bash(*)"]}}, ()),
            ({}, ("--allowedTools", "Read", "Bash", "-p")),
            ({}, ("--allowed-tools=Read,Bash",)),
        ],
    )
    def test_with_leave_for_all_of_bash_it_is_always_put(
        self, tmp_path: Path, settings: object, arguments: tuple[str, ...]
    ) -> None:
        assert self.made(tmp_path, settings, *arguments).count(" yes'") == 1

    @pytest.mark.parametrize("arguments", [(), ("--allowedTools", "Bash(git log:*)"), ("--allowedTools", "BashOutput")])
    def test_without_it_only_where_nothing_is_asked(self, tmp_path: Path, arguments: tuple[str, ...]) -> None:
        assert self.made(tmp_path, {}, *arguments).count(" no'") == 1

    @pytest.mark.parametrize(
        ("settings", "arguments"),
        [
            ({"hooks": {"PostToolUse": []}}, ()),
            ({"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": []}]}}, ()),
            ({"permissions": {"deny": ["Bash(rm:*)"]}}, ()),
            ({"permissions": {"ask": ["Bash"]}}, ()),
            ({}, ("--disallowedTools", "Bash(find:*) Edit")),
            ({"sandbox": {"enabled": True}}, ()),
            ({"env": {"LC_ALL": "C"}}, ()),
        ],
    )
    def test_where_it_could_change_anything_else_there_is_no_hook(
        self, tmp_path: Path, settings: object, arguments: tuple[str, ...]
    ) -> None:
        assert self.made(tmp_path, settings, "--allowedTools", "Bash", *arguments) == ""
