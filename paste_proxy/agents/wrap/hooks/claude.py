"""Settings that give Claude Code the hook. A hook's new command is what permissions are checked against, and what
other hooks of the user's are shown afterwards: this is for where there are none (`claude_obstacles`).
"""

import shlex
import sys
import time
from pathlib import Path

from paste_proxy.agents.wrap.claude_config import MANAGED, ClaudeConfig
from paste_proxy.agents.wrap.client import Behind
from paste_proxy.agents.wrap.hooks import in_place
from paste_proxy.agents.wrap.hooks.claude_obstacles import modes
from paste_proxy.agents.wrap.settings_file import Settings

_WAIT_S = 70


def hooks(config: ClaudeConfig, behind: Behind, place: Path) -> Settings:
    """What goes under `hooks`.

    Args:
        place: a private folder for results.
    """
    own, home = config.user.folder / ".claude", config.home
    settings = (home / "settings.json", home / "remote-settings.json", own, own / "settings.json")
    watched = (*settings, own / "settings.local.json", MANAGED)
    words = (behind.url, behind.session, str(config.user.folder), str(place), ",".join(modes(config)))
    command = shlex.join([sys.executable, "-I", "-S", in_place.__file__, *words, str(time.time()), *map(str, watched)])
    hook: Settings = {"type": "command", "command": command, "timeout": _WAIT_S}
    return {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}
