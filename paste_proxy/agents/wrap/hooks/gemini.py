"""Settings that give gemini-cli the hooks.

Another command follows in place of the first one, and is judged like any other: this is for where nothing is asked
and nothing forbidden (`gemini_obstacles`). Without a terminal, commands write to pipes, as those that were run ahead
do. Four programs of hooks and a second shell start for a result put in place, two for every other command.

The model is told what it would have been told. The client's own file of the chat names, for a result put in
place, the command that did nothing; whoever resumes that chat shows it to the model.
"""

import shlex
import sys
import time
from pathlib import Path

from paste_proxy.agents.wrap.client import Behind
from paste_proxy.agents.wrap.hooks import in_place
from paste_proxy.agents.wrap.hooks.gemini_obstacles import Layout
from paste_proxy.agents.wrap.settings_file import Settings

_WAIT_MS = 70_000


def hooks(layout: Layout, behind: Behind, place: Path) -> Settings:
    """Settings to be laid over the user's.

    Args:
        place: a private folder for results.
    """
    words = (behind.url, behind.session, str(layout.user.folder), str(place), "", str(time.time()))
    command = shlex.join([sys.executable, "-I", "-S", in_place.__file__, *words, *map(str, layout.watched)])
    hook: Settings = {"type": "command", "name": "paste-proxy", "command": command, "timeout": _WAIT_MS}
    return {
        "hooks": {event: [{"matcher": "run_shell_command", "hooks": [hook]}] for event in ("AfterTool", "BeforeTool")}
    }
