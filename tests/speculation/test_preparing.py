"""What is got ready for a call that is not run ahead, and when."""

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.candidate import PreparationHint
from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.preparation import Need, Preparation
from paste_proxy.speculation.preparing import AGAIN_S, Preparations, hint_of
from paste_proxy.speculation.types import Destination, Reason, Refused

CONNECTION, SESSION, FILES = Preparation
ALL = frozenset(Preparation)
RULES = """
[[rule]]
tool = "own/*"
effect = "write"
destination = "first-party"

[[rule]]
tool = "ask_first"
effect = "write"
approval = true

[[rule]]
tool = "look"
when = { where = "here/*" }
effect = "read"
destination = "local"

[[rule]]
tool = "look"
effect = "read"

[[rule]]
tool = "quiet"
effect = "write"
prepare = []

[[rule]]
tool = "files"
effect = "read"
prepare = ["files"]

[[rule]]
tool = "watched"
effect = "read"
mode = "observe"
"""


def preparations(*destinations: Destination, kinds: frozenset[Preparation] = ALL) -> Preparations:
    return Preparations(Policy.parse(RULES, "test"), frozenset(destinations or Destination), kinds, least=0.1)


def hint(tool: str, confidence: float = 0.5, **known: str) -> PreparationHint:
    return PreparationHint(tool=tool, known=dict(known), confidence=confidence, source="pattern")


@pytest.mark.parametrize("tool", ["own/delete", "ask_first", "look", "no_rule"])
def test_it_may_be_got_ready_for_calls_that_no_rule_lets_be_run_ahead(tool: str) -> None:
    assert preparations().kinds(hint(tool)) == ALL


def test_what_is_too_unlikely_is_no_hint() -> None:
    assert preparations().kinds(hint("look", 0.1)) == ALL
    assert preparations().kinds(hint("look", 0.09)) == frozenset()


def test_a_rule_says_how_and_the_config_where_none_does() -> None:
    some = preparations(kinds=frozenset({CONNECTION, SESSION}))
    assert some.kinds(hint("look")) == {CONNECTION, SESSION}
    assert some.kinds(hint("files")) == {FILES}
    assert some.kinds(hint("quiet")) == frozenset()


def test_a_tool_that_is_only_watched_is_let_be() -> None:
    assert preparations().kinds(hint("watched")) == frozenset()


def test_nobody_is_connected_to_who_may_not_learn_of_guesses() -> None:
    own = preparations(Destination.LOCAL, Destination.FIRST_PARTY)
    assert own.kinds(hint("own/delete")) == ALL
    assert own.kinds(hint("no_rule")) == own.kinds(hint("ask_first")) == {FILES}
    assert preparations(Destination.THIRD_PARTY).kinds(hint("no_rule")) == {CONNECTION, SESSION}


def test_of_a_call_that_is_being_written_every_rule_of_its_tool_has_to_allow_it() -> None:
    own = preparations(Destination.LOCAL)
    assert own.kinds(hint("look", where="here/a")) == ALL
    assert own.kinds(hint("look", where="here/a"), whole=False) == {FILES}
    assert preparations().kinds(hint("look"), whole=False) == ALL
    assert preparations().kinds(hint("no_rule"), whole=False) == ALL


def test_a_need_is_looked_after_once_in_a_while_whoever_has_it() -> None:
    due = preparations().due
    one, two, file = Need(CONNECTION, "https://a"), Need(CONNECTION, "https://b"), Need(FILES, "https://a")
    assert due((one, two, file), frozenset({CONNECTION}), 0.0) == [one, two]
    assert due((one, file), ALL, AGAIN_S - 0.1) == [file]
    assert due((one, file), ALL, AGAIN_S) == [one]


def test_only_the_latest_needs_are_remembered() -> None:
    due = preparations().due
    for number in range(3_000):
        assert due((Need(FILES, str(number)),), ALL, 0.0)
    assert due((Need(FILES, "0"),), ALL, 0.0)
    assert not due((Need(FILES, "2999"),), ALL, 0.0)


@pytest.mark.parametrize("reason", Reason)
def test_a_refused_candidate_is_a_hint_unless_nothing_can_be_done_for_it(reason: Reason) -> None:
    refused = Refused(
        session="s", invocation=Invocation("look", {"a": 1}), source="pattern", reason=reason, confidence=0.3
    )
    pointless = reason in (Reason.DUPLICATE, Reason.NOT_EXECUTABLE, Reason.BACKOFF)
    expected = PreparationHint(tool="look", known={"a": 1}, confidence=0.3, source="pattern")
    assert hint_of(refused) == (None if pointless else expected)


@pytest.mark.parametrize("value", ['"files"', '["file"]', "[1]", "true", "{}"])
def test_a_rule_that_names_no_way_to_get_ready_is_refused(value: str) -> None:
    with pytest.raises(InputFault, match="'connection', 'session', 'files'") as told:
        Policy.parse(f'[[rule]]\ntool = "x"\neffect = "read"\nprepare = {value}', "p.toml")
    assert told.value.where == "p.toml: rule 1: prepare"
