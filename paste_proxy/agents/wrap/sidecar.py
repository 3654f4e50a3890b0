"""The sidecar of one run: a process of its own, in a session of its own, so that Ctrl-C is not meant for it."""

import json
import os
import re
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import tomlkit

from paste_proxy.config import Config
from paste_proxy.errors import OurFault
from paste_proxy.events.values import Json

_START_S = 30.0
_ASK_S = 3.0
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
    def start(cls, config: Config, place: Path, *, folder: Path, env: Mapping[str, str]) -> "Sidecar":
        """Start `paste-proxy serve` and wait until it listens.

        Args:
            place: an empty private folder for its config and its log.
            folder: its working folder, and so that of the servers it starts.

        Raises:
            OurFault: it did not come up; its last words are in the message.
        """
        written, log = place / "paste.toml", place / "sidecar.log"
        written.write_text(config_text(config), "utf-8")
        written.chmod(0o600)
        served = ("serve", "--config", str(written), "--port", "0")
        command = [sys.executable, "-m", "paste_proxy.agents.wrap.lifeline", *served]
        with log.open("wb") as said:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and options
                command,
                cwd=folder,
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,
            )
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
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

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
