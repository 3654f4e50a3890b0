"""`paste-proxy policies check`: all that is wrong with policies, and what in them is of no use."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.cli.traces import read_traces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paste_proxy.events.invocation import Invocation
    from paste_proxy.speculation.rules import Rule

_NAMED = 8


def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Policies (or builtin:NAME), in the order of the config.")
    ],
    traces: Annotated[
        list[Path] | None, typer.Option(metavar="TRACES", help="Recorded sessions: are there calls for each rule?")
    ] = None,
) -> None:
    """Say all that is wrong with policies.

    Every fault, rules that can never decide since earlier ones take all their calls, and, with --traces, rules that
    speak of no call there and tools that no rule names. It ends with 1 if there is a fault.
    """
    from paste_proxy.share import find
    from paste_proxy.speculation.rule_check import checked, overshadowed
    from paste_proxy.text_file import read_text

    rules: list[Rule] = []
    faults = 0
    for name in files:
        sound, found = checked(read_text(find("policies", name), "a policy, or builtin:NAME", name=name), name)
        rules += sound
        faults += len(found)
        for fault in found:
            typer.echo(f"fail  {fault}")
        if not found:
            typer.echo(f"ok    {name}: {counted(len(sound), 'rule')}")
    for rule, by in overshadowed(rules):
        typer.echo(
            f"warn  {rule.place}: never decides, since {by.place} takes all its calls; put it before, or take it out"
        )
    if traces:
        for line in _unused(rules, _calls(traces)):
            typer.echo(line)
    if faults:
        raise typer.Exit(1)


def _calls(traces: list[Path]) -> "list[Invocation]":
    from paste_proxy.events.types import ToolCall

    sessions = read_traces(traces)
    return [event.invocation for one in sessions for event in one.events if isinstance(event, ToolCall)]


def _unused(rules: "Sequence[Rule]", calls: "Sequence[Invocation]") -> "Iterator[str]":
    """Rules that decide on no call, and tools of which no rule speaks."""
    from paste_proxy.speculation.policy import Policy

    policy = Policy(rules)
    deciding = {ruling.rule.place for call in calls if (ruling := policy.rule_for(call)).rule is not None}
    for rule in rules:
        if rule.place not in deciding:
            yield f"note  {rule.place}: decides on none of {counted(len(calls), 'call')} ({_tools(rule)})"
    unnamed = sorted({call.tool for call in calls if not policy.of_tool(call.tool).named})
    if unnamed:
        more = f" and {len(unnamed) - _NAMED} more" if len(unnamed) > _NAMED else ""
        yield f"note  no rule names {', '.join(unnamed[:_NAMED])}{more}: never run ahead, and each voids early results"


def _tools(rule: "Rule") -> str:
    names = list(map(str, rule.tools))
    return ", ".join(names[:_NAMED]) + (" ..." if len(names) > _NAMED else "")
