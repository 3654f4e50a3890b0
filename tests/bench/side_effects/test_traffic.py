import json
from itertools import islice

import pytest

from paste_proxy.bench.side_effects.guesses import unwanted
from paste_proxy.bench.side_effects.tools import CRM, DISPATCH, OWN, TOOLS, WORKBENCH, has_effects
from paste_proxy.bench.side_effects.traffic import Kind, Task, batches, is_forbidden, packaged, spoken
from paste_proxy.events.invocation import Invocation, name_of, server_of


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return packaged()


def test_agents_of_every_kind_ask_for_nothing_with_effects(tasks: list[Task]) -> None:
    assert {task.kind for task in tasks} == set(Kind)
    for task in tasks:
        assert task.script.calls
        assert not any(has_effects(task.kind, call.invocation) for call in task.script.calls)


def test_batches_go_on_for_ever_with_all_kinds_in_each_and_no_session_twice(tasks: list[Task]) -> None:
    taken = list(islice(batches(tasks, len(Kind)), 2 * len(tasks)))
    assert {task.kind for task in taken[0]} == set(Kind)
    names = [task.script.session for batch in taken for task in batch]
    assert len(names) == len(set(names)) > 2 * len(tasks)
    ids = [call.call_id for batch in taken for task in batch for call in task.script.calls]
    assert len(ids) == len(set(ids))


def test_what_a_person_forbids_stands_beside_what_the_session_calls(tasks: list[Task]) -> None:
    guesses = unwanted({})
    for task in tasks:
        written, asked = spoken(task, guesses), task.script
        own = [call for call in written.calls if not is_forbidden(call.call_id)]
        assert [call.invocation.tool.removeprefix(task.prefix) for call in own] == [
            call.invocation.tool for call in asked.calls
        ]
        assert all(json.loads(call.arguments) == call.invocation.arguments for call in written.calls)
    forbidden = [call for task in tasks for call in spoken(task, guesses).calls if is_forbidden(call.call_id)]
    assert len({call.invocation.key for call in forbidden}) > 10


@pytest.mark.parametrize(
    ("server", "tool", "arguments", "effects"),
    [
        (CRM, "get_order", {}, False),
        (CRM, "get_order_and_close", {}, True),
        (CRM, "GET_order", {}, True),
        (CRM, "unheard_of", {}, True),
        (DISPATCH, "deploy", {"dry_run": True}, False),
        (DISPATCH, "deploy", {"dry_run": "true"}, True),
        (WORKBENCH, "run", {"command": "sed -n 1,9p a.py"}, False),
        (WORKBENCH, "run", {"command": "sed -n 1,9p a.py > b.py"}, True),
        (WORKBENCH, "run", {"command": "sed -i s/a/b/ a.py"}, True),
        (WORKBENCH, "run", {}, True),
    ],
)
def test_a_call_has_effects_unless_it_is_known_to_have_none(
    server: str, tool: str, arguments: dict[str, object], effects: bool
) -> None:
    assert has_effects(server, Invocation(tool, arguments)) is effects  # type: ignore[arg-type]


def test_what_is_guessed_is_of_tools_that_there_are_and_nearly_all_has_effects() -> None:
    servers = {tool.name: tool.server for tool in TOOLS if tool.server in (OWN, DISPATCH)}
    guesses = [(server_of(one.tool) or servers[one.tool], one) for one in unwanted({})]
    assert {(server, name_of(one.tool)) for server, one in guesses} <= {(tool.server, tool.name) for tool in TOOLS}
    wanted = [has_effects(server, Invocation(name_of(one.tool), one.arguments)) for server, one in guesses]
    assert sum(wanted) > 0.8 * len(wanted)
