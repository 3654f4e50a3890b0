"""The connection to the sidecar: a thread of its own, so that neither a blocking agent nor a busy loop delays it.

All its state belongs to that thread; the agent's threads only post to it. Calls that run while no
sidecar is connected are told to the next one before it may run anything ahead.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Literal, assert_never

import aiohttp

from paste_proxy.agents import protocol
from paste_proxy.agents.sdk_call import Answer, Call, Hold, Own, Take
from paste_proxy.agents.sdk_jobs import JobPool
from paste_proxy.agents.sdk_session import Session
from paste_proxy.agents.sdk_stats import Stats
from paste_proxy.events.result import Status

log = logging.getLogger("paste_proxy")

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 10.0
_HANDSHAKE_S = 5.0
_HEARTBEAT_S = 20.0


class Link:
    """One process's end of `/paste/v1/dispatch`.

    Args:
        url: of the sidecar, `http://host:port`.
        sessions: those of this process, by name.
        slots: jobs at once.
    """

    def __init__(self, url: str, sessions: Mapping[str, Session], slots: int, stats: Stats) -> None:
        self._url = url.rstrip("/") + protocol.PATH
        self._sessions, self._stats = sessions, stats
        self._jobs = JobPool(slots, self.send, stats)
        self._calls: dict[int, Call] = {}
        self._offered: dict[str, tuple[str, ...]] = {}
        self._outbox: asyncio.Queue[protocol.FromAgent] = asyncio.Queue()
        self._state: Literal["new", "up", "down", "over"] = "new"
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._live_in_thread, name="paste-sidecar", daemon=True)
        self._thread.start()

    # --- for the agent's threads ------------------------------------------------------------------

    @property
    def up(self) -> bool:
        """Whether a sidecar is connected."""
        return self._state == "up"

    @property
    def over(self) -> bool:
        """Whether there will be no sidecar any more: closed, or it refuses this agent."""
        return self._state == "over"

    def ask(self, call: Call) -> None:
        """Ask about a call, or announce it if its arguments are None; the answer comes in `call.answer`."""
        self._post(lambda: self._ask(call))

    def done(self, call: Call, status: Status | None, preview: str) -> None:
        """The agent ran a call; status None: it broke off."""
        self._post(lambda: self._done(call, protocol.Done(call=call.number, status=status, preview=preview)))

    def missing(self, call: Call) -> None:
        """The agent runs a call that the sidecar takes for served."""
        self._post(lambda: self._announce(call))

    def offer(self, session: str) -> None:
        """Offer a session's tools."""
        self._post(lambda: self._offer(session))

    def leave(self, session: str) -> None:
        """A session is over."""
        self._post(lambda: self._leave(session))

    def send(self, message: protocol.FromAgent) -> None:
        """Send a message if a sidecar is connected."""
        self._post(lambda: self._put(message))

    def close(self) -> None:
        """Disconnect; calls from now on are answered by nobody."""
        self._post(self._stop)
        self._thread.join(2.0)

    def _post(self, act: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # over, and the loop with it
            self._loop.call_soon_threadsafe(act)

    # --- calls ------------------------------------------------------------------------------------

    def _ask(self, call: Call) -> None:
        self._calls[call.number] = call
        if self._state == "up":
            self._offer(call.session)
            self._put(_message(call))
        elif self._state == "down":
            call.resolve(Own("absent"))

    def _done(self, call: Call, message: protocol.Done) -> None:
        if self._calls.pop(call.number, None) is not None:
            self._put(message)

    def _announce(self, call: Call) -> None:
        call.arguments = None
        self._calls[call.number] = call
        self._put(_message(call))

    def _offer(self, name: str) -> None:
        session = self._sessions.get(name)
        if session is None or self._state != "up":
            return
        tools = tuple(session.tools) if session.ahead else ()
        if self._offered.get(name) != tools:
            self._offered[name] = tools
            self._put(protocol.Offer(session=name, tools=tools))

    def _leave(self, name: str) -> None:
        if self._offered.pop(name, None) is not None:
            self._put(protocol.Leave(session=name))

    def _put(self, message: protocol.FromAgent) -> None:
        if self._state == "up":
            self._outbox.put_nowait(message)

    # --- the sidecar speaks -----------------------------------------------------------------------

    def _take(self, message: protocol.FromSidecar) -> None:
        match message:
            case protocol.Run():
                self._run(message)
            case protocol.Cancel(job=number) | protocol.Drop(job=number):
                self._jobs.cancel(number)
            case protocol.Alone(call=number):
                self._resolve(number, Own("told"))
            case protocol.Wait(call=number, job=job):
                if (running := self._jobs.find(job)) is not None:
                    self._resolve(number, Hold(running))
            case protocol.Use():
                self._use(message)
            case protocol.Welcome() | protocol.Refusal():
                pass
            case _:
                assert_never(message)

    def _resolve(self, number: int, answer: Answer) -> None:
        if (call := self._calls.get(number)) is not None:
            call.resolve(answer)

    def _run(self, message: protocol.Run) -> None:
        session = self._sessions.get(message.session)
        tool = session.tools.get(message.tool) if session is not None else None
        if session is None or tool is None:
            self._jobs.refuse(message.job)
        else:
            self._jobs.start(message.job, tool, message.arguments, session.context.copy(), session.loop)

    def _use(self, message: protocol.Use) -> None:
        job = self._jobs.take(message.job)
        call = self._calls.get(message.call)
        if call is None:
            return
        if job is not None and job.tool is call.tool and call.resolve(Take(job, message.outcome)):
            del self._calls[message.call]
            return
        self._announce(call)
        call.resolve(Own("missing"))

    # --- the connection ---------------------------------------------------------------------------

    def _live_in_thread(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._life = self._loop.create_task(self._live())
            with contextlib.suppress(asyncio.CancelledError):
                self._loop.run_until_complete(self._life)
        finally:
            self._down("absent")
            self._state = "over"
            self._jobs.close()
            self._loop.close()

    def _stop(self) -> None:
        self._life.cancel()

    async def _live(self) -> None:
        pause = _FIRST_PAUSE_S
        async with aiohttp.ClientSession() as http:
            while True:
                try:
                    async with http.ws_connect(
                        self._url, heartbeat=_HEARTBEAT_S, max_msg_size=protocol.MESSAGE_BYTES
                    ) as socket:
                        await _handshake(socket)
                        pause = _FIRST_PAUSE_S
                        await self._converse(socket)
                except _Refused as refusal:
                    log.warning("the sidecar at %s refuses this agent, which goes on alone: %s", self._url, refusal)
                    return
                except Exception as fault:  # noqa: BLE001  whatever it is, the agent goes on alone for a while
                    log.debug("no connection to the sidecar at %s: %r", self._url, fault)
                self._down("lost")
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    async def _converse(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._up()
        async with asyncio.TaskGroup() as group:
            writer = group.create_task(self._write(socket))
            async for frame in socket:
                if frame.type is aiohttp.WSMsgType.TEXT:
                    self._take(protocol.read_from_sidecar(frame.data))
            writer.cancel()

    async def _write(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        while True:
            await socket.send_str(protocol.encode(await self._outbox.get()))

    def _up(self) -> None:
        self._state = "up"
        self._outbox = asyncio.Queue()
        self._offered.clear()
        for call in self._calls.values():
            if call.answer.done():
                call.arguments = None
            self._put(_message(call))
        for session in tuple(self._sessions):
            self._offer(session)

    def _down(self, why: Literal["absent", "lost"]) -> None:
        reason: Literal["absent", "lost"] = why if self._state == "up" else "absent"
        self._state = "down"
        self._jobs.clear()
        for call in self._calls.values():
            call.resolve(Own(reason))


class _Refused(Exception):
    """The sidecar will not speak with this version of the SDK."""


async def _handshake(socket: aiohttp.ClientWebSocketResponse) -> None:
    await socket.send_str(protocol.encode(protocol.Hello(version=protocol.VERSION)))
    first = protocol.read_from_sidecar(await socket.receive_str(timeout=_HANDSHAKE_S))
    match first:
        case protocol.Welcome(version=protocol.VERSION):
            return
        case protocol.Refusal(reason=reason):
            raise _Refused(reason)
        case _:
            raise _Refused(f"it answered hello with {first.type}")


def _message(call: Call) -> protocol.Call:
    return protocol.Call(
        call=call.number,
        session=call.session,
        tool=call.tool.name,
        arguments=call.arguments,
        call_id=call.call_id,
        ahead=call.ahead,
    )
