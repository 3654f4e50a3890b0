"""Light normalisations."""

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forms import FORMS, form_between


@pytest.mark.parametrize("text", ["inf", "-Infinity", "nan", "1e999", "", "one"])
def test_what_is_no_finite_number_becomes_none(text: str) -> None:
    assert FORMS["number"](text) is None
    assert FORMS["real"](text) is None


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("-7", -7), ("1.5", 1.5), ("1e3", 1000.0)])
def test_a_number_is_an_argument_that_can_be_called_with(text: str, number: float) -> None:
    assert FORMS["number"](text) == number
    assert form_between(text, number) == "number"
    assert Invocation("wait", {"s": FORMS["number"](text)}).key
