"""What a policy says of a candidate, in words; whether there is room and use for it shows only in a live session."""

from dataclasses import dataclass

from paste_proxy.speculation.policy import Ruling
from paste_proxy.speculation.types import Mode


@dataclass(frozen=True, slots=True)
class Said:
    """Whether it would be run ahead, and why."""

    runs: bool
    why: str
    rule: str = ""
    """File and number of the rule that decides; empty: no rule names the tool."""


def said(ruling: Ruling, confidence: float, least: float) -> Said:
    """What a ruling comes to.

    Args:
        least: confidence below which nothing is run ahead, unless the rule says otherwise.
    """
    if ruling.rule is None:
        return Said(False, "no rule names it, so it is never run ahead")
    place = ruling.rule.place
    if ruling.approval:
        return Said(False, f"a {ruling.effect.value} that a person is asked about first, never run ahead", place)
    if not ruling.allowed:
        return Said(False, f"a {ruling.effect.value}, never run ahead", place)
    if ruling.mode is not Mode.SPECULATE:
        return Said(False, f"its rule has the mode {ruling.mode.value}", place)
    floor = least if ruling.min_confidence is None else ruling.min_confidence
    if confidence < floor:
        return Said(False, f"it may be run ahead, but is less likely than {floor:.0%}", place)
    held = ", its effects held back" if ruling.staged else ""
    return Said(True, f"a {ruling.effect.value} that may be run ahead{held}", place)
