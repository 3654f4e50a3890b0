"""What a policy allows, and how a malformed one is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.share import share
from paste_proxy.speculation.policy import Policy, combine
from paste_proxy.speculation.rules import Effect
from paste_proxy.speculation.types import Mode

CRM = """
default = "deny"

[[rule]]
tool = "crm/get_order"
effect = "read"
reads = ["crm:orders"]
ttl_s = 5
mode = "observe"
min_confidence = 0.4
expected_s = 2.5

[[rule]]
tool = ["crm/get_*", "crm/find_*"]
effect = "read"

[[rule]]
server = "crm"
tool = "cancel"
effect = "write"
writes = ["crm:orders"]

[[rule]]
tool = "crm/set_*"
effect = "write"

[[rule]]
tool = "now"
effect = "read"
"""


def rule(text: str) -> str:
    return f"[[rule]]\n{text}"


def test_the_first_rule_that_names_a_tool_decides() -> None:
    policy = Policy.parse(CRM, "crm.toml")
    order = policy.rule_for(Invocation("crm/get_order", {}))
    assert (order.allowed, order.reads, order.writes) == (True, frozenset({"crm:orders"}), frozenset())
    assert (order.ttl_s, order.mode, order.min_confidence, order.expected_s) == (5.0, Mode.OBSERVE, 0.4, 2.5)
    client = policy.rule_for(Invocation("crm/get_client", {}))
    assert (client.mode, client.ttl_s, client.reads) == (Mode.SPECULATE, None, frozenset({"crm"}))
    assert policy.rule_for(Invocation("crm/find_client", {})).rule is client.rule


def test_a_write_is_never_run_ahead() -> None:
    ruling = Policy.parse(CRM, "crm.toml").rule_for(Invocation("crm/cancel", {}))
    assert (ruling.effect, ruling.allowed, ruling.writes) == (Effect.WRITE, False, frozenset({"crm:orders"}))


def test_a_write_without_domains_writes_all_that_its_server_has() -> None:
    assert Policy.parse(CRM, "crm.toml").rule_for(Invocation("crm/set_client", {})).writes == {"crm", "crm:orders"}


def test_an_unknown_tool_is_denied_and_writes_all_that_its_server_has() -> None:
    ruling = Policy.parse(CRM, "crm.toml").rule_for(Invocation("crm/drop", {}))
    assert (ruling.rule, ruling.allowed, ruling.effect) == (None, False, Effect.WRITE)
    assert ruling.writes == {"crm", "crm:orders"}


@pytest.mark.parametrize("tool", ["drop", "other/get_order", "crm", "", "/", "crm2/get_order"])
def test_what_nobody_has_said_anything_about_may_write_everything(tool: str) -> None:
    ruling = Policy.parse(CRM, "crm.toml").rule_for(Invocation(tool, {}))
    assert (ruling.allowed, ruling.writes) == (False, frozenset({"*"}))


def test_globs_do_not_cross_the_slash() -> None:
    policy = Policy.parse(rule('tool = "*"\neffect = "read"\n') + rule('tool = "*/read"\neffect = "read"'), "x")
    assert policy.rule_for(Invocation("anything", {})).allowed
    assert not policy.rule_for(Invocation("files/write", {})).allowed
    assert policy.rule_for(Invocation("files/read", {})).allowed
    assert policy.rule_for(Invocation("read", {})).rule is policy.rules[0]


def test_globs_mind_case() -> None:
    policy = Policy.parse(rule('tool = "Read"\neffect = "read"'), "x")
    assert not policy.rule_for(Invocation("read", {})).allowed


def test_a_server_glob_matches_servers_and_not_their_absence() -> None:
    policy = Policy.parse(rule('server = "*files*"\ntool = "read_?"\neffect = "read"'), "x")
    assert policy.rule_for(Invocation("my-files-2/read_x", {})).reads == {"my-files-2"}
    assert not policy.rule_for(Invocation("read_x", {})).allowed


def test_a_tool_without_a_server_reads_a_domain_of_its_own() -> None:
    assert Policy.parse(CRM, "crm.toml").rule_for(Invocation("now", {})).reads == {"tools"}


def test_a_read_can_be_kept_from_running_ahead() -> None:
    ruling = Policy.parse(rule('tool = "buy_data"\neffect = "read"\nspeculate = false'), "x").rule_for(
        Invocation("buy_data", {})
    )
    assert (ruling.effect, ruling.allowed, ruling.writes) == (Effect.READ, False, frozenset())


def test_policies_combine_in_order() -> None:
    first = Policy.parse(rule('tool = "a"\neffect = "write"\nwrites = ["one"]'), "1")
    second = Policy.parse(rule('tool = ["a", "b"]\neffect = "read"\nreads = ["two"]'), "2")
    both = combine([first, second])
    assert both.rule_for(Invocation("a", {})).effect is Effect.WRITE
    assert both.rule_for(Invocation("b", {})).effect is Effect.READ
    assert combine([second, first]).rule_for(Invocation("a", {})).effect is Effect.READ


def test_an_empty_policy_denies_everything() -> None:
    assert not Policy.parse("", "x").rule_for(Invocation("anything", {})).allowed
    assert not combine([]).rule_for(Invocation("fs/read", {})).allowed


def test_many_made_up_tool_names_are_ruled_alike() -> None:
    policy = Policy.parse(CRM, "crm.toml")
    assert all(not policy.rule_for(Invocation(f"made/up{number}", {})).allowed for number in range(10_000))
    assert policy.rule_for(Invocation("crm/get_order", {})).allowed


@pytest.mark.parametrize(
    ("text", "where", "found"),
    [
        ("[[rule]", "p.toml", "is not TOML"),
        ('default = "allow"', "p.toml: default", "'allow'"),
        ("defaults = 1", "p.toml: defaults", "unknown key"),
        ("rule = 3", "p.toml: rule", "a int"),
        ("rule = [3]", "p.toml: rule 1", "3"),
        ('[rule]\ntool = "a"', "p.toml: rule", "a dict"),
        (rule('effect = "read"'), "p.toml: rule 1: tool", "nothing"),
        (rule('tool = "a"'), "p.toml: rule 1: effect", "nothing"),
        (rule('tool = 3\neffect = "read"'), "p.toml: rule 1: tool", "3"),
        (rule('tool = ""\neffect = "read"'), "p.toml: rule 1: tool", "''"),
        (rule('tool = []\neffect = "read"'), "p.toml: rule 1: tool", "[]"),
        (rule('tool = ["a", 1]\neffect = "read"'), "p.toml: rule 1: tool", "['a', 1]"),
        (rule('tool = "get_[ab"\neffect = "read"'), "p.toml: rule 1: tool", "'get_[ab'"),
        (rule('tool = "get x"\neffect = "read"'), "p.toml: rule 1: tool", "'get x'"),
        (rule('tool = "/x"\neffect = "read"'), "p.toml: rule 1: tool", "'/x'"),
        (rule('tool = "x/"\neffect = "read"'), "p.toml: rule 1: tool", "'x/'"),
        (rule('tool = "s/x"\nserver = "s"\neffect = "read"'), "p.toml: rule 1: tool", "'s/x'"),
        (rule('tool = "x"\nserver = 1\neffect = "read"'), "p.toml: rule 1: server", "1"),
        (rule('tool = "x"\nserver = "a b"\neffect = "read"'), "p.toml: rule 1: server", "'a b'"),
        (rule('tool = "x"\neffect = "reads"'), "p.toml: rule 1: effect", "'reads'"),
        (rule('tool = "x"\neffect = ["read"]'), "p.toml: rule 1: effect", "['read']"),
        (rule('tool = "x"\neffect = "write"\nspeculate = true'), "p.toml: rule 1: speculate", "true for a write"),
        (rule('tool = "x"\neffect = "read"\nspeculate = 1'), "p.toml: rule 1: speculate", "1"),
        (rule('tool = "x"\neffect = "read"\nwrites = ["a"]'), "p.toml: rule 1: writes", "['a'] for a read"),
        (rule('tool = "x"\neffect = "read"\nreads = "a"'), "p.toml: rule 1: reads", "'a'"),
        (rule('tool = "x"\neffect = "read"\nreads = ["a b"]'), "p.toml: rule 1: reads", "['a b']"),
        (rule('tool = "x"\neffect = "read"\nreads = [1]'), "p.toml: rule 1: reads", "[1]"),
        (rule('tool = "x"\neffect = "read"\nttl_s = 0'), "p.toml: rule 1: ttl_s", "0"),
        (rule('tool = "x"\neffect = "read"\nttl_s = inf'), "p.toml: rule 1: ttl_s", "inf"),
        (rule('tool = "x"\neffect = "read"\nttl_s = ' + "9" * 400), "p.toml: rule 1: ttl_s", "999"),
        (rule('tool = "x"\neffect = "read"\nttl_s = true'), "p.toml: rule 1: ttl_s", "True"),
        (rule('tool = "x"\neffect = "read"\nexpected_s = "1"'), "p.toml: rule 1: expected_s", "'1'"),
        (rule('tool = "x"\neffect = "read"\nmin_confidence = 1.5'), "p.toml: rule 1: min_confidence", "1.5"),
        (rule('tool = "x"\neffect = "read"\nmin_confidence = nan'), "p.toml: rule 1: min_confidence", "nan"),
        (rule('tool = "x"\neffect = "read"\nmode = "on"'), "p.toml: rule 1: mode", "'on'"),
        (rule('tool = "x"\neffect = "read"\nspeculat = true'), "p.toml: rule 1: speculat", "unknown key"),
        (rule('tool = "x"\neffect = "read"\n') + rule('tool = "y"'), "p.toml: rule 2: effect", "nothing"),
    ],
)
def test_a_malformed_policy_is_refused_with_place_and_finding(text: str, where: str, found: str) -> None:
    with pytest.raises(InputFault) as fault:
        Policy.parse(text, "p.toml")
    assert fault.value.where == where
    assert fault.value.found.startswith(found)
    assert fault.value.expected


values = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=8)), lambda inner: st.lists(inner, max_size=3)
)
keys = st.sampled_from(("tool", "server", "effect", "speculate", "reads", "writes", "ttl_s", "mode", "zap"))


@given(
    st.one_of(
        st.text(),
        st.lists(st.tuples(keys, values), max_size=6).map(
            lambda pairs: rule("\n".join(f"{key} = {value!r}" for key, value in pairs))
        ),
    )
)
def test_any_text_is_a_policy_or_an_input_fault(text: str) -> None:
    try:
        policy = Policy.parse(text, "any")
    except InputFault:
        return
    assert not policy.rule_for(Invocation("no/such-tool \0", {})).allowed or policy.rules


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(InputFault, match="is not TOML"):
        Policy.parse("a = " + "[" * 100_000, "deep.toml")


FILES = sorted(share("policies").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_policies_that_come_along_are_well_formed(path: Path) -> None:
    policy = Policy.parse(path.read_text("utf-8"), str(path))
    assert policy.rules


def test_together_they_deny_shells_and_writes_and_allow_reads() -> None:
    policy = combine(Policy.parse(path.read_text("utf-8"), str(path)) for path in FILES)
    for tool in ("Read", "search", "get_user_details", "filesystem/read_text_file", "everything/get-sum"):
        assert policy.rule_for(Invocation(tool, {})).allowed, tool
    for tool in (
        "Bash",
        "bash",
        "python_repl_tool",
        "Edit",
        "book_reservation",
        "filesystem/write_file",
        "everything/get-env",
    ):
        assert not policy.rule_for(Invocation(tool, {})).allowed, tool
    assert (
        policy.rule_for(Invocation("Edit", {})).writes == policy.rule_for(Invocation("filesystem/read_file", {})).reads
    )
    assert policy.rule_for(Invocation("bash", {})).writes == {"*"}


SHELL = """
[[rule]]
tool = "run"
commands = "reading"
effect = "read"
same = { shell = { command = "command" } }

[[rule]]
tool = "run"
effect = "write"
same = { shell = { command = "command" } }
"""


def test_calls_are_ruled_alike_however_many_have_been() -> None:
    policy = Policy.parse(SHELL, "shell.toml")
    for _ in range(2):
        for at in range(3_000):
            assert policy.rule_for(Invocation("run", {"command": f"cat {at}"})).allowed
            assert not policy.rule_for(Invocation("run", {"command": f"rm {at}"})).allowed
