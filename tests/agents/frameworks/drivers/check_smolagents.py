# mypy: disable-error-code="import-not-found,no-any-return"
"""What `through` leaves of smolagents' tools, and an agent that writes code."""

import smolagents
from smolagents.models import ChatMessage, MessageRole, Model

from paste_proxy import Sidecar
from paste_proxy.agents.smolagents import through


def greet(name: str, loud: bool = False) -> str:
    """Greets.

    Args:
        name: whom.
        loud: whether to shout.
    """
    return f"Hello {name}{'!' if loud else '.'}"


class Coder(Model):  # type: ignore[misc]
    """Writes one piece of code."""

    def generate(self, messages: object, **kwargs: object) -> ChatMessage:
        code = "<code>\nfinal_answer(greet('Ann') + greet(name='Bob', loud=True))\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=code)


paste = Sidecar()
own = smolagents.tool(greet)
(behind,) = through(paste, [own])
agent = smolagents.CodeAgent(tools=[behind], model=Coder(model_id="none"), verbosity_level=0)
assert agent.run("greet") == "Hello Ann.Hello Bob!"
assert (paste.stats.calls, paste.stats.unreadable, paste.stats.broken) == (2, 0, 0)
assert own("Ann") == "Hello Ann."
assert paste.stats.calls == 2, "the tool given is as it was"
assert (behind.name, behind.inputs, behind.output_type) == (own.name, own.inputs, own.output_type)
