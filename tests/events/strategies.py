"""Arbitrary JSON values and events, surrogates, huge integers and depth included."""

from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import (
    CallSealed,
    Event,
    LlmTurn,
    Outcome,
    Speculation,
    ToolCall,
    ToolOutput,
    TurnStarted,
    UserMessage,
)
from paste_proxy.events.values import Json

texts = st.text(st.characters(exclude_categories=()), max_size=30)
numbers = st.integers() | st.integers(2**62, 2**70) | st.floats(allow_nan=False, allow_infinity=False)
scalars: st.SearchStrategy[Json] = st.none() | st.booleans() | numbers | texts
values: st.SearchStrategy[Json] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)
objects: st.SearchStrategy[dict[str, Json]] = st.dictionaries(texts, values, max_size=4)

_seconds = st.floats(0, 1e10)
_counts = st.integers(0, 2**70)
_invocations = st.builds(Invocation, texts, objects)
_common = {"session": texts, "ts": st.none() | _seconds}

events: st.SearchStrategy[Event] = st.one_of(
    st.builds(UserMessage, **_common, text=texts),
    st.builds(TurnStarted, **_common, turn=_counts, model=texts),
    st.builds(CallSealed, **_common, turn=_counts, order=_counts, call_id=texts, invocation=_invocations),
    st.builds(
        LlmTurn,
        **_common,
        text=texts,
        model=texts,
        turn=_counts,
        complete=st.booleans(),
        duration_s=st.none() | _seconds,
        input_tokens=st.none() | _counts,
        output_tokens=st.none() | _counts,
    ),
    st.builds(ToolCall, **_common, call_id=texts, invocation=_invocations, turn=st.none() | _counts),
    st.builds(
        ToolOutput,
        **_common,
        call_id=texts,
        tool=texts,
        output=values,
        status=st.sampled_from(Status),
        duration_s=st.none() | _seconds,
        truncated=st.booleans(),
    ),
    st.builds(
        Speculation,
        **_common,
        invocation=_invocations,
        source=texts,
        confidence=st.floats(0, 1),
        outcome=st.sampled_from(Outcome),
        ran_s=_seconds,
        saved_s=_seconds,
        shadow=st.booleans(),
    ),
)
