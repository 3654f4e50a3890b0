"""Which form a log file is in, told by its first records."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, loads
from paste_proxy.importers.files import numbered_lines
from paste_proxy.importers.formats import FORMATS, Format, found_in
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import GOES_ON, Corrupt, document
from paste_proxy.wire.loose import listing

_LOOKED_AT = 20
"""Records: some logs begin with a few that tell nothing of their form."""
_FILES_TRIED = 20
_ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".traj", ".traj.gz", ".db")
_LOOKED_FOR = f"logs of {', '.join(FORMATS)}"


def read(paths: Iterable[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The sessions of files of any form; files in folders that are of none are passed over.

    Raises:
        InputFault: a file named by itself is of no form that is known, or as the form's own `read`.
    """
    paths = list(paths)
    files = files_in(paths)
    named = set(paths)
    groups: dict[str, list[Path]] = {}
    for path in files:
        form = form_of(path)
        if form is not None:
            groups.setdefault(form.name, []).append(path)
        elif path in named:
            raise InputFault(str(path), "of no form that is known", _LOOKED_FOR)
    for name, group in groups.items():
        yield from FORMATS[name].read(group, corrupt)


def files_in(paths: Iterable[Path]) -> list[Path]:
    """The files that are looked at: each path itself, or those below a folder that are called as logs are.

    Raises:
        InputFault: as `found_in`.
    """
    return found_in(paths, lambda path: path.name.endswith(_ENDINGS), _LOOKED_FOR)


def first_form(path: Path) -> Format | None:
    """The form of a file, or of the first in a folder that is of any; None where none is, or it cannot be read."""
    with suppress(InputFault):
        for file in islice(files_in([path]), _FILES_TRIED):
            with suppress(InputFault):
                if form := form_of(file):
                    return form
    return None


def form_of(path: Path) -> Format | None:
    """The form of a file, None if it is of none that is known.

    Raises:
        InputFault: the file cannot be read.
    """
    if path.suffix == ".db":
        return FORMATS["opencode"]
    for record in _first(path):
        form = next((form for form in FORMATS.values() if form.recognises(record)), None)
        if form is not None:
            return form
    return None


def _first(path: Path) -> Sequence[dict[str, Json]]:
    values = list(islice(_values(path), _LOOKED_AT))
    shown = (listing(value)[0] if listing(value) else value for value in values)
    shown = (listing(value)[0] if listing(value) else value for value in shown)
    return [value for value in shown if isinstance(value, dict)]


def _values(path: Path) -> Iterator[Json]:
    for number, line in numbered_lines(path):
        try:
            yield loads(line)
        except ValueError:
            if number == 1 and line.rstrip().endswith(GOES_ON):
                yield document(path, Corrupt(skip=True))
                return
