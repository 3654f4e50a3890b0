"""The counts of the miner against a count by brute force, on small random sessions."""

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.moments import moments_of, turns_of
from paste_proxy.mining.replay import HORIZON, replay
from paste_proxy.mining.sources import Source
from paste_proxy.mining.tally import Tally
from paste_proxy.mining.templates import Repeat, Template
from tests.mining.sessions import Script, Session

LOOK = Template("look", (("id", Mapper(Source("output", "list"), "/ids/*")),))
IDS = ("a1", "b2", "c3")
CALLS = st.tuples(st.sampled_from(("list", "look", "wait")), st.integers(0, 2))
SESSIONS = st.lists(st.lists(CALLS, min_size=1, max_size=2), max_size=12)


def written(turns: list[list[tuple[str, int]]]) -> Session:
    script = Script("s").user("begin")
    for calls in turns:
        script.batch(
            [
                ("list", {}, {"ids": list(IDS[: at + 1])}) if tool == "list" else (tool, {"id": IDS[at]}, "done")
                for tool, at in calls
            ]
        )
    return script.end()


def by_force(turns: list[list[tuple[str, int]]], tool_wanted: str) -> dict[tuple[int, str], list[int]]:
    """Counts of `look` by rank, from the bare list of turns: no window, no mapper, no template."""
    counts: dict[tuple[int, str], list[int]] = {}
    stream, listed, asked = ["^", "user"], list[str](), list[str]()

    def note(at: int) -> None:
        following = [{IDS[i] for tool, i in calls if tool == "look"} for calls in turns[at : at + HORIZON]]
        if tool_wanted == "fresh":
            offered = [one for one in listed if one not in asked]
        else:
            offered = list(dict.fromkeys(reversed(asked)))
        for rank, one in enumerate(offered):
            for context in suffixes(stream[-3:]):
                count = counts.setdefault((rank, context), [0, 0, 0])
                count[0] += 1
                count[1] += bool(following) and one in following[0]
                count[2] += any(one in ids for ids in following)

    note(0)
    for at, calls in enumerate(turns, 1):
        asked += [IDS[i] for tool, i in calls if tool == "look"]
        for tool, i in calls:
            if tool == "list":
                listed = list(IDS[: i + 1])
            stream.append(f"ok:object:{tool}" if tool == "list" else f"ok:line:{tool}")
            note(at)
    return counts


def tallied(session: Session, tally: Tally) -> dict[tuple[int, str], list[int]]:
    for at in replay(session):
        tally.add(at, "g")
    return {
        (rank, context): [count.seen, count.next, count.ever]
        for rank, counts in enumerate(tally.ranks)
        for context, count in counts.items()
    }


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(CALLS, min_size=1, max_size=1), max_size=12))
def test_a_template_is_counted_as_by_brute_force(turns: list[list[tuple[str, int]]]) -> None:
    assert tallied(written(turns), Tally(LOOK)) == by_force(turns, "fresh")


@settings(max_examples=200, deadline=None)
@given(SESSIONS)
def test_a_repeat_is_counted_as_by_brute_force(turns: list[list[tuple[str, int]]]) -> None:
    assert tallied(written(turns), Tally(Repeat("look"))) == by_force(turns, "repeat")


@given(SESSIONS)
def test_no_moment_sees_a_turn_that_has_begun(turns: list[list[tuple[str, int]]]) -> None:
    session = written(turns)
    found = turns_of(session.events)
    assert [len(turn.calls) for turn in found] == [len(turn) for turn in turns]
    for moment in moments_of(session.events, found):
        begun = sum(turn.start <= moment.index for turn in found)
        assert moment.turn == begun
