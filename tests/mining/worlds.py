"""Recorded sessions of a small made-up world, a pool mined from them, and random events that look like it."""

from itertools import chain

from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import CallSealed, Event, LlmTurn, ToolCall, ToolOutput, TurnStarted, UserMessage
from paste_proxy.events.values import Json
from paste_proxy.mining.mine import mine
from tests.mining.sessions import Script, Session

CITIES = {"Boston": "BOS", "Denver": "DEN", "Paris": "CDG"}


def travelling(name: str, at: int) -> Session:
    """A customer who flies between cities they name, and an agent that looks, reads its notes and books."""
    (start, code), (end, other) = (list(CITIES.items())[(at + step) % 3] for step in range(2))
    script = Script(name).user(f"Please fly me from {start} to {end} with card id 14{at}, {name}")
    flights: list[Json] = [{"number": f"{name}{row}", "seats": [row, row + 1.0], "open": True} for row in range(3)]
    script.call("search", {"from": code, "to": other, "max": 3}, {"flights": flights}, seconds=1.0)
    folder = f"/home/{name}/app"
    script.call("read", {"path": f"{folder}/notes.md"}, "see src/rules.py, src/fares.py and src/cards.py by May 3rd")
    for rank in range(1 + at % 3):
        file = f"{folder}/src/{('rules', 'fares', 'cards')[rank]}.py"
        script.call("read", {"path": file}, "Error: gone" if at % 4 == 3 else "fine", ok=at % 4 != 3)
    script.call("policy", {"topic": "fares"}, "2024-05-03 is #late")
    script.call("book", {"number": f"{name}{at % 2}", "card": f"14{at}", "bags": float(at % 2)}, {"ok": True})
    return script.says("Booked.").end()


NAMES = ["ann", "bob", "cyd", "dan", "eve", "fay", "guy", "hal", "ida", "jim"]
SESSIONS = [travelling(name, at) for at, name in enumerate(NAMES)]
POOL = mine(SESSIONS)

JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5, "", "1", "BOS", "src/rules.py"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["number", "flights", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "fly me from Boston to Denver with card id 143",
        "see src/rules.py, src/fares.py and https://a.org/x",
        "Error: gone",
        "on May 3rd",
        "in 2023-01-01",
        '{"flights": [{"number": "x1"}, {"number": "x2"}]}',
        "\ud800 \0",
        "",
    ]
)
TOOLS = st.sampled_from(["search", "read", "policy", "book", "other", "*", ""])
PATHS = st.sampled_from(
    ["/home/ann/app/notes.md", "/ci/app/src/rules.py", "src/fares.py", "/home/bob/app/src/cards.py"]
)
ARGUMENTS = st.dictionaries(st.sampled_from(["from", "to", "path", "number", "card"]), JSON | PATHS | WORDS, max_size=3)
CALLS = st.builds(Invocation, TOOLS, ARGUMENTS)


def events_of(
    tools: st.SearchStrategy[str], calls: st.SearchStrategy[Invocation], words: st.SearchStrategy[str]
) -> st.SearchStrategy[Event]:
    """Any one event about these tools."""
    ids = st.sampled_from(["c1", "c2", ""])
    about = {"session": st.just("s"), "ts": st.none()}
    turn = st.integers(0, 3)
    return st.one_of(
        st.builds(UserMessage, **about, text=words),
        st.builds(TurnStarted, **about, turn=turn, model=st.just("m")),
        st.builds(LlmTurn, **about, text=words, turn=turn, complete=st.booleans()),
        st.builds(CallSealed, **about, turn=turn, order=st.just(0), call_id=ids, invocation=calls),
        st.builds(ToolCall, **about, call_id=ids, invocation=calls),
        st.builds(ToolOutput, **about, call_id=ids, tool=tools, output=JSON | words, status=st.sampled_from(Status)),
    )


EVENTS = events_of(TOOLS, CALLS, WORDS)


def recorded() -> st.SearchStrategy[list[Event]]:
    """Parts of the sessions and random events, in turn."""
    part = st.tuples(st.sampled_from(SESSIONS), st.integers(0, 12), st.integers(0, 12)).map(
        lambda one: list(one[0].events[one[1] : one[1] + one[2]])
    )
    return st.lists(part | EVENTS.map(lambda event: [event]), max_size=8).map(lambda parts: [*chain(*parts)])
