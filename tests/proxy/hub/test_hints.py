"""What servers say of their tools on several connections, and what a worse word does to what was run ahead."""

import asyncio
from pathlib import Path

import pytest

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import UserMessage
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.proxy.ports import RunIt, ServeIt
from paste_proxy.speculation.hints import Hints
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.rules import Effect

from .test_hub import READ, after_user, user, world
from .test_toolbox import Still

READS, WRITES = Hints(read_only=True), Hints()
RULE = '[[rule]]\ntool = "fs/*"\neffect = "annotated"\n'
LOOK = Invocation("fs/look", {})


def effect(policy: Policy) -> Effect:
    return policy.rule_for(LOOK).effect


def test_a_tool_is_a_read_while_every_connection_says_so() -> None:
    policy = Policy.parse(RULE, "p")
    toolbox = Toolbox(["fs"], annotated=policy.annotated)
    assert not toolbox.offer("one", "fs", Still(), ["fs/look"], hints={"fs/look": READS})
    assert effect(policy) is Effect.READ
    toolbox.belongs("one", "mine")
    assert effect(policy) is Effect.READ, "its offer was made again"
    assert toolbox.offer("two", "fs", Still(), ["fs/look"], hints={"fs/look": WRITES})
    assert effect(policy) is Effect.WRITE
    toolbox.withdraw("two")
    assert effect(policy) is Effect.READ
    toolbox.withdraw("one")
    assert effect(policy) is Effect.WRITE, "nobody says anything of it"


def test_a_new_list_is_taken_up() -> None:
    policy = Policy.parse(RULE, "p")
    toolbox = Toolbox(["fs"], annotated=policy.annotated)
    toolbox.offer("one", "fs", Still(), ["fs/look"], hints={"fs/look": READS})
    assert toolbox.offer("one", "fs", Still(), ["fs/look"], hints={"fs/look": WRITES})
    assert effect(policy) is Effect.WRITE
    assert not toolbox.offer("one", "fs", Still(), ["fs/look"], hints={"fs/look": READS})
    assert effect(policy) is Effect.READ
    assert toolbox.offer("one", "fs", Still(), ["fs/other"], hints={"fs/other": READS})
    assert effect(policy) is Effect.WRITE


def test_where_no_rule_believes_it_a_worse_word_changes_nothing() -> None:
    policy = Policy.parse(RULE.replace("annotated", "read"), "p")
    toolbox = Toolbox(["fs"], annotated=policy.annotated)
    toolbox.offer("one", "fs", Still(), ["fs/look"], hints={"fs/look": READS})
    assert not toolbox.offer("two", "fs", Still(), ["fs/look"], hints={"fs/look": WRITES})


@pytest.mark.parametrize("said", [READS, WRITES])
async def test_what_was_run_ahead_is_void_once_what_was_a_read_is_a_write(said: Hints) -> None:
    async with world(after_user) as w:
        w.hub.offer("one", "memo", w.backend, ["memo/look"], hints={"memo/look": READS})
        await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b"1"))
        await w.settle()
        w.hub.offer("two", "memo", w.backend, ["memo/look"], hints={"memo/look": said})
        assert isinstance(await w.ask(READ), ServeIt if said is READS else RunIt)


async def test_a_job_of_such_a_tool_answers_nothing() -> None:
    look = Invocation("memo/look", {})
    async with world(lambda event: [look] if isinstance(event, UserMessage) else []) as w:
        w.hub.offer("one", "memo", w.backend, ["memo/look"], session="s", hints={"memo/look": READS})
        await w.hear(user("look"))
        assert w.backend.started == [look]
        w.backend.answer.set_result(ToolResult(body=b"1"))
        await w.settle()
        w.hub.withdraw("one")
        assert isinstance(await w.ask(look, scope="one"), RunIt)


async def test_a_sidecar_s_policy_hears_of_what_is_offered(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(RULE)
    config = Config(policies=(str(tmp_path / "p.toml"),))
    made = await asyncio.to_thread(Sidecar, config, SystemClock())
    made.hub.offer("one", "fs", Still(), ["fs/look"], hints={"fs/look": READS})
    assert effect(made.policy) is Effect.READ
