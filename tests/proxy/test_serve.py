"""The sidecar as a process: what it prints, how it refuses, how it stops."""

import asyncio
import json
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from paste_proxy.proxy.named_files import read_policy
from tests.proxy.llm_world import (
    PATIENCE_S,
    STREAM_HEAD,
    Seen,
    answer,
    chunked,
    connect,
    exchange,
    post,
    replying,
    until,
    upstream,
)

RULES = len(read_policy("builtin:mcp-filesystem").rules)

SERVE = "import typer; from paste_proxy.cli.serve import serve; from paste_proxy.cli import main; "
SERVE += "main.app.command('only-serve')(serve); main.run()"


@dataclass
class Running:
    process: asyncio.subprocess.Process
    said: str
    port: int

    async def ended(self) -> int:
        return await asyncio.wait_for(self.process.wait(), PATIENCE_S)


def config(folder: Path, text: str) -> Path:
    path = folder / "paste.toml"
    path.write_text(text, "utf-8")
    return path


def routed(folder: Path, there: str, more: str = "") -> Path:
    return config(folder, f'port = 0\n{more}\n[[llm]]\npath = "/v1"\nupstream = "{there}"\n')


async def start(*options: str, cwd: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVE, "only-serve", *options),
        cwd=cwd,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def served(path: Path, *options: str) -> AsyncIterator[Running]:
    process = await start("--config", str(path), *options, cwd=path.parent)
    assert process.stdout is not None
    said = (await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)).decode()
    found = re.search(r":(\d+) ", said)
    assert found, said
    try:
        yield Running(process, said, int(found[1]))
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def refused(*options: str, cwd: Path) -> tuple[int, str]:
    process = await start(*options, cwd=cwd)
    _, said = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode is not None
    return process.returncode, said.decode()


async def test_it_prints_the_address_bound_and_the_mode_and_forwards(tmp_path: Path) -> None:
    async with upstream(replying(answer(b"ok"))) as there, served(routed(tmp_path, there.url), "--mode", "off") as side:
        assert re.fullmatch(r"paste-proxy listening on http://127\.0\.0\.1:\d+ \(off\)\n", side.said)
        assert (await exchange(side.port, post("/v1/x", b"{}"))).endswith(b"ok")
        side.process.send_signal(signal.SIGTERM)
        assert await side.ended() == 0


async def test_it_logs_where_everything_goes_and_what_may_be_run_ahead(tmp_path: Path) -> None:
    text = 'policies = ["builtin:mcp-filesystem"]\npatterns = ["builtin:search_then_fetch"]\n'
    text += '[mcp.filesystem]\ncommand = ["npx", "--token=sk-1"]\n[mcp.web]\nurl = "http://a.example/mcp?key=sk-1"\n'
    text += '[recording]\ndirectory = "kept"\n'
    async with served(routed(tmp_path, "http://b.example/v1", text)) as side:
        assert side.process.stderr is not None
        said = await asyncio.wait_for(side.process.stderr.readuntil(b'"recording"'), PATIENCE_S)
        said += await asyncio.wait_for(side.process.stderr.readline(), PATIENCE_S)
    lines = [json.loads(line) for line in said.decode().splitlines()]
    seen = {(line["event"], line.get("path"), line.get("upstream")) for line in lines}
    assert ("llm", "/v1", "http://b.example/v1") in seen
    assert {("mcp", "/mcp/filesystem", "a program"), ("mcp", "/mcp/web", "http://a.example")} <= seen
    kinds = {line["event"]: line for line in lines}
    assert (kinds["speculation"]["mode"], kinds["speculation"]["rules"]) == ("observe", RULES)
    assert kinds["prediction"]["patterns"] == 4
    assert kinds["recording"]["directory"] == str(tmp_path / "kept")
    assert b"sk-1" not in said


async def test_b65_a_stream_under_way_is_finished_before_it_stops(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def held(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunked(b"data: 1\n\n", end=b""))
        await go.wait()
        writer.write(chunked(b"data: 2\n\n"))

    async with upstream(held) as there, served(routed(tmp_path, there.url)) as side:
        live = asyncio.ensure_future(exchange(side.port, post("/v1/x", b"{}")))
        await until(there.asked)
        side.process.send_signal(signal.SIGTERM)
        assert side.process.stderr is not None
        await asyncio.wait_for(side.process.stderr.readuntil(b"stopping"), PATIENCE_S)
        assert (await exchange(side.port, post("/v1/x", b"{}"))).startswith(b"HTTP/1.1 503 ")
        go.set()
        assert (await live).endswith(b"data: 2\n\n\r\n0\r\n\r\n")
        assert await side.ended() == 0


@pytest.mark.parametrize("how", ["second signal", "limit"])
async def test_b65_a_stream_without_end_does_not_keep_it_from_stopping(tmp_path: Path, how: str) -> None:
    endless = replying(STREAM_HEAD + chunked(b"data: 1\n\n", end=b""))
    limit = "drain_s = 0.2" if how == "limit" else "drain_s = 600"
    async with upstream(endless) as there, served(routed(tmp_path, there.url, limit)) as side:
        reader, writer = await connect(side.port)
        writer.write(post("/v1/x", b"{}"))
        await asyncio.wait_for(reader.readuntil(b"data: 1\n\n"), PATIENCE_S)
        side.process.send_signal(signal.SIGTERM)
        if how == "second signal":
            assert side.process.stderr is not None
            await asyncio.wait_for(side.process.stderr.readuntil(b"stopping"), PATIENCE_S)
            side.process.send_signal(signal.SIGINT)
        assert await side.ended() == 0
        await until(there.gone)
        writer.close()


async def test_a_port_in_use_is_said_so(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, said = await refused("--config", str(routed(tmp_path, "http://a")), "--port", str(port), cwd=tmp_path)
    assert code == 2
    assert f"127.0.0.1:{port}: cannot be bound" in said
    assert "Traceback" not in said


async def test_b40_an_upstream_that_is_the_sidecar_itself_is_refused(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = routed(tmp_path, f"http://localhost:{port}/v1")
    code, said = await refused("--config", str(path), "--port", str(port), cwd=tmp_path)
    assert (code, "the sidecar itself" in said) == (2, True)


async def test_b66_a_host_that_others_can_reach_needs_the_option(tmp_path: Path) -> None:
    path = routed(tmp_path, "http://a", 'host = "0.0.0.0"')
    code, said = await refused("--config", str(path), cwd=tmp_path)
    assert code == 2
    assert "--allow-remote" in said
    async with served(path, "--allow-remote") as side:
        assert "http://0.0.0.0:" in side.said


async def test_without_a_config_it_shows_the_least_that_one_needs(tmp_path: Path) -> None:
    code, said = await refused(cwd=tmp_path)
    assert code == 2
    assert "paste.toml" in said
    assert "[[llm]]" in said
    routed(tmp_path, "http://a", 'surprise = "x"')
    code, said = await refused(cwd=tmp_path)
    assert (code, "surprise" in said) == (2, True)


async def test_on_a_port_of_its_own_a_route_has_every_path(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        own = probe.getsockname()[1]
    async with upstream(replying(answer(b"the LLM's"))) as there:
        path = routed(tmp_path, "http://a", f'[[llm]]\npath = "/"\nupstream = "{there.url}"\nports = [{own}]\n')
        async with served(path) as side:
            for target in ("/v1/x", "/metrics", "/paste/v1/stats"):
                assert (await exchange(own, post(target, b"{}"))).endswith(b"the LLM's")
                assert not (await exchange(side.port, post(target, b"{}"))).endswith(b"the LLM's")
    assert [seen.target for seen in there.seen] == [b"/v1/x", b"/metrics", b"/paste/v1/stats"]
