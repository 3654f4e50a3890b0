"""First calls, unprepared and prepared."""

import shutil

import pytest

from paste_proxy.bench.first_call import measure as measuring
from paste_proxy.cli.first_call import _table


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the program openssl, for a certificate")
def test_both_sides_are_measured_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "AWAY_MS", (0,))
    seen: list[str] = []
    report = measuring.measure(1, seen.append)
    cases = report["cases"]
    assert isinstance(cases, list)
    assert seen == ["TLS, 0 ms away", "MCP server to start"]
    assert [set(row) for row in cases if isinstance(row, dict)] == [
        {"case", "unprepared_ms", "prepared_ms", "left"}
    ] * 2
    assert _table(report).count("\n") == 2
