"""Mining and evaluating by what a policy calls the same."""

import json
from pathlib import Path

import pytest

from paste_proxy.events.codec import encode
from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.evaluate import Evaluation
from paste_proxy.mining.prediction import Prediction
from tests.mining.sessions import Script
from tests.mining.test_commands import ran
from tests.mining.test_evaluate import oracle

POLICY = '[[rule]]\ntool = "visit"\neffect = "read"\nsame = { ignore = ["goal"] }\n'


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    return str(path)


def trace(folder: Path, *names: str) -> str:
    """Sessions that visit a page found, each with words of its own about why."""
    path = folder / f"{names[0]}.jsonl"
    with path.open("wb") as out:
        for name in names:
            url = f"https://{name}.org/a"
            script = Script(name).user(f"look into {name}").call("search", {"query": name}, f"see {url} ")
            script.call("visit", {"url": url, "goal": f"find out of {name[::-1]}"}, "a page")
            out.writelines(encode(event, seq) for seq, event in enumerate(script.end().events))
    return str(path)


def test_sessions_are_mined_and_judged_by_their_cores(tmp_path: Path, policy: str) -> None:
    training, unseen = trace(tmp_path, *(f"site{letter}" for letter in "abcdefgh")), trace(tmp_path, "sitey", "sitez")
    pool, plain = str(tmp_path / "pool.json"), str(tmp_path / "plain.json")
    ran("mine", training, "-o", plain)
    ran("mine", training, "--policy", policy, "-o", pool)
    report = json.loads(ran("evaluate", "--pool", pool, "--policy", policy, unseen, "--json").splitlines()[-1])
    assert report["read_only"] == {"calls": 2, "top1": 1.0, "top3": 1.0}
    assert report["strict"] == {"top1": 0.5, "top3": 0.5}, "the searches, of which the user said the words"
    assert report["by_tool"]["visit"]["top1"] == 1.0
    report = json.loads(ran("evaluate", "--pool", plain, unseen, "--json").splitlines()[-1])
    assert report["by_tool"]["visit"]["top1"] == 0.0


def test_the_predictor_sees_cores_and_its_candidates_are_brought_to_theirs() -> None:
    seen: list[Invocation] = []
    session = Script().user("go").call("get", {"id": "a", "why": "x"}, 1).call("get", {"id": "b"}, 1).end()
    evaluation = Evaluation(core=lambda call: Invocation(call.tool, {"id": call.arguments["id"]}))

    def predict(event: object) -> Prediction:
        if isinstance(invocation := getattr(event, "invocation", None), Invocation):
            seen.append(invocation)
        return oracle([("a", 0.9)])(event)  # type: ignore[arg-type]

    evaluation.add(session, predict)
    assert [invocation.arguments for invocation in seen] == [{"id": "a"}, {"id": "b"}]


def test_candidates_of_one_core_count_once() -> None:
    session = Script().user("go").call("get", {"id": "a"}, 1).end()
    evaluation = Evaluation(core=lambda call: Invocation(call.tool, {}))
    evaluation.add(session, oracle([("b", 0.9), ("c", 0.8)]))
    report = evaluation.report()
    assert (report["top1"], report["speculated"]) == (1.0, 1)
