"""Where the time went, as people and programs are told."""

from collections.abc import Mapping
from dataclasses import replace

from paste_proxy.agents.wrap.account import Account
from paste_proxy.events.values import Json

STATS: Mapping[str, Json] = {
    "mode": "speculate",
    "turns": 3,
    "calls": 5,
    "hits": 2,
    "llm_s": 4.0,
    "exposed_s": 1.5,
    "saved_s": 0.8,
    "wasted_s": 0.2,
    "would_have": {"hits": 4, "saved_s": 1.9, "wasted_s": 0.0},
    "missed_tools": [{"tool": f"t{n}", "calls": n, "exposed_s": float(n), "would_save_s": 0.0} for n in range(1, 6)],
}


def account(stats: Mapping[str, Json], wall_s: float = 12.0, notes: tuple[str, ...] = ()) -> Account:
    return Account(client="gemini-cli", code=3, startup_s=0.75, wall_s=wall_s, stats=stats, notes=notes)


def test_the_wall_time_is_split_without_a_remainder() -> None:
    told = account(STATS).as_json()
    assert told["llm_s"] == 4.0
    assert told["tools_s"] == 1.5
    assert told["client_s"] == 6.5
    assert told["exit_code"] == 3


def test_turns_and_calls_side_by_side_leave_no_negative_rest() -> None:
    assert account(STATS, wall_s=5.0).as_json()["client_s"] == 0.0


def test_speculating_says_what_was_saved_and_what_was_waited_for() -> None:
    lines = "\n".join(account(STATS, notes=("careful",)).lines())
    assert "2 of 5 calls were ready" in lines
    assert "run for nothing    0.20 s" in lines
    assert "t3, 3 calls" in lines
    assert "t4" not in lines
    assert "note: careful" in lines


def test_observing_says_what_would_have_been_saved() -> None:
    lines = "\n".join(account({**STATS, "mode": "observe"}).lines())
    assert "1.90 s  4 of 5 calls would have been ready" in lines
    assert "were ready" not in lines


def test_the_wrapper_s_own_start_is_told() -> None:
    assert "took 12.0 s (mode speculate), after 0.75 s for the sidecar to start" in next(iter(account(STATS).lines()))
    assert account(STATS).as_json()["startup_s"] == 0.75


def test_calls_of_the_client_s_own_tools_are_told_by_tool() -> None:
    past: Json = [{"tool": tool, "calls": calls} for tool, calls in (("Bash", 9), ("Read", 5), ("Grep", 2), ("Ls", 1))]
    lines = list(account({**STATS, "past_calls": 17, "past_tools": past}).lines())
    (line,) = [line for line in lines if "past it" in line]
    assert line.endswith("17 calls of the client's own tools: Bash 9, Read 5, Grep 2, others 1")
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 100


def test_where_no_policy_speaks_of_the_tools_that_is_said() -> None:
    stats: dict[str, Json] = {**STATS, "mode": "observe", "would_have": {"hits": 0, "saved_s": 0.0, "wasted_s": 0.0}}
    lines = list(replace(account(stats), ruled=lambda tool: tool == "t1").lines())
    assert lines[-1] == "  no policy speaks of t2, t3, t4 and 1 more: see policies/README.md"
    assert "--mode speculate" not in "\n".join(lines)
    assert "no policy" not in "\n".join(account(stats).lines())


def test_a_run_of_which_nothing_came_through_is_one_line() -> None:
    lines = list(account({**STATS, "turns": 0, "calls": 0, "missed_tools": []}, notes=("careful",)).lines())
    assert lines == [
        "paste-proxy: gemini-cli took 12.0 s; no LLM turn and no tool call came through the sidecar",
        "  note: careful",
    ]


def test_a_sidecar_that_only_forwarded_has_nothing_to_boast_of() -> None:
    lines = "\n".join(account({**STATS, "mode": "off"}).lines())
    assert "saved" not in lines
    assert "ready" not in lines


def test_a_sidecar_that_died_leaves_the_wall_time() -> None:
    lines = list(account({}, notes=("the sidecar ended during the run",)).lines())
    assert "took 12.0 s; nothing is known" in lines[0]
    assert "the sidecar ended" in lines[1]
    assert account({}).as_json()["client_s"] == 12.0


def test_it_fits_on_a_screen() -> None:
    lines = list(account(STATS).lines())
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 100


def test_what_was_not_run_ahead_is_told_by_reason_and_the_missed_with_what_would_allow_it() -> None:
    missed: Json = [
        {"tool": "web/fetch", "calls": 2, "would_save_s": 3.5, "reason": "policy", "allow": 'effect = "read"'},
        {"tool": "read", "calls": 1, "would_save_s": 0.5, "reason": "calls", "allow": "raise budget.calls_per_day"},
    ]
    refused: Json = {"policy": 7, "duplicate": 40, "calls": 2, "confidence": 1, "benefit": 1}
    lines = "\n".join(account({**STATS, "refused": refused, "opportunities": missed}).lines())
    assert "11 guesses: policy 7, calls 2, confidence 1, others 1" in lines
    assert "3.50 s  2 calls of web/fetch foreseen" in lines
    assert "to allow: raise budget.calls_per_day" in lines
    assert "not run ahead" not in "\n".join(account(STATS).lines())
