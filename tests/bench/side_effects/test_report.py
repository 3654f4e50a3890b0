from dataclasses import replace

from paste_proxy.bench.side_effects.report import Report, counted

REPORT = Report(
    sessions=2,
    calls=5,
    refused={"policy": 3, "budget": 4, "write_in_flight": 1},
    side_effecting=3,
    launched=7,
    staged=2,
    in_views=1,
    rehearsed=0,
    staging="as root",
    ran_ahead=4,
    effects=(),
)


def test_a_candidate_that_waited_for_room_counts_once() -> None:
    assert counted({"policy": 3}, 7) == 10
    assert counted({"policy": 3, "budget": 4, "write_in_flight": 1}, 7) == 8 + 2
    assert counted({"budget": 9}, 7) == 9
    assert counted({}, 0) == 0


def test_what_was_launched_was_a_read_or_was_staged() -> None:
    told = REPORT.to_json()
    assert (told["candidates"], told["refused"], told["run_as_reads"], told["staged"]) == (10, 8, 5, 2)
    assert (told["effects"], told["effects_shown"]) == (0, [])


def test_effects_are_all_counted_and_the_most_frequent_shown_first() -> None:
    many = replace(REPORT, effects=("a changed", *["crm was asked"] * 3, *(f"{n} changed" for n in range(40))))
    told = many.to_json()
    assert told["effects"] == 44
    assert list(many.shown)[:2] == ["crm was asked (3 times)", "a changed"]
    assert len(list(many.shown)) == 20
