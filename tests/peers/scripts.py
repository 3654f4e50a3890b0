"""How to start the scripted server."""

import sys
from pathlib import Path

from paste_proxy.config import McpServer

SCRIPTED = (sys.executable, "-u", str(Path(__file__).with_name("scripted.py")))


def scripted(*args: str, stateless: bool = True) -> McpServer:
    """The scripted server as a configured one."""
    return McpServer(command=(*SCRIPTED, *args), stateless=stateless)
