"""Values as they are told of in faults."""

from paste_proxy.events.values import Json, brief


def test_a_value_of_any_depth_and_length_is_told_of_in_a_few_words() -> None:
    value: Json = "deep"
    for _ in range(100_000):
        value = {"in": [value]}
    assert brief(value).startswith("{'in': [{'in':")
    assert len(brief("x" * 10**6, 40)) == 40


def test_a_short_value_is_told_of_as_it_is() -> None:
    assert [brief(value) for value in (None, True, 1.5, "a text", [1, {}])] == [
        "None",
        "True",
        "1.5",
        "'a text'",
        "[1, {}]",
    ]
