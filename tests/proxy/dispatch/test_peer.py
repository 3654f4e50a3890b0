"""A connected agent, message by message."""

import asyncio

from paste_proxy.agents import protocol
from paste_proxy.agents.protocol import FromSidecar
from paste_proxy.proxy.dispatch.peer import Peer
from paste_proxy.proxy.ports import AgentCall, Decision
from paste_proxy.testing import FakeGate


class Listening(FakeGate):
    """Notes what it hears, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    async def ask(self, call: AgentCall) -> Decision:
        self.heard.append(f"ask {call.invocation.tool}")
        return await super().ask(call)

    def offer(self, scope: str, *rest: object, **named: object) -> None:
        self.heard.append(f"offer {scope}")


async def test_the_gate_hears_of_running_calls_before_it_is_offered_tools() -> None:
    gate, sent = Listening(), list[FromSidecar]()
    peer = Peer("sdk-1", gate, sent.append)
    await peer.take(protocol.Hello(version=protocol.VERSION))
    for number, tool in enumerate(("write", "read")):
        await peer.take(protocol.Call(call=number, session="task", tool=tool, arguments=None))
    await peer.take(protocol.Offer(session="task", tools=("read",)))
    assert gate.heard == ["ask write", "ask read", "offer sdk-1/task"]
    await peer.close()


async def test_an_agent_that_is_gone_leaves_each_open_call_ended_once() -> None:
    gate, sent = Listening(), list[FromSidecar]()
    peer = Peer("sdk-1", gate, sent.append)
    await peer.take(protocol.Hello(version=protocol.VERSION))
    for number in range(3):
        await peer.take(protocol.Call(call=number, session="task", tool="write", arguments={}))
    await asyncio.sleep(0)
    await peer.take(protocol.Done(call=1, status=None))
    await peer.close()
    await peer.close()
    assert gate.over == {1: None, 2: None, 3: None}
