"""The engine of a single process."""

from paste_proxy.mining.engine import Here


def test_a_job_is_begun_when_its_result_is_asked_for() -> None:
    begun: list[int] = []
    results = Here().map(begun.append, [1, 2])
    assert begun == []
    next(results)
    assert begun == [1]
