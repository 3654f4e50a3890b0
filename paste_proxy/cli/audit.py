"""`paste-proxy audit`: what was run ahead and what was refused, out of the event log."""

import re
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.events.types import Event

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smhd])", text)
    if found is None:
        raise typer.BadParameter(f"{text!r}; expected a time such as 90s, 15m, 1h or 7d")
    return float(found[1]) * _UNITS[found[2]]


def audit(
    logs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="LOG", help="Event logs, files or folders; the config's if not given."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Config file; ./paste.toml if not given.")] = None,
    since: Annotated[
        float | None, typer.Option(parser=_seconds, metavar="TIME", help="Only the latest: 90s, 15m, 1h, 7d.")
    ] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Only this session.")] = None,
    tool: Annotated[str, typer.Option(metavar="GLOB", help="Only these tools.")] = "*",
    records: Annotated[int, typer.Option(min=0, metavar="N", help="List the latest N as well.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List and sum up what was run ahead, and what was refused.

    Every job with who foresaw it, under which rule, why it was worth it, what it cost and how it ended; refusals
    counted by reason. Arguments are shown as they were recorded: without secrets.
    """
    import time

    from paste_proxy.cli.audited import audit_table
    from paste_proxy.events.codec import BadLine, record_of
    from paste_proxy.events.values import dumps
    from paste_proxy.proxy.audit_log import log_files, read_log
    from paste_proxy.speculation.audit import Audit

    begin = float("-inf") if since is None else time.time() - since
    found, latest, bad = Audit(since=begin, session=session, tool=tool), deque["Event"](maxlen=records), 0
    for event in read_log(log_files(logs or [_recorded(config)], begin)):
        if isinstance(event, BadLine):
            bad += 1
        elif found.add(event):
            latest.append(event)
    if bad:
        typer.echo(f"paste-proxy: {bad} lines hold no event that this program knows", err=True)
    shown = [{key: value for key, value in record_of(event, 0).items() if key not in ("v", "seq")} for event in latest]
    report = {**found.as_json(), "records": shown, "bad_lines": bad}
    typer.echo(dumps(report).decode() if as_json else audit_table(found, list(latest)))


def _recorded(config: Path | None) -> Path:
    from paste_proxy.cli.serve import read_config

    directory = read_config(config).recording.directory
    if directory is None:
        expected = "recording.directory in the config, or the log named here"
        raise InputFault(str(config or "paste.toml"), "nothing is recorded", expected)
    return directory
