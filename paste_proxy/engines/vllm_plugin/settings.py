"""What the environment of a vLLM server says to the plug-in; an engine's processes have nothing else in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from paste_proxy.engines.vllm_plugin.pressure import Range
from paste_proxy.errors import InputFault

_PREFIX = "PASTE_VLLM"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All of `PASTE_VLLM_*`; seconds and bytes."""

    band: Range | None = None
    """`_BAND=LOW,HIGH`: what the pressure is kept in, as shares of what the engine can hold; unset: turns are put in
    order and none is held."""
    gamma: float = 1.0
    """`_GAMMA`: weight of contexts in the pressure, against turns that decode."""
    head_start_s: float = 30.0
    """`_HEAD_START`: by no more than this is a turn put before those that came earlier."""
    longest_s: float = 30.0
    """`_LONGEST`: no turn is held longer."""
    linger_s: float = 5.0
    """`_LINGER`: no response waits longer for a tool's output, whatever its request says."""
    keep_alive_s: float = 60.0
    """`_KEEP_ALIVE`: how long an output is kept that says nothing of it."""
    cache_bytes: int = 64 * 1024 * 1024
    """`_CACHE_BYTES`: of all outputs together."""
    exact: bool = False
    """`_EXACT=1`: outputs are appended only where the model's own words are what the template makes of its call."""


def switched_on(environment: Mapping[str, str]) -> bool:
    """Whether the plug-in is to do anything here."""
    return environment.get(_PREFIX, "") not in ("", "0")


def read(environment: Mapping[str, str]) -> Settings:
    """The settings that stand there.

    Raises:
        InputFault: one cannot be read.
    """
    plain = Settings()
    return Settings(
        band=_range(environment),
        gamma=_number(environment, "GAMMA", plain.gamma),
        head_start_s=_number(environment, "HEAD_START", plain.head_start_s),
        longest_s=_number(environment, "LONGEST", plain.longest_s),
        linger_s=_number(environment, "LINGER", plain.linger_s),
        keep_alive_s=_number(environment, "KEEP_ALIVE", plain.keep_alive_s),
        cache_bytes=int(_number(environment, "CACHE_BYTES", plain.cache_bytes)),
        exact=environment.get(f"{_PREFIX}_EXACT", "") not in ("", "0"),
    )


def _range(environment: Mapping[str, str]) -> Range | None:
    text = environment.get(f"{_PREFIX}_BAND", "").strip()
    if not text:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low, high = 0.0, 0.0
    if not 0 <= low <= high or not 0 < high < float("inf"):
        raise InputFault(f"{_PREFIX}_BAND", text, "LOW,HIGH with 0 <= LOW <= HIGH, such as 0.2,0.6")
    return Range(low, high)


def _number(environment: Mapping[str, str], name: str, otherwise: float) -> float:
    text = environment.get(f"{_PREFIX}_{name}", "").strip()
    if not text:
        return otherwise
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if value < 0 or not isfinite(value):
        raise InputFault(f"{_PREFIX}_{name}", text, "a number, 0 or more")
    return value
