"""A shell's reading commands are a tool of their own where something runs such ahead, and only there."""

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.speculation.reading_commands import READ_SHELL
from tests.proxy.hub.test_toolbox import Still

LOOK: dict[str, Json] = {"command": "grep -r x . | wc -l", "description": "Count"}


@pytest.mark.parametrize("shell", ["Bash", "run_shell_command"])
def test_a_reading_command_is_told_from_the_others(shell: str) -> None:
    toolbox = Toolbox()
    assert toolbox.resolve(shell, LOOK) == Invocation(shell, LOOK)
    toolbox.offer("", "", Still(), [READ_SHELL])
    assert toolbox.resolve(shell, LOOK) == Invocation(READ_SHELL, {"command": "grep -r x . | wc -l"})
    assert toolbox.knows(READ_SHELL)
    write: dict[str, Json] = {"command": "rm -r ."}
    assert toolbox.resolve(shell, write) == Invocation(shell, write)
    assert not toolbox.knows(shell)
