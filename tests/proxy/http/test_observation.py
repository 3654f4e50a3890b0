"""Whatever the observer does, the exchange it watches never notices."""

from collections.abc import Mapping

import pytest

from paste_proxy.proxy.http.observation import Observation
from paste_proxy.proxy.ports import TurnTee, Waiting


class Breaking:
    """A gate and its tee, one method of which raises."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.reached: list[str] = []

    def _at(self, where: str) -> None:
        self.reached.append(where)
        if where == self._where:
            raise RuntimeError(where)

    def opened(
        self, *, wire: str, target: str, headers: Mapping[str, str], body: object, waiting: Waiting | None = None
    ) -> TurnTee:
        self._at("opened")
        return self

    def sent(self) -> None:
        pass

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        self._at("answer")

    def chunk(self, data: bytes) -> None:
        self._at("chunk")

    def closed(self, *, clean: bool, whole: bool = True) -> None:
        self._at("closed")


@pytest.mark.parametrize("where", ["opened", "answer", "chunk", "closed"])
def test_a_fault_of_the_observer_is_counted_and_goes_no_further(where: str) -> None:
    gate, faults = Breaking(where), list[str]()
    seen = Observation(gate, "openai_chat", "/v1/chat/completions", {}, 100, faults.append)
    seen.sent([b"{}"])
    seen.answer(200, {})
    seen.chunk(b"data: 1\n\n")
    seen.chunk(b"data: 2\n\n")
    seen.closed(clean=True)
    assert faults == ["tee"]
    assert gate.reached[-1] == where, "after its fault it is shown nothing"


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate", "made-up", "\ud800"])
def test_an_answer_that_is_not_what_it_says_is_an_incomplete_turn(coding: str) -> None:
    gate, faults = Breaking(""), list[str]()
    seen = Observation(gate, "openai_chat", "/v1/chat/completions", {}, 100, faults.append)
    seen.sent([b"{}"])
    seen.answer(200, {"Content-Encoding": coding})
    seen.chunk(b"\xff\x00 not that" * 20)
    seen.closed(clean=True)
    assert (faults, "chunk" in gate.reached) == ([], False)
