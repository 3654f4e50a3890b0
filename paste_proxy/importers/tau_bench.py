"""Results of tau-bench and tau2-bench: simulated customers, one session for each task and trial.

tau-bench writes a list of `{task_id, trial, traj}`, tau2 an object with `simulations`, each with its
`messages`. What the simulated user's own tools did is no call of the agent's.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from paste_proxy.events.values import Json
from paste_proxy.importers.messages import Messages
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt, digest, document
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import listing, mapping, string


def read(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The runs of result files.

    Raises:
        InputFault: for a file that is no JSON or holds no results (unless skipped).
    """
    for path in files:
        whole = document(path, corrupt)
        if whole is None:
            continue
        runs = _runs(whole)
        if not runs:
            corrupt.found(str(path), "no results of tau-bench", "a list of runs with traj, or simulations")
        yield from _sessions(path, runs, string(_agent(mapping(whole)).get("llm")))


def recognises(record: dict[str, Json]) -> bool:
    """Whether a record is a run, or a document of them."""
    return "simulations" in record or ("task_id" in record and "traj" in record)


def _runs(whole: Json) -> list[dict[str, Json]]:
    """The runs of either form, each with its messages as `traj`."""
    found = listing(whole) or listing(mapping(whole).get("simulations")) or [whole]
    runs = [{"traj": run.get("messages"), **run} for run in map(mapping, found)]
    return [run for run in runs if listing(run.get("traj"))]


def _agent(whole: dict[str, Json]) -> dict[str, Json]:
    return mapping(mapping(whole.get("info")).get("agent_info"))


def _sessions(path: Path, runs: list[dict[str, Json]], model: str) -> Iterator[RecordedSession]:
    times: Counter[str] = Counter()
    whole = f"{path.name.partition('.json')[0]}-{digest(runs[0]['traj'])}" if runs else ""
    for run in runs:
        name = f"{whole}/task{_shown(run.get('task_id'))}-trial{_shown(run.get('trial'))}"
        times[name] += 1
        transcript = Transcript(name if times[name] == 1 else f"{name}-{times[name]}", str(path))
        Messages(transcript, model).all(listing(run.get("traj")))
        yield from transcript.sessions()


def _shown(value: Json) -> str:
    return str(value) if isinstance(value, str | int) else "0"
