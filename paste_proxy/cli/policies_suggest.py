"""`paste-proxy policies suggest`: recorded sessions become a draft of a policy, for a person to confirm."""

from pathlib import Path
from typing import Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.cli.traces import read_traces
from paste_proxy.cli.whole_file import whole_file
from paste_proxy.errors import InputFault


def suggest(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACES", help="Recorded sessions: files or folders.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The policy to write; without it, to stdout.")
    ] = None,
) -> None:
    """Draft rules for the tools that recorded sessions call.

    Of each tool it says how often it is called, how long it takes, with which arguments, and what speaks for its being
    a read. As it is drafted nothing is run ahead and nothing is taken for a read, until a person has confirmed it.
    """
    from paste_proxy.importers.files import trace_files
    from paste_proxy.speculation.rule_drafts import drafted
    from paste_proxy.speculation.tool_use import tool_uses

    sessions = read_traces(traces)
    uses = tool_uses(session.events for session in sessions)
    if not uses:
        raise InputFault(", ".join(map(str, traces)), "no tool call in these files", "recorded sessions")
    text = drafted(uses, len(sessions))
    if out is None:
        typer.echo(text, nl=False)
        return
    with whole_file(out, inputs=trace_files(traces)) as file:
        file.write(text.encode())
    typer.echo(f"{out}: {counted(len(uses), 'tool')} of {counted(len(sessions), 'session')}; read it before you use it")
