"""The sidecar of one run: a process of its own, in a session of its own, so that Ctrl-C is not meant for it."""

import json
import os
import re
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import tomlkit

from paste_proxy.agents.wrap.leavings import RunFolder
from paste_proxy.config import Config
from paste_proxy.errors import OurFault
from paste_proxy.events.values import Json

_START_S = 30.0
_ASK_S = 3.0
_DYING_S = 1.0
_STOP_S = (3.0, 2.0, 2.0)
"""For each of: told to stop, told again, killed."""
_LONGEST_LINE = 4_096
_ANNOUNCED = re.compile(rb"listening on (http://\S+)")
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL)


class Sidecar:
    """A running sidecar. Made by `start`; `stop` it."""

    def __init__(self, process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
        self._process = process
        self.url = url
        self.log = log

    @classmethod
    def start(cls, config: Config, of: RunFolder, *, folder: Path, env: Mapping[str, str]) -> "Sidecar":
        """Start `paste-proxy serve` and wait until it listens.

        Its config goes through a pipe: the secrets of the servers behind it are never on the disk.

        Args:
            of: the run's folder, for its log.
            folder: its working folder, and so that of the servers it starts.

        Raises:
            OurFault: it did not come up; its last words are in the message.
        """
        log = of.path / "sidecar.log"
        reading, writing = os.pipe()
        served = ("serve", "--config", f"/dev/fd/{reading}", "--port", "0")
        command = [sys.executable, "-m", "paste_proxy.agents.wrap.lifeline", str(of.path), str(of.lock), *served]
        with log.open("wb") as said, os.fdopen(reading, "rb"):
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and options
                command,
                cwd=folder,
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,
                pass_fds=(reading, of.lock),
            )
        threading.Thread(target=_tell, args=(writing, config_text(config).encode()), daemon=True).start()
        url = None
        try:
            url = _announced(process)
        finally:
            if url is None:
                _stop(process)
        if url is None:
            raise OurFault(f"the sidecar did not start: {last_words(log)}")
        return cls(process, url, log)

    @property
    def lifeline(self) -> int:
        """A file descriptor; the sidecar runs as long as some process holds it open."""
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    @property
    def over(self) -> bool:
        """Whether the process has ended; one that is about to is waited for."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_DYING_S)
        return self._process.returncode is not None

    def stats(self) -> dict[str, Json]:
        """Its tally; empty if it does not answer."""
        address = urlsplit(self.url)
        with suppress(OSError, HTTPException, ValueError):
            connection = HTTPConnection(address.hostname or "", address.port, timeout=_ASK_S)
            try:
                connection.request("GET", "/paste/v1/stats")
                answer = connection.getresponse()
                found: Json = json.loads(answer.read()) if answer.status == 200 else None
                return found if isinstance(found, dict) else {}
            finally:
                connection.close()
        return {}

    def stop(self) -> None:
        """End it, within a bounded time."""
        _stop(self._process)


def config_text(config: Config) -> str:
    """A config as the file that says it."""
    said = config.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return tomlkit.dumps(said)


def _tell(pipe: int, said: bytes) -> None:
    """Write all to a pipe that holds less, for as long as it is read."""
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as writing:
        writing.write(said)


def last_words(log: Path) -> str:
    """The last line of a log, in short."""
    with suppress(OSError):
        lines = log.read_text("utf-8", "replace").strip().splitlines()
        return lines[-1][-_LONGEST_LINE:].removeprefix("paste-proxy: ") if lines else "it said nothing"
    return "it said nothing"


def _announced(process: "subprocess.Popen[bytes]") -> str | None:
    """The address that the process says it listens on; None if it ends or stays silent."""
    assert process.stdout is not None
    said = b""
    deadline = monotonic() + _START_S
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while b"\n" not in said and len(said) < _LONGEST_LINE and (left := deadline - monotonic()) > 0:
            if not ready.select(left):
                continue
            piece = os.read(process.stdout.fileno(), _LONGEST_LINE)
            if not piece:
                break
            said += piece
    found = _ANNOUNCED.search(said)
    return found[1].decode() if found else None


def _stop(process: "subprocess.Popen[bytes]") -> None:
    for number, patience in zip(_STOP_SIGNALS, _STOP_S, strict=True):
        if process.poll() is not None:
            break
        process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
