"""What a config's model speculator is made of. The client library is loaded only where there is one."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paste_proxy.config import ModelSpeculator as Wanted
from paste_proxy.errors import InputFault
from paste_proxy.speculation.guessing.allowance import GuessLimits
from paste_proxy.speculation.guessing.guesser import Guesser
from paste_proxy.speculators.guess import Guessed

if TYPE_CHECKING:
    from paste_proxy.speculators.model import ModelSpeculator

_ANSWER_LIMITS = ("max_tokens", "max_completion_tokens")
_ANSWER_TOKENS = 1_024
"""Set aside for an answer to which the config sets no limit."""


@dataclass(frozen=True, slots=True)
class Guessing:
    """Who decides, and who asks."""

    guesser: Guesser
    speculator: "ModelSpeculator"


def guessing(wanted: Wanted, ended: Callable[[Guessed], None]) -> Guessing:
    """Both parts; reads certificates, so to be called before the event loop runs.

    Raises:
        InputFault: the key's environment variable is not set.
    """
    from paste_proxy.speculators.endpoint import Endpoint
    from paste_proxy.speculators.model import ModelSpeculator

    endpoint = Endpoint(
        base_url=wanted.base_url,
        model=wanted.model,
        key=_key(wanted.api_key_env),
        parameters=wanted.parameters,
        proxy=wanted.proxy,
    )
    return Guessing(_guesser(wanted), ModelSpeculator(endpoint, timeout_s=wanted.timeout_s, ended=ended))


def _guesser(wanted: Wanted) -> Guesser:
    limits = GuessLimits(
        concurrent=wanted.concurrent,
        calls_per_minute=wanted.calls_per_minute,
        session_tokens=wanted.session_tokens,
        day_tokens=wanted.day_tokens,
        session_cost=wanted.session_cost,
        day_cost=wanted.day_cost,
        input_price=wanted.input_price,
        output_price=wanted.output_price,
    )
    told = (limit for name in _ANSWER_LIMITS if isinstance(limit := wanted.parameters.get(name), int))
    return Guesser(
        limits,
        most=wanted.samples,
        agree=wanted.agree,
        answer_tokens=next(told, _ANSWER_TOKENS),
        second_worth=wanted.second_worth,
    )


def _key(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise InputFault("speculator.api_key_env", f"{variable!r}, which the environment does not set", "its key there")
    return key
