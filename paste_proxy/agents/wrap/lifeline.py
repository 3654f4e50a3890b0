"""`python -m paste_proxy.agents.wrap.lifeline ...`: paste-proxy, told to stop once nobody holds its stdin open.

The wrapper and its client hold the other end. Whichever way they end, kill -9 included, no sidecar is left.
"""

import os
import runpy
import signal
import threading

_CHUNK = 4_096


def _watch() -> None:
    while os.read(0, _CHUNK):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_watch, daemon=True).start()
    runpy.run_module("paste_proxy", run_name="__main__", alter_sys=True)
