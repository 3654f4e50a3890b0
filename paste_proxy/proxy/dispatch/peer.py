"""One connected agent process: its scopes, its calls that are not over, and its jobs."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Literal, assert_never

import structlog

from paste_proxy.agents import protocol
from paste_proxy.errors import ClientFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Outcome
from paste_proxy.proxy.ports import AgentCall, Decision, RunIt, ServeIt, ToolGate
from paste_proxy.tools.socket import Courier, JobResult, SocketBackend

log = structlog.get_logger(__name__)

_UNREADABLE = "(arguments that are not JSON)"
"""The one argument of a call that must be counted and cannot be served; its value is unique."""


@dataclass(frozen=True, slots=True)
class _Scope:
    name: str
    backend: SocketBackend


@dataclass(slots=True)
class _OpenCall:
    """A call that the agent asked about and has not finished."""

    task: "asyncio.Task[None]"
    ticket: int | None = None
    ran: ToolResult | None = None
    """Its result, where the agent ran it before there was a decision."""


class Peer:
    """Turns the agent's messages into questions to the gate, and the gate's jobs into messages.

    Args:
        name: of the connection; begins the names of its scopes.
        send: puts a message on its way; neither waits nor raises.
        ahead: whether anything may be run ahead for its sessions.
    """

    def __init__(
        self, name: str, gate: ToolGate, send: Callable[[protocol.FromSidecar], None], *, ahead: bool = True
    ) -> None:
        self.name = name
        self._gate, self._send, self._ahead = gate, send, ahead
        self._welcomed = False
        self._scopes: dict[str, _Scope] = {}
        self._calls: dict[int, _OpenCall] = {}
        self._jobs = count(1)
        self._loop = asyncio.get_running_loop()

    async def take(self, message: protocol.FromAgent) -> None:
        """Handle the agent's next message.

        Raises:
            ClientFault: the agent speaks another version of the protocol, or none.
        """
        if isinstance(message, protocol.Hello):
            self._welcome(message)
        elif not self._welcomed:
            raise ClientFault(f"the first message must be hello, not {message.type}")
        else:
            await self._heed(message)

    async def _heed(
        self, message: protocol.Offer | protocol.Leave | protocol.Call | protocol.Done | protocol.Ended
    ) -> None:
        match message:
            case protocol.Offer():
                scope = self._scope(message.session)
                if self._ahead:
                    tools = [tool for tool in message.tools if "/" not in tool]
                    self._gate.offer(scope.name, "", scope.backend, tools, session=message.session or None)
            case protocol.Leave():
                await self._leave(message.session)
            case protocol.Call():
                task = asyncio.create_task(self._answer(message))
                self._calls[message.call] = _OpenCall(task)
                await asyncio.sleep(0)  # the gate hears of calls in the agent's order
            case protocol.Done():
                self._done(message)
            case protocol.Ended():
                result = _result(message)
                any(scope.backend.ended(message.job, result) for scope in self._scopes.values())
            case _:
                assert_never(message)

    async def close(self) -> None:
        """The agent is gone: nothing of it can be served, and how its calls end is unknown."""
        for session in tuple(self._scopes):
            await self._leave(session)
        calls, self._calls = tuple(self._calls.values()), {}
        for call in calls:
            if call.ticket is not None:
                self._gate.ended(call.ticket, None)
            call.task.cancel()
        await asyncio.gather(*(call.task for call in calls), return_exceptions=True)

    def _welcome(self, hello: protocol.Hello) -> None:
        if hello.version != protocol.VERSION:
            raise ClientFault(
                f"the agent speaks version {hello.version} of the dispatch protocol, this sidecar {protocol.VERSION}; "
                "install the same paste-proxy in both"
            )
        self._welcomed = True
        self._send(protocol.Welcome(version=protocol.VERSION))

    # --- calls ------------------------------------------------------------------------------------

    async def _answer(self, message: protocol.Call) -> None:
        scope = self._scope(message.session)
        arguments = message.arguments
        if arguments is None:
            arguments = {_UNREADABLE: f"{scope.name} {message.call}"}
        elif (job := scope.backend.running(Invocation(message.tool, arguments).key)) is not None:
            self._send(protocol.Wait(call=message.call, job=job))
        call = AgentCall(
            invocation=Invocation(_nobody_s(message.tool), arguments),
            scope=scope.name,
            session=message.session or None,
            call_id=message.call_id,
            ahead=self._ahead and message.ahead,
        )
        try:
            decision = await self._gate.ask(call)
        except Exception as fault:  # noqa: BLE001  ours: the agent goes on alone
            log.warning("ask_fault", agent=self.name, fault=repr(fault))
            decision = None
        self._decided(message.call, decision)

    def _decided(self, number: int, decision: Decision | None) -> None:
        match decision:
            case ServeIt(result=JobResult(job=job), outcome=outcome):
                self._calls.pop(number, None)
                name: Literal["reused", "promoted"] = "promoted" if outcome is Outcome.PROMOTED else "reused"
                return self._send(protocol.Use(call=number, job=job, outcome=name))
            case RunIt(ticket=ticket):
                open_call = self._calls[number]
                open_call.ticket = ticket
                if open_call.ran is not None:
                    del self._calls[number]
                    self._gate.ended(ticket, open_call.ran)
            case _:
                self._calls.pop(number, None)
        return self._send(protocol.Alone(call=number))

    def _done(self, message: protocol.Done) -> None:
        call = self._calls.get(message.call)
        if call is None:
            return
        result = _result(message)
        if call.ticket is not None:
            del self._calls[message.call]
            self._gate.ended(call.ticket, result)
        elif result is not None:
            call.ran = result
        else:
            del self._calls[message.call]
            call.task.cancel()

    # --- scopes -----------------------------------------------------------------------------------

    def _scope(self, session: str) -> _Scope:
        scope = self._scopes.get(session)
        if scope is None:
            scope = _Scope(f"{self.name}/{session}", SocketBackend(self._courier(session), self._jobs))
            self._scopes[session] = scope
        return scope

    async def _leave(self, session: str) -> None:
        scope = self._scopes.pop(session, None)
        if scope is not None:
            self._gate.withdraw(scope.name)
            await scope.backend.close()

    def _courier(self, session: str) -> Courier:
        def run(job: int, invocation: Invocation) -> None:
            self._send(
                protocol.Run(job=job, session=session, tool=invocation.tool, arguments=dict(invocation.arguments))
            )

        def forget(job: int) -> None:
            # The last reference may go in any thread, and after the loop.
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._send, protocol.Drop(job=job))

        return Courier(run=run, cancel=lambda job: self._send(protocol.Cancel(job=job)), forget=forget)


def _nobody_s(tool: str) -> str:
    """A tool's identity. One with a slash in its name reads like a server's, which no tool of a process is: what a rule
    says of that server's tools does not hold for it."""
    return f"/{tool}" if "/" in tool else tool


def _result(message: protocol.Done | protocol.Ended) -> ToolResult | None:
    if message.status is None:
        return None
    return ToolResult(body=message.preview.encode(), status=Status(message.status), content_type="text/plain")
