"""Gives an engine that keeps them the outputs of tools that were run ahead, while it writes the answer that may ask for
them (speculative tool calling, Algorithm 5): on a hit it goes on with the output, and the agent is not asked."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.ready_results import ReadyResults, text_of
from paste_proxy.proxy.ports import Again

_ANSWERS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveOutput:
    """An output for the answer of that id."""

    again: Again
    response_id: str
    name: str
    """The tool's, as the LLM spells it."""
    arguments: dict[str, Json]
    output: str


@dataclass(slots=True)
class _Writing:
    """An answer that is being written."""

    again: Again
    response_id: str
    names: dict[str, str]
    """Identity of a tool -> its name in the request."""
    given: set[str] = field(default_factory=set)
    """Keys of the calls whose outputs the engine has."""


class ToolCacheDesk:
    """Of all sessions whose routes ask for it.

    Args:
        identify: the identity of a tool, by its name in a request.
    """

    def __init__(self, ready: ReadyResults, identify: Callable[[str], str]) -> None:
        self._ready, self._identify = ready, identify
        self._writing: OrderedDict[str, _Writing] = OrderedDict()

    def begins(self, session: str, again: Again, response_id: str, tools: tuple[str, ...]) -> Iterator[GiveOutput]:
        """The engine has begun an answer, and said its id.

        Args:
            tools: the names that the request offers.
        """
        names = {self._identify(name): name for name in tools}
        self._writing[session] = _Writing(again, response_id, names)
        if len(self._writing) > _ANSWERS:
            self._writing.popitem(last=False)
        return self.look(session)

    def look(self, session: str) -> Iterator[GiveOutput]:
        """Something may have become ready."""
        writing = self._writing.get(session)
        if writing is None:
            return
        for invocation, result in self._ready.of(session):
            name = writing.names.get(invocation.tool)
            if name is not None and invocation.key not in writing.given:
                writing.given.add(invocation.key)
                yield GiveOutput(
                    again=writing.again,
                    response_id=writing.response_id,
                    name=name,
                    arguments=dict(invocation.arguments),
                    output=text_of(result),
                )

    def over(self, session: str) -> None:
        """Its answer is whole."""
        self._writing.pop(session, None)
