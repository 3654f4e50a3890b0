"""Every field case of the kinds that are shown here is a test by its id."""

import re
from pathlib import Path

ROW = re.compile(r"^\| (B\d\d) \| ([A-Z]) \|", re.MULTILINE)
KINDS = set("WTHAMLS")
TEST = re.compile(r"^ *(?:async )?def test_(\w+)", re.MULTILINE)
NAMED = re.compile(r"(?<![a-z0-9])b\d\d(?=_)")
TESTS = Path(__file__).parent.parent


def named() -> set[str]:
    """Ids in the names of test functions, `test_b01_...` or `test_b09_b10_...`."""
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        for name in TEST.findall(path.read_text("utf-8")):
            found |= {case.upper() for case in NAMED.findall(name)}
    return found


def test_every_row_of_the_kinds_shown_is_a_test_by_its_id(corpus: Path) -> None:
    rows = ROW.findall((corpus / "field-cases.md").read_text("utf-8"))
    assert len(rows) > 50
    missing = sorted({case for case, kind in rows if kind in KINDS} - named())
    assert missing == []


def test_no_test_names_a_case_that_there_is_not(corpus: Path) -> None:
    cases = {case for case, _ in ROW.findall((corpus / "field-cases.md").read_text("utf-8"))}
    assert sorted(named() - cases) == []
