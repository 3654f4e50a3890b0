"""The model speculator's place in the hub: which turns it is asked about, and what becomes of its guesses.

Runs only inside the hub's task. Its guesses are candidates like any others; whatever goes wrong with it is
counted and warned of once in a while, and nothing else.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Protocol, assert_never

from paste_proxy.clock import Clock
from paste_proxy.events.candidate import Candidate
from paste_proxy.events.cored import Core, as_asked
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import CallSealed, Event, LlmTurn, ToolOutput
from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.discretion import Discretion
from paste_proxy.proxy.hub.foresight import Foresight
from paste_proxy.proxy.hub.observed import RequestSeen
from paste_proxy.proxy.hub.session import AgentSession
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.outages import Outages
from paste_proxy.speculation.guessing.guesser import Guesser
from paste_proxy.speculation.guessing.types import (
    Ask,
    Heard,
    Judged,
    Sampled,
    SampleEnd,
    SessionLeft,
    Stop,
    Suggest,
    TargetCalled,
    ToolRan,
    TurnClosed,
    TurnOpened,
)
from paste_proxy.speculation.types import Predicted
from paste_proxy.speculators.guess import Guessed
from paste_proxy.wire.chat_request import chat_messages
from paste_proxy.wire.chat_tools import name_of_tool
from paste_proxy.wire.prompt import Prompt
from paste_proxy.wire.types import SeenCall

_CHARACTERS_A_TOKEN = 4


class Speculator(Protocol):
    """A model that can be asked; each sample asked for comes back as one `Guessed`."""

    def body(self, messages: Sequence[Json], tools: Sequence[Json]) -> bytes:
        """What to ask, for any number of samples; all in the form of Chat Completions."""

    def ask(self, sample: int, body: Callable[[], bytes]) -> None:
        """Ask once; the body is made when it is first needed."""

    def stop(self, sample: int) -> None:
        """Give a sample up, upstream too."""


class GuessDesk:
    """Everything it works with is given to it.

    Args:
        outages: says once in a while that the endpoint fails.
        where: the endpoint's name in such a warning; nothing secret.
        core: what the policy makes of an invocation: of calls that count as the same the one that is compared.
    """

    def __init__(
        self,
        *,
        guesser: Guesser,
        speculator: Speculator,
        discretion: Discretion,
        toolbox: Toolbox,
        foresight: Foresight,
        sessions: Sessions,
        tally: Tally,
        clock: Clock,
        outages: Outages,
        where: str,
        core: Core = as_asked,
    ) -> None:
        self._guesser, self._speculator, self._discretion = guesser, speculator, discretion
        self._toolbox, self._foresight, self._sessions = toolbox, foresight, sessions
        self._tally, self._clock, self._outages, self._where = tally, clock, outages, where
        self._core = core
        self._asked: dict[int, str] = {}
        """Samples under way, and the session that each is of."""

    def opened(self, item: RequestSeen) -> None:
        """An LLM request was placed: ask about its turn if that may help."""
        session, prompt = self._sessions.get(item.exchange.session), item.reading.prompt
        if session is None or prompt is None or not self._discretion.serves(session, item.reading.request):
            return
        tokens = prompt.characters // _CHARACTERS_A_TOKEN
        asks: list[int] = []
        self._tell(TurnOpened(session=session.id, turn=item.exchange.turn, prompt_tokens=tokens), ask=asks.append)
        self._tally.guesses.turn(len(asks))
        body = cache(lambda: self._body(session, prompt))
        for sample in asks:
            self._asked[sample] = session.id
            self._speculator.ask(sample, body)

    def happened(self, event: Event) -> None:
        """An event of a session's present."""
        match event:
            case CallSealed(session=session, turn=turn, order=order, invocation=invocation):
                self._tell(TargetCalled(session=session, turn=turn, order=order, invocation=self._core(invocation)))
            case LlmTurn(session=session, turn=turn, complete=complete):
                self._tell(TurnClosed(session=session, turn=turn, complete=complete))
            case ToolOutput(tool=tool, duration_s=float(seconds)) if self._discretion.runs_ahead(tool):
                self._tell(ToolRan(seconds))
            case _:
                pass

    def guessed(self, item: Guessed) -> list[Predicted]:
        """A sample came to its end; what is to be run ahead now."""
        session = self._sessions.get(self._asked.pop(item.sample, ""))
        self._tally.guesses.sampled(item.end, item.input_tokens, item.output_tokens)
        if item.end in (SampleEnd.FAILED, SampleEnd.TIMED_OUT):
            self._tally.fault("speculator")
            self._outages.warn(self._where, item.fault)
        sampled = Sampled(
            sample=item.sample,
            end=item.end,
            calls=() if session is None else tuple(self._meant(session, call) for call in item.calls),
            input_tokens=item.input_tokens,
            output_tokens=item.output_tokens,
        )
        suggested = self._tell(sampled)
        return [] if session is None else self._foresight.guessed(session, suggested)

    def left(self, session: str) -> None:
        """A session is over."""
        self._tell(SessionLeft(session))

    def _tell(self, heard: Heard, ask: Callable[[int], None] = lambda _: None) -> tuple[Candidate, ...]:
        """Tell the guesser and carry out what it decides; gives the calls that it suggests."""
        suggested: list[Candidate] = []
        for command in self._guesser.step(heard, self._clock.monotonic()):
            match command:
                case Ask(sample):
                    ask(sample)
                case Stop(sample):
                    self._speculator.stop(sample)
                case Judged():
                    self._tally.guesses.judged(right=command.right, wrong=command.wrong)
                case Suggest():
                    suggested += command.candidates
                case _:
                    assert_never(command)
        return tuple(suggested)

    def _body(self, session: AgentSession, prompt: Prompt) -> bytes:
        tools = [tool for tool in prompt.tools if self._discretion.shows_tool(session, name_of_tool(tool))]
        return self._speculator.body(chat_messages(prompt.messages, self._discretion.shows(session)), tools)

    def _meant(self, session: AgentSession, call: SeenCall) -> Invocation:
        return self._core(self._toolbox.resolve(call.name, call.arguments, bare=not session.prefixes).invocation)
