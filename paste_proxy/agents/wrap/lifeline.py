"""`python -m paste_proxy.agents.wrap.lifeline FOLDER LOCK ...`: paste-proxy, told to stop once nobody holds its stdin.

The wrapper and its client hold the other end. Whichever way they end, kill -9 included, no sidecar is left, and
nothing of the run's FOLDER. LOCK is the file descriptor that holds it.
"""

import os
import runpy
import signal
import sys
import threading
from pathlib import Path

from paste_proxy.agents.wrap.leavings import reclaim

_CHUNK = 4_096


def _watch(alone: threading.Event) -> None:
    while os.read(0, _CHUNK):
        pass
    alone.set()
    os.kill(os.getpid(), signal.SIGTERM)


def _run(folder: Path, lock: int) -> None:
    alone = threading.Event()
    threading.Thread(target=_watch, args=(alone,), daemon=True).start()
    try:
        runpy.run_module("paste_proxy", run_name="__main__", alter_sys=True)
    finally:
        os.close(lock)
        if alone.is_set():
            reclaim(folder)


if __name__ == "__main__":
    place, held = Path(sys.argv[1]), int(sys.argv[2])
    del sys.argv[1:3]
    _run(place, held)
