"""A session written down in any form is read as the same events, as far as the form tells."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from paste_proxy.importers import detection
from paste_proxy.importers.formats import FORMATS
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt
from tests.importers.scripted import EXAMPLE, Script, read_back, scripts, told
from tests.importers.writers import WRITERS


def read_alone(form: str, path: Path) -> RecordedSession:
    corrupt = Corrupt()
    [session] = FORMATS[form].read([path], corrupt)
    assert (corrupt.bad, corrupt.torn) == (0, 0)
    return session


def test_every_form_but_the_neutral_one_has_a_writer() -> None:
    assert set(WRITERS) == set(FORMATS) - {"neutral"}


@pytest.mark.parametrize("form", WRITERS)
@settings(max_examples=25, deadline=None)
@given(script=scripts())
def test_a_script_is_read_back(form: str, script: Script) -> None:
    write, carries = WRITERS[form]
    with TemporaryDirectory() as folder:
        session = read_alone(form, write(Path(folder), script))
    assert read_back(session) == told(script, carries)


@pytest.mark.parametrize("form", WRITERS)
def test_the_form_is_told_by_the_file_alone(form: str, tmp_path: Path) -> None:
    path = WRITERS[form][0](tmp_path, EXAMPLE)
    found = detection.form_of(path)
    assert found is not None
    assert found.name == form
    assert list(detection.read([tmp_path], Corrupt())) == [read_alone(form, path)]


@pytest.mark.parametrize("form", WRITERS)
def test_a_session_has_the_same_id_wherever_its_file_lies(form: str, tmp_path: Path) -> None:
    write, _ = WRITERS[form]
    one, other = write(tmp_path / "here", EXAMPLE), write(tmp_path / "elsewhere", EXAMPLE)
    assert read_alone(form, one).id == read_alone(form, other).id
