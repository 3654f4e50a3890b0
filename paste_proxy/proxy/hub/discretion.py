"""What a speculative LLM may be told: of which sessions, and of which tools' calls and results."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from paste_proxy.proxy.hub.session import AgentSession
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.speculation.policy import Standing
from paste_proxy.speculation.types import Mode
from paste_proxy.wire.types import LlmRequest, SeenCall


class Discretion:
    """Nothing is told of a turn whose call could not be run ahead anyway.

    Args:
        everything: whether tools may be shown that no rule names, or that one switches off.
        without_tools: globs of tools never shown.
        without_sessions: globs of sessions of which nothing is told.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        of_tool: Callable[[str], Standing],
        *,
        everything: bool,
        without_tools: Iterable[str],
        without_sessions: Iterable[str],
    ) -> None:
        self._toolbox, self._of_tool = toolbox, of_tool
        self._everything = everything
        self._without_tools, self._without_sessions = tuple(without_tools), tuple(without_sessions)

    def serves(self, session: AgentSession, request: LlmRequest) -> bool:
        """Whether a guess at this request's call could be of use, and the session is not kept out."""
        if not session.ahead or any(fnmatchcase(session.id, glob) for glob in self._without_sessions):
            return False
        return any(self._useful(session, name) for name in request.tools)

    def shows(self, session: AgentSession) -> Callable[[SeenCall], bool]:
        """Tells whether a call of the session, and its result, may be shown."""

        def shown(call: SeenCall) -> bool:
            meant = self._toolbox.resolve(call.name, call.arguments, bare=not session.prefixes).invocation.tool
            return self._may_be_shown(meant) and not self._kept_out(call.name)

        return shown

    def shows_tool(self, session: AgentSession, name: str) -> bool:
        """Whether a tool, by the wire's spelling, may be shown."""
        return self._may_be_shown(self._identity(session, name)) and not self._kept_out(name)

    def runs_ahead(self, tool: str) -> bool:
        """Whether the policy lets this tool, by its identity, be run ahead."""
        standing = self._of_tool(tool)
        return standing.allowed and standing.mode is not Mode.OFF

    def _identity(self, session: AgentSession, name: str) -> str:
        return self._toolbox.identify(name, bare=not session.prefixes)

    def _useful(self, session: AgentSession, name: str) -> bool:
        tool = self._identity(session, name)
        if not self.runs_ahead(tool) or not self.shows_tool(session, name):
            return False
        return self._toolbox.find(tool, session.id, session.scopes.values()) is not None

    def _may_be_shown(self, tool: str) -> bool:
        if self._kept_out(tool):
            return False
        standing = self._of_tool(tool)
        return self._everything or (standing.named and standing.mode is not Mode.OFF)

    def _kept_out(self, name: str) -> bool:
        return any(fnmatchcase(name, glob) for glob in self._without_tools)
