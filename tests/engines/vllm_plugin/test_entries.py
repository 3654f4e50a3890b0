"""The cache of outputs: what is kept for whom, for how long, and in how many bytes."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.engines.vllm_plugin.entries import Entry, ToolOutputs
from paste_proxy.events.invocation import Invocation

MUCH = 1_000_000


def entry(output: str, *, name: str = "look", until: float = 60.0, **params: str) -> Entry:
    return Entry(name=name, params=dict(params) or None, output=output, until=until)


def call(name: str = "look", **params: str) -> Invocation:
    return Invocation(name, dict(params))


def test_an_output_answers_the_call_with_the_same_canonical_arguments() -> None:
    outputs = ToolOutputs(MUCH)
    assert outputs.put("r", [entry("rain", city="Oslo", unit="C")], 0.0) == 1
    assert outputs.take("r", [call(city="Oslo")], 1.0) is None
    assert outputs.take("r", [call(name="see", city="Oslo", unit="C")], 1.0) is None
    assert outputs.take("r", [Invocation("look", {"unit": "C", "city": "Oslo"})], 1.0) == ["rain"]


def test_one_without_params_answers_whatever_the_tool_is_called_with() -> None:
    outputs = ToolOutputs(MUCH)
    outputs.put("r", [entry("rain")], 0.0)
    assert outputs.take("r", [call(city="Oslo")], 1.0) == ["rain"]


def test_an_output_is_taken_once_and_by_its_own_response_only() -> None:
    outputs = ToolOutputs(MUCH)
    outputs.put("r", [entry("rain", city="Oslo")], 0.0)
    assert outputs.take("s", [call(city="Oslo")], 1.0) is None
    assert outputs.take("r", [call(city="Oslo")], 1.0) == ["rain"]
    assert outputs.take("r", [call(city="Oslo")], 1.0) is None
    assert (len(outputs), outputs.held_bytes) == (0, 0)


def test_a_turn_with_several_calls_is_answered_whole_or_not_at_all() -> None:
    outputs = ToolOutputs(MUCH)
    outputs.put("r", [entry("sun", city="Rome")], 0.0)
    both = [call(city="Oslo"), call(city="Rome")]
    assert outputs.take("r", both, 1.0) is None
    outputs.put("r", [entry("rain", city="Oslo")], 1.0)
    assert outputs.take("r", both, 1.0) == ["rain", "sun"]


def test_two_equal_calls_need_two_outputs() -> None:
    outputs = ToolOutputs(MUCH)
    outputs.put("r", [entry("heads"), entry("tails")], 0.0)
    assert outputs.take("r", [call(), call()], 1.0) == ["heads", "tails"]


def test_a_lease_ends() -> None:
    outputs = ToolOutputs(MUCH)
    outputs.put("r", [entry("rain", until=5.0)], 0.0)
    assert outputs.put("r", [entry("too late", until=0.0)], 0.0) == 0
    assert outputs.take("r", [call()], 5.0) is None
    assert (len(outputs), outputs.held_bytes, outputs.evicted) == (0, 0, 1)


def test_beyond_the_bound_those_go_first_whose_leases_end_first() -> None:
    outputs = ToolOutputs(3_000)
    outputs.put("a", [entry("a" * 400, until=90.0)], 0.0)
    outputs.put("b", [entry("b" * 100, until=20.0)], 0.0)
    assert outputs.put("c", [entry("c" * 10, until=50.0)], 0.0) == 1
    assert [outputs.has(response) for response in "abc"] == [True, False, True]


def test_what_is_too_big_is_not_kept_and_throws_nothing_out() -> None:
    outputs = ToolOutputs(2_000)
    outputs.put("a", [entry("a", until=1.0)], 0.0)
    assert outputs.put("b", [entry("b" * 2_000)], 0.0) == 0
    assert outputs.has("a")
    assert not outputs.has("b")


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("put"), st.sampled_from("rs"), st.text(max_size=300), st.floats(0, 20)),
            st.tuples(st.just("take"), st.sampled_from("rs"), st.just(""), st.floats(0, 20)),
            st.tuples(st.just("forget"), st.sampled_from("rs"), st.just(""), st.just(0.0)),
        )
    )
)
def test_its_bytes_are_those_of_what_it_holds(steps: list[tuple[str, str, str, float]]) -> None:
    outputs, now = ToolOutputs(4_500), 0.0
    for do, response, output, seconds in steps:
        now += seconds / 4
        if do == "put":
            outputs.put(response, [entry(output, until=now + seconds)], now)
        elif do == "take":
            outputs.take(response, [call()], now)
        else:
            outputs.forget(response)
        held = [one for kept in outputs._of.values() for one in kept.values()]
        assert outputs.held_bytes == sum(one.size for one in held) <= 4_500
        assert len(outputs) == len(held)
        assert {number for kept in outputs._of.values() for number in kept} <= {
            number for _, number, _ in outputs._ends
        }
    for response in "rs":
        outputs.forget(response)
    assert (len(outputs), outputs.held_bytes) == (0, 0)


def test_a_response_has_so_many_and_the_oldest_go_first() -> None:
    outputs = ToolOutputs(MUCH)
    assert outputs.put("r", [entry(str(number)) for number in range(70)], 0.0) == 64
    assert outputs.take("r", [call()], 1.0) == ["6"]
