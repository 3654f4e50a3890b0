"""Events with each invocation in a form of which there is one for all that count as the same."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import CallSealed, Event, Speculation, ToolCall

Core: TypeAlias = Callable[[Invocation], Invocation]
"""Gives the one form; the same again for what has it already."""


def as_asked(invocation: Invocation) -> Invocation:
    """Where nothing has been said about what counts as the same: each invocation is its own core."""
    return invocation


def cored(event: Event, core: Core) -> Event:
    """The event with its invocation's core. What a tool answered stays what it answered."""
    if isinstance(event, CallSealed | ToolCall | Speculation):
        invocation = core(event.invocation)
        return event if invocation is event.invocation else replace(event, invocation=invocation)
    return event
