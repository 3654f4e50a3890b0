"""A stdio server process: lines, stderr, endings."""

import sys

import pytest
from structlog.testing import capture_logs

from paste_proxy.errors import UpstreamFault
from paste_proxy.tools.mcp_child import Child


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-u", "-c", code)


ECHO = python("import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.flush()")


async def test_lines_come_back_as_they_were_written() -> None:
    child = await Child.start("echo", ECHO)
    sent = [b'{"a":1}\n', b'{"b":"\xe2\x80\xa8 \xc2\x85"}\n', b'{"c":2}\r\n', b'{"d":"' + b"x" * 300_000 + b'"}\n']
    for line in sent:
        await child.send(line)
    child.close_input()
    assert [line async for line in child.lines()] == sent
    assert await child.close() == 0


async def test_a_last_line_without_an_end_is_given_too() -> None:
    child = await Child.start("torn", python("import sys; sys.stdout.write('one\\ntwo')"))
    assert [line async for line in child.lines()] == [b"one\n", b"two"]
    await child.close()


async def test_an_obituary_names_the_server_its_code_and_its_last_words() -> None:
    code = "import sys\nfor n in range(9): print('word', n, file=sys.stderr)\nsys.exit(3)"
    child = await Child.start("mortal", python(code))
    text = child.obituary(await child.wait())
    assert "'mortal' exited with code 3" in text
    assert "word 8" in text
    assert "word 1" not in text
    await child.close()


async def test_a_flood_on_stderr_does_not_stop_the_server() -> None:
    code = "import sys\nsys.stderr.write('e' * 2_000_000 + '\\n'); print('done')"
    child = await Child.start("loud", python(code))
    assert [line async for line in child.lines()] == [b"done\n"]
    assert len(child.obituary(await child.close())) < 1000


async def test_a_server_deaf_to_the_end_of_its_input_is_ended() -> None:
    child = await Child.start("deaf", python("import time\nprint('up')\ntime.sleep(600)"))
    async for line in child.lines():
        assert line == b"up\n"
        break
    assert await child.close() == -15


async def test_a_command_that_is_not_there_is_an_upstream_fault() -> None:
    with pytest.raises(UpstreamFault, match=r"'gone' cannot be started with .*no-such-command"):
        await Child.start("gone", ("no-such-command",))


async def test_a_server_that_left_no_longer_reads() -> None:
    child = await Child.start("left", python("pass"))
    await child.wait()
    with pytest.raises(UpstreamFault, match="'left' no longer reads"):
        await flood(child)
    await child.close()


async def flood(child: Child) -> None:
    for _ in range(50):
        await child.send(b"x" * 100_000)


async def test_a_secret_on_stderr_is_not_logged() -> None:
    code = "import sys\nprint('password=hunter2-and-more', file=sys.stderr)"
    with capture_logs() as logged:
        child = await Child.start("leaky", python(code))
        await child.close()
    assert [entry["event"] for entry in logged] == ["mcp_server_stderr"]
    assert "hunter2" not in str(logged)


async def test_a_server_that_no_longer_reads_is_told_in_words_and_not_in_objects_of_ours() -> None:
    child = await Child.start("deaf", python("pass"))
    await child.close()
    with pytest.raises(UpstreamFault) as fault:
        await child.send(b"{}")
    assert str(fault.value) == "MCP server 'deaf' no longer reads its input"
