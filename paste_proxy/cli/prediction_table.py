"""What `evaluate` and `bench predict` found, for people."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paste_proxy.events.values import Json

_MEANING = {
    "calls": "tool calls judged",
    "top1": "share that was the first candidate just before the LLM turn that asked",
    "top3": "share that was among the first three",
    "speculated": "runs ahead, if every read of confidence {floor} or more had been run",
    "hits": "calls that such a run would have answered",
    "hit_rate": "hits / calls",
    "hit_rate_of_oracle": "hits / derivable calls, of those that may be run ahead; see oracle",
    "read_only": "the same of calls that may be run ahead",
    "read_commands": "the same of a shell's commands that only read, though no rule lets them be run ahead",
    "strict": "the same if only canonically equal arguments count, not what the policy calls the same",
    "first_time": "the same of calls that the session had not made before",
    "repeated": "the same of calls that it had",
    "oracle": "share whose arguments all stood in what the session had seen; what is learnt elsewhere comes on top",
    "budget": "of calls that may be run ahead, if each of the at most eight candidates had been run, however unlikely",
    "seconds_weighted": "share of recorded tool seconds that hits would have hidden; - if none are recorded",
    "wasted_per_hit": "runs for nothing for each hit; - without hits",
    "ece": "mean distance of confidence from outcome (expected calibration error)",
    "sessions": "recorded sessions replayed",
    "tasks": "that they are of; replays of one task are in one fold",
    "mined_from": "those of them whose task the pool was mined from, which flatter it; - if it does not say",
    "mining_s": "seconds to mine, all folds together",
    "peak_mb": "most memory of the process while mining, MB",
    "predict_us_p50": "microseconds for one prediction, median",
    "predict_us_p99": "and the 99th percentile",
}
"""What each figure is, in a line; a name in braces stands for another figure of the report."""


def prediction_table(report: Mapping[str, "Json"]) -> str:
    """The figures with what they mean, then confidences, folds and tools, each with a heading of its own."""
    meaning = {key: said.format_map(report) for key, said in _MEANING.items() if key in report}
    figures = [f"{key:>18}  {_shown(report[key]):<38}  {said}" for key, said in meaning.items()]
    return "\n".join([*figures, *_confidences(report), *_folds(report), *_tools(report)])


def _confidences(report: Mapping[str, "Json"]) -> Iterator[str]:
    rows = report.get("reliability")
    if not isinstance(rows, list) or not rows:
        return
    yield f"\n{'confidence':>18}  {'came true':<10}  candidates"
    for row in rows:
        if isinstance(row, list):
            confidence, came, number = row
            yield f"{confidence!s:>18}  {came!s:<10}  {number}"


def _folds(report: Mapping[str, "Json"]) -> Iterator[str]:
    folds = report.get("folds")
    if isinstance(folds, list) and folds:
        yield ""
        yield from map(_shown, folds)


def _tools(report: Mapping[str, "Json"]) -> Iterator[str]:
    by_tool = report.get("by_tool")
    if isinstance(by_tool, dict) and by_tool:
        yield ""
        yield from (f"{tool:>40}  {_shown(rate)}" for tool, rate in by_tool.items())


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "  ".join(f"{key} {_shown(item)}" for key, item in value.items())
    return "-" if value is None else str(value)
