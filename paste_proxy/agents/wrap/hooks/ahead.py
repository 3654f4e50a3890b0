"""What a sidecar needs to run a client's reading commands ahead: the tool that runs them, and leave to do so."""

import sys
import time
from pathlib import Path

from paste_proxy.agents.wrap.client import User
from paste_proxy.agents.wrap.hooks import run_reading
from paste_proxy.config import Config, DispatchTool
from paste_proxy.speculation.reading_commands import READ_SHELL

_POLICY = "builtin:shell"
_LONGEST_S = 60.0
_CLAUDE = "claude-code"


def with_reading_shell(config: Config, client: str, user: User) -> Config:
    """The config with a tool that runs commands as the client's shell would.

    What the user's own policies say about that tool comes first.

    Args:
        client: one whose hooks put results in place, with nothing in the way of that.
    """
    command = [sys.executable, "-I", "-S", run_reading.__file__, str(user.folder), *_shell(client, user)]
    tool = DispatchTool(command=tuple(command), timeout_s=_LONGEST_S)
    return config.model_copy(
        update={"tools": {**config.tools, READ_SHELL: tool}, "policies": (*config.policies, _POLICY)}
    )


def _shell(client: str, user: User) -> tuple[str, ...]:
    """Where the client keeps the functions and aliases that its shell has, and since when they are this run's."""
    home = Path(user.env.get("CLAUDE_CONFIG_DIR") or user.home / ".claude")
    return (str(home / "shell-snapshots"), str(time.time())) if client == _CLAUDE else ()
