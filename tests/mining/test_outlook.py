"""What a pool expects, against working out the odds of every pattern one by one."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.estimate import Count, backed_off
from paste_proxy.mining.outlook import Expected, Outlook, worth
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.templates import Template

CONTEXTS = ("", "ok a", "ok:line:a", "ok:line:b > ok:line:a", "^ > ok:line:b > ok:line:a")
COUNTS = st.tuples(*[st.integers(0, 30)] * 3).map(
    lambda three: Count(*sorted(three, reverse=True)[:1], *sorted(three)[:2])
)
RANKS = st.lists(st.dictionaries(st.sampled_from(CONTEXTS), COUNTS), max_size=4)
POOLS = st.lists(RANKS, max_size=6)


def patterns(pool: list[list[dict[str, Count]]], times: int) -> list[Pattern]:
    template = Template("get", ())
    return [
        Pattern(template, tuple(ranks), id=f"{copy}-{at}") for copy in range(times) for at, ranks in enumerate(pool)
    ]


def one_by_one(of: list[Pattern], contexts: tuple[str, ...]) -> list[Expected]:
    found = []
    for pattern in of:
        odds = [backed_off([counts.get(context) for context in contexts]) for counts in pattern.ranks]
        while odds and odds[-1][1] < 0.02:
            odds.pop()
        if odds:
            found.append(Expected(pattern, tuple(odds), max(map(worth, odds))))
    return sorted(found, key=lambda one: (-one.worth, one.pattern.id))[:48]


@given(POOLS, st.integers(1, 60), st.integers(1, len(CONTEXTS)))
def test_the_likeliest_patterns_and_their_odds_are_those_worked_out_one_by_one(
    pool: list[list[dict[str, Count]]], times: int, known: int
) -> None:
    made = patterns(pool, times)
    outlook = Outlook(made)
    assert list(outlook.expected(CONTEXTS[:known])) == one_by_one(made, CONTEXTS[:known])


def test_many_patterns_of_different_worth_are_put_in_order() -> None:
    made = [Pattern(Template("get", ()), ({"": Count(200, at % 150, 150)},), id=str(at)) for at in range(500)]
    assert list(Outlook(made).expected(("",))) == one_by_one(made, ("",))


def test_no_patterns_expect_nothing() -> None:
    assert Outlook([]).expected(CONTEXTS) == ()
