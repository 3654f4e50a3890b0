"""What `doctor` says of `[learning]`: whether it is kept, where, and how much there is."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from paste_proxy.config import Config
from paste_proxy.errors import InputFault
from paste_proxy.mining.forecast.adaptation import Adaptation, Place
from paste_proxy.mining.pool import Pool
from paste_proxy.proxy.finding import Finding, Level, counted, writable
from paste_proxy.proxy.memory import paths
from paste_proxy.proxy.memory_file import REFUSED, stored
from paste_proxy.speculation.types import Mode


def check_memory(config: Config) -> Iterator[Finding]:
    """Reads the files of this workspace and of everywhere; changes neither."""
    if not config.learning.enabled or config.speculation.mode is Mode.OFF:
        off = "`speculation.mode` is" if config.learning.enabled else "it is"
        yield Finding(Level.OK, "learning", f"sessions teach nothing: {off} off")
        return
    files = paths(config)
    if files is None:
        mend = "name a `learning.directory`, or a `recording.directory`, to have it kept"
        yield Finding(Level.OK, "learning", "until the sidecar ends: there is no folder for it", mend)
        return
    here, everywhere = files
    folder = writable("learning", here.parent)
    yield folder
    if folder.level is Level.OK:
        workspace = (config.learning.workspace or Path.cwd()).resolve()
        yield _file("memory here", here, f"of {workspace}")
        yield _file("memory everywhere", everywhere, "of all workspaces")


def _file(what: str, path: Path, whose: str) -> Finding:
    aside = path.with_name(path.name + REFUSED)
    before = f"; what was refused before is in {aside}" if aside.exists() else ""
    try:
        place = stored(path, 1.0, time.time())
    except FileNotFoundError:
        return Finding(Level.OK, what, f"{whose}: nothing yet{before}")
    except InputFault as fault:
        found = f"{fault.where}: {fault.found}"
        mend = f"expected {fault.expected}; serve puts it aside as {aside.name} and begins anew"
        return Finding(Level.WARN, what, found, mend)
    except (OSError, ValueError) as fault:
        return Finding(Level.WARN, what, f"{path}: {fault}", f"serve puts it aside as {aside.name} and begins anew")
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return Finding(Level.OK, what, f"{whose}, written {written:%Y-%m-%d %H:%M} UTC: {_known(place)}{before}")


def _known(place: Place) -> str:
    demoted = len(Adaptation(Pool(), [place]).demoted())
    return ", ".join(
        [
            counted(place.moments, "moment"),
            counted(len(place.habits.known), "habit"),
            f"{counted(demoted, 'pattern')} demoted",
        ]
    )
