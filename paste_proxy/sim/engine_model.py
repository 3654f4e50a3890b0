"""How long an engine's steps take, and what it has room for.

A step of continuous batching gives every turn that decodes one token, and prefills a chunk of prompts beside:

    seconds = step_s + turn_s * B + crowd_s * B**2 + context_s * K + prompt_s * P

for B turns that decode, K tokens of context in the cache of those that run, and P tokens prefilled in the step. With
`crowd_s` an engine gives most tokens a second at B = sqrt(step_s / crowd_s) and fewer beyond: it can be overrun.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf, sqrt
from pathlib import Path
from typing import Any, get_type_hints

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, loads

USUAL_BATCH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineModel:
    """One engine; also the form of a file, as a JSON object of these keys."""

    name: str
    step_s: float
    """A step, whatever is in it."""
    turn_s: float = 0.0
    """More, for each turn that decodes."""
    crowd_s: float = 0.0
    """More, for each pair of them, each with itself included."""
    context_s: float = 0.0
    """More, for each token of the contexts that run."""
    prompt_s: float = 0.0
    """More, for each token of a prompt that is not cached."""
    chunk_tokens: int = 2048
    """Of prompts, prefilled in one step at most."""
    max_batch: int = USUAL_BATCH
    """Turns at once; more wait in the engine's own queue (vLLM's `max_num_seqs`)."""
    kv_tokens: int = 2_000_000
    """Room for contexts: of turns that run, and in what is left those of sessions that may come back."""

    def step_seconds(self, decoding: int, context: float = 0.0, prefilled: float = 0.0) -> float:
        """Seconds of one step."""
        return (
            self.step_s
            + self.turn_s * decoding
            + self.crowd_s * decoding * decoding
            + self.context_s * context
            + self.prompt_s * prefilled
        )

    @property
    def knee(self) -> float:
        """Turns at which it gives most tokens a second, contexts aside: at most its largest batch."""
        return min(sqrt(self.step_s / self.crowd_s) if self.crowd_s else inf, self.max_batch)

    def report(self) -> dict[str, Json]:
        """The form of its file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


_STEP_S = 0.004

PAPER = EngineModel(
    name="paper",
    step_s=_STEP_S,
    turn_s=0.005 * _STEP_S,
    crowd_s=_STEP_S / 33**2,
    prompt_s=0.00002,
    max_batch=128,
)
"""One that can be overrun as PASTE measured it (figure 5): from 1 to 192 sessions of deep research the time in the LLM
grows more than 17 times. It gives most tokens a second at 33 turns, and half of that at its largest batch."""

LINEAR = EngineModel(
    name="linear",
    step_s=_STEP_S,
    turn_s=_STEP_S * 16 / 191,
    prompt_s=0.00002,
    max_batch=256,
)
"""One whose steps grow with its batch, 17 times from 1 turn to 192: more turns at once never cost tokens."""

ENGINES: Mapping[str, EngineModel] = {model.name: model for model in (PAPER, LINEAR)}


def read_engine(name: str) -> EngineModel:
    """The engine of that name, or of a file.

    Raises:
        InputFault: it cannot be read, or a key of it is unknown, missing, of another type or out of bounds.
    """
    if name in ENGINES:
        return ENGINES[name]
    try:
        read = loads(Path(name).read_bytes())
    except (OSError, ValueError) as fault:
        raise InputFault(name, f"cannot be read ({fault})", f"{', '.join(ENGINES)}, or a JSON file of one") from fault
    if not isinstance(read, dict):
        raise InputFault(name, "no JSON object", "the keys of an engine")
    return _parsed(read, name)


def _parsed(read: dict[str, Any], where: str) -> EngineModel:
    types = get_type_hints(EngineModel)
    if unknown := read.keys() - types.keys():
        raise InputFault(f"{where}: {min(unknown)}", "an unknown key", ", ".join(types))
    read.setdefault("name", Path(where).stem)
    for key, value in read.items():
        if types[key] is str:
            sound = isinstance(value, str)
        else:
            number = isinstance(value, int if types[key] is int else int | float) and not isinstance(value, bool)
            sound = number and (value > 0 if types[key] is int or key == "step_s" else value >= 0) and value < inf
        if not sound:
            raise InputFault(f"{where}: {key}", repr(value), _expected(key, types[key]))
    if "step_s" not in read:
        raise InputFault(f"{where}: step_s", "nothing", _expected("step_s", float))
    return EngineModel(**read)


def _expected(key: str, kind: type) -> str:
    if kind is str:
        return "a name"
    return "a whole number above 0" if kind is int else "seconds, above 0" if key == "step_s" else "seconds, 0 or more"
