"""Causes come from the words of poisons, and only from our own words."""

import pytest

from paste_proxy.staging.tally import Cause, StageTally, Step, cause_of


@pytest.mark.parametrize(
    ("poison", "cause"),
    [
        ('it came upon the network (connect(3, {sa_family=AF_INET, "8.8.8.8"}) = -1)', Cause.NETWORK),
        ("it tried to use the network (IpOutNoRoutes)", Cause.NETWORK),
        ("it came upon the machine's network (socket(AF_NETLINK))", Cause.NETWORK),
        ("it left processes behind (sleep)", Cause.PROCESSES),
        ("it came to a limit (--- SIGXCPU {} ---)", Cause.LIMIT),
        ("it came upon its limit of open files (open() = -1 EMFILE)", Cause.LIMIT),
        ("it used more than 64 MiB of memory", Cause.LIMIT),
        ("it wrote more than is kept", Cause.LIMIT),
        ("it was not done within 30 s", Cause.LIMIT),
        ('it came upon a device (open("/srv/the network/processes behind a limit") = 3)', Cause.ESCAPED),
    ],
)
def test_a_poison_has_a_cause(poison: str, cause: Cause) -> None:
    assert cause_of(poison) is cause


def test_times_are_told_in_milliseconds_of_steps_that_were_taken() -> None:
    tally = StageTally()
    tally.took_s[Step.PROOF].extend(number / 1000 for number in range(100))
    assert tally.took_ms() == {"proof": {"p50": 50.0, "p95": 95.0}}
