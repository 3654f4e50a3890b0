"""One session as a script, to be written down in every form, and what must be read from any of them."""

from dataclasses import dataclass

from hypothesis import strategies as st

from paste_proxy.events.result import Status
from paste_proxy.events.types import LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json
from paste_proxy.importers.neutral import RecordedSession

START = 1_760_000_000.0
"""Seconds since the epoch at which scripts begin; each thing said or done takes one more."""
SESSION = "3c2f8a10-7d1e-4b6f-9a55-0e8a4c2b1d90"
MODEL = "a-model"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call and its answer."""

    id: str
    server: str
    """Blank for a tool of the client's own."""
    tool: str
    arguments: dict[str, Json]
    output: str
    failed: bool = False

    @property
    def name(self) -> str:
        """As most clients spell it."""
        return f"mcp__{self.server}__{self.tool}" if self.server else self.tool

    @property
    def identity(self) -> str:
        """The one identity."""
        return f"{self.server}/{self.tool}" if self.server else self.tool


@dataclass(frozen=True, slots=True)
class Turn:
    """What the LLM said and asked for at once; all of its calls are answered before the next."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """Rounds of a user's words and the turns that they led to."""

    rounds: tuple[tuple[str, tuple[Turn, ...]], ...]


@dataclass(frozen=True, slots=True)
class Carries:
    """What a form tells."""

    status: bool = True
    identity: bool = True


def told(script: Script, carries: Carries) -> list[tuple[object, ...]]:
    """What a reader must make of a script: kinds, words, calls in their turns, answers in their order."""
    events: list[tuple[object, ...]] = []
    number = -1
    for said, turns in script.rounds:
        events.append(("user", said))
        for turn in turns:
            number += 1
            events.append(("llm", number, turn.text))
            names = [
                call.identity if carries.identity else f"{call.server}_{call.tool}".strip("_") for call in turn.calls
            ]
            events += [("call", number, name, call.arguments) for name, call in zip(names, turn.calls, strict=True)]
            events += [
                ("output", name, place, call.output, carries.status and call.failed)
                for place, (name, call) in enumerate(zip(names, turn.calls, strict=True))
            ]
    return events


def read_back(session: RecordedSession) -> list[tuple[object, ...]]:
    """The same of what was read."""
    events: list[tuple[object, ...]] = []
    places: dict[str, int] = {}
    turn, place = -1, 0
    for event in session.events:
        match event:
            case UserMessage():
                events.append(("user", event.text))
            case LlmTurn():
                events.append(("llm", event.turn, event.text))
            case ToolCall():
                place = place + 1 if event.turn == turn else 0
                turn = event.turn if event.turn is not None else -1
                places[event.call_id] = place
                events.append(("call", event.turn, event.invocation.tool, event.invocation.arguments))
            case ToolOutput():
                failed = event.status is Status.ERROR
                events.append(("output", event.tool, places[event.call_id], event.output, failed))
    return events


_WORD = st.text("abcdefghij", min_size=1, max_size=6)
_SENTENCE = st.lists(_WORD, min_size=1, max_size=5).map(" ".join)
_VALUE: st.SearchStrategy[Json] = st.one_of(
    _SENTENCE, st.integers(-9, 9), st.booleans(), st.none(), st.lists(_WORD, max_size=2)
)


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Sessions of a few rounds, with parallel and failing calls of own and of servers' tools."""
    ids = iter(range(10_000))

    def call() -> Call:
        return Call(
            id=f"call-{next(ids)}",
            server=draw(st.sampled_from(("", "", "lab", "files"))),
            tool=draw(st.sampled_from(("look_up", "read", "list"))),
            arguments=draw(st.dictionaries(_WORD, _VALUE, max_size=3)),
            output=draw(_SENTENCE),
            failed=draw(st.booleans()),
        )

    def turn() -> Turn:
        return Turn(draw(st.just("") | _SENTENCE), tuple(call() for _ in range(draw(st.integers(1, 3)))))

    def one_round() -> tuple[str, tuple[Turn, ...]]:
        asking = tuple(turn() for _ in range(draw(st.integers(0, 3))))
        return draw(_SENTENCE), (*asking, Turn(draw(_SENTENCE)))

    return Script(tuple(one_round() for _ in range(draw(st.integers(1, 3)))))


EXAMPLE = Script(
    (
        (
            "Count the lines of notes.txt and look up its first word",
            (
                Turn("I read the notes.", (Call("c1", "", "read_file", {"path": "notes.txt"}, "alpha\nbeta"),)),
                Turn(
                    "Both at once.",
                    (
                        Call("c2", "", "shell", {"command": "wc -l notes.txt"}, "2 notes.txt"),
                        Call("c3", "lab", "look_up", {"key": "alpha"}, '{"value": "the first letter"}'),
                    ),
                ),
                Turn("", (Call("c4", "", "read_file", {"path": "missing.txt"}, "no such file", failed=True),)),
                Turn("Two lines; alpha is the first letter."),
            ),
        ),
        (
            "And beta?",
            (Turn("", (Call("c5", "lab", "look_up", {"key": "beta"}, '{"value": "the second"}'),)), Turn("Beta.")),
        ),
    )
)
