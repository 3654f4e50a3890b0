"""What explaining recorded calls costs, however many arguments they have."""

from collections.abc import Hashable

from paste_proxy.events.values import Json
from paste_proxy.mining.infer import MOST_ARGUMENTS, Explained, Occurrence
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.mine import mine
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.sources import Source
from tests.mining.sessions import Script, Session

WORK = 10_000
"""Look-ups for the joint explanations of one call."""


class Counted(dict[Hashable, float]):
    """Explanations that count how often they are looked up."""

    looked_up = 0

    def __getitem__(self, key: Hashable) -> float:
        Counted.looked_up += 1
        return super().__getitem__(key)


def explained(arguments: int, ways: int, calls: int) -> Explained:
    """Calls each argument of which is explained in so many ways."""
    found = Explained()
    names = tuple(f"a{at:02}" for at in range(arguments))
    for call in range(calls):
        explanations: dict[str, dict[Hashable, float]] = {}
        for name in names:
            mappers = [Mapper(Source("output", f"tool{way}"), f"/{name}") for way in range(ways)]
            found.mappers.update((mapper, mapper) for mapper in mappers)
            explanations[name] = Counted(dict.fromkeys(mappers, 1.0))
        found.occurrences["save", names].append(Occurrence(f"g{call}", explanations))
    return found


def filled_in(name: str, fields: int) -> Session:
    """A form is loaded and saved twice, field by field."""
    form: dict[str, Json] = {f"field{at}": f"{name}{at}" for at in range(fields)}
    script = Script(name).user("go").call("load", {"form": name}, form)
    return script.call("save", form, "saved").call("look", {}, "fine").call("save", form, "saved").end()


def test_the_more_arguments_a_call_has_the_fewer_of_its_joint_explanations_are_tried() -> None:
    for arguments in (8, 32, MOST_ARGUMENTS):
        Counted.looked_up, calls = 0, 3
        assert explained(arguments, 4, calls).templates()
        assert Counted.looked_up <= calls * WORK, arguments


def test_many_arguments_are_explained_together() -> None:
    sessions = [filled_in(name, MOST_ARGUMENTS) for name in ("ann", "bob", "cyd")]
    found = Explained.of(sessions, ["ann", "bob", "cyd"]).templates()
    assert any(len(getattr(template, "arguments", ())) == MOST_ARGUMENTS for template in found)


def test_a_call_of_very_many_arguments_is_known_by_its_repeats_alone() -> None:
    sessions = [filled_in(name, MOST_ARGUMENTS + 1) for name in ("ann", "bob", "cyd", "dan")]
    found = Explained.of(sessions, [one.id for one in sessions])
    assert not any(tool == "save" for tool, _ in found.occurrences)
    pool = mine(sessions)
    predictor = Predictor(pool)
    for event in sessions[0].events[:-2]:
        candidates = predictor.step(event).candidates
    assert "save" in [one.invocation.tool for one in candidates]
