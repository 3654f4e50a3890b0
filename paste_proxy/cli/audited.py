"""The tables of `paste-proxy audit`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from paste_proxy.events.types import Event, Refusals, Speculation
from paste_proxy.events.values import dumps
from paste_proxy.speculation.audit import Audit, Jobs, Sums

_ARGUMENTS = 60
_ROWS = 15


def audit_table(audit: Audit, latest: Sequence[Event]) -> str:
    """The records, and what all of them add up to, for people."""
    return "\n".join([*map(_record, latest), *([""] if latest else []), *_sums(audit)])


def _record(event: Event) -> str:
    when = "--:--:--" if event.ts is None else datetime.fromtimestamp(event.ts).astimezone().strftime("%m-%d %H:%M:%S")
    match event:
        case Speculation():
            return f"{when}  {event.session}  {_job(event)}"
        case Refusals():
            rule = f", {event.rule}" if event.rule else ""
            return f"{when}  {event.session}  refused {event.count} of {event.tool}: {event.reason}{rule}"
        case _:
            return when


def _job(job: Speculation) -> str:
    arguments = dumps(job.invocation.arguments).decode("utf-8", "replace")
    shown = arguments if len(arguments) <= _ARGUMENTS else arguments[:_ARGUMENTS] + "..."
    words = [f"{job.invocation.tool} {shown}", f"by {job.source} ({job.confidence:.2f})"]
    if job.utility is not None:
        words.append(f"utility {job.utility:.2f}, benefit {job.benefit_s or 0:.2f} s")
    if job.rule:
        words.append(job.rule)
    words.append(f"{'would be ' if job.shadow else ''}{job.outcome.value}{f' ({job.why.value})' if job.why else ''}")
    words.append(f"ran {job.ran_s:.2f} s" + (f", saved {job.saved_s:.2f} s" if job.saved_s else ""))
    if job.cost:
        words.append(f"cost {job.cost:g}")
    if job.rehearsal:
        words.append("a rehearsal")
    if job.staged:
        words.append("staged" if job.commit_s is None else f"staged, commit {job.commit_s * 1000:.1f} ms")
    return "; ".join(words)


def _sums(audit: Audit) -> Iterator[str]:
    kinds = (("run ahead", audit.ran), ("would have been run ahead", audit.would_have), ("rehearsed", audit.rehearsed))
    for name, jobs in kinds:
        if jobs.all.jobs:
            yield from _jobs(name, jobs)
    if not any(jobs.all.jobs for _, jobs in kinds):
        yield "nothing was run ahead"
    if audit.again:
        yield f"answers served again: {audit.again}"
    if audit.staged:
        yield f"staged: {audit.staged}, committed {audit.committed}; {audit.staged_runs.in_words()}"
    if audit.refused:
        yield f"refused: {audit.refused.total()}"
        yield from _counts("reason", audit.refused.most_common(_ROWS))
        yield from _counts("tool", audit.refused_tools.most_common(_ROWS))
    yield f"side-effecting candidates refused: {audit.side_effecting}"


def _jobs(name: str, jobs: Jobs) -> Iterator[str]:
    yield f"{name}: {_shown(jobs.all)}"
    for by, rows in jobs.by.items():
        yield from _rows(by, rows)


def _rows(by: str, rows: Mapping[str, Sums]) -> Iterator[str]:
    ordered = sorted(rows.items(), key=lambda row: -row[1].jobs)
    for number, (value, sums) in enumerate(ordered[:_ROWS]):
        yield f"  {by if not number else '':<8}{value:<32} {_shown(sums)}"
    if len(ordered) > _ROWS:
        yield f"  {'':<8}and {len(ordered) - _ROWS} more"


def _counts(by: str, rows: Sequence[tuple[str, int]]) -> Iterator[str]:
    for number, (value, count) in enumerate(rows):
        yield f"  {by if not number else '':<8}{value:<32} {count}"


def _shown(sums: Sums) -> str:
    cost = f", cost {sums.cost:g}" if sums.cost else ""
    return (
        f"{sums.jobs} jobs, {sums.hits} asked for; ran {sums.ran_s:.2f} s, saved {sums.saved_s:.2f} s, "
        f"for nothing {sums.wasted_s:.2f} s{cost}"
    )
