"""The band that looks at the cache alone."""

from paste_proxy.turns.aimd import AimdBand
from paste_proxy.turns.types import EngineLoad


def told(band: AimdBand, now: float, kv_used: float | None, hits: float | None = 0.1) -> float:
    band.measured(EngineLoad(running=10, kv_used=kv_used, cache_hits=hits), now)
    return band.high


def test_it_grows_step_by_step_while_there_is_room_and_halves_when_contexts_are_thrown_out() -> None:
    band = AimdBand(high=32)
    assert told(band, 0, 0.3) == 34
    assert told(band, 1, 0.8) == 34, "neither"
    assert told(band, 2, 0.95) == 17
    assert told(band, 3, 0.95) == 17, "what that did shows only after a while"
    assert told(band, 9, 0.95) == 8.5


def test_a_full_cache_is_no_harm_while_prompts_are_found_in_it() -> None:
    band = AimdBand(high=32)
    assert told(band, 0, 0.99, hits=0.9) == 32


def test_an_engine_that_says_nothing_changes_nothing() -> None:
    band = AimdBand(high=32)
    assert told(band, 0, None) == 32
