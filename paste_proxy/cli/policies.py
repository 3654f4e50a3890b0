"""`paste-proxy policies`: which policies come along, what they say of a call, whether one is sound, a first draft."""

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.cli.mine import read_policies
from paste_proxy.cli.policies_check import check
from paste_proxy.cli.policies_suggest import suggest
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.events.values import Json
    from paste_proxy.speculation.policy import Ruling
    from paste_proxy.speculation.weighed import Weighed

policies = typer.Typer(help="Show, check and draft policies.", no_args_is_help=True, rich_markup_mode=None)
policies.command("check")(check)
policies.command("suggest")(suggest)
_SESSION = "this-session"
_SENTENCE = re.compile(r"(?<=\.)\s")


@policies.command("list")
def list_policies() -> None:
    """List the policies that come along, each with a line."""
    from paste_proxy.share import find
    from paste_proxy.speculation.policy import Policy
    from paste_proxy.text_file import read_text

    names = _carried()
    width = max(map(len, names))
    for name in names:
        text = read_text(find("policies", name), "a policy", name=name)
        said = " ".join(line.removeprefix("#").strip() for line in takewhile(_is_comment, text.splitlines()))
        rules = counted(len(Policy.parse(text, name).rules), "rule")
        typer.echo(f"{name:<{width}}  {rules:>8}  {_SENTENCE.split(said)[0]}")


@policies.command()
def explain(
    tool: Annotated[
        str, typer.Argument(metavar="TOOL", help="By its identity: NAME, or SERVER/NAME of an MCP server.")
    ],
    arguments: Annotated[str, typer.Argument(metavar="ARGS-JSON", help="Its arguments, one JSON object.")] = "{}",
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Policy (or builtin:NAME), in order; without it every one that comes along."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say which rule decides on a call, why earlier ones do not, and what follows."""
    from paste_proxy.config import Speculating
    from paste_proxy.events.invocation import Invocation, read_arguments
    from paste_proxy.events.values import dumps
    from paste_proxy.speculation.weighed import weighed

    try:
        call = Invocation(tool, read_arguments(arguments))
    except ValueError as fault:
        raise InputFault(
            "ARGS-JSON", f"{arguments!r} ({fault})", """one JSON object, such as '{"path": "a"}'"""
        ) from fault
    ruled = read_policies(policy or _carried())
    found = weighed(ruled, call, session=_SESSION, least=Speculating().min_confidence)
    typer.echo(dumps(_report(found)).decode() if as_json else _shown(found))


def _shown(found: "Weighed") -> str:
    from paste_proxy.events.values import canonical_text

    lines = [f"{place}: names it, but {unmet}" for place, unmet in found.passed]
    lines.append(f"{found.verdict.rule}: decides" if found.verdict.rule else "no rule speaks of this call")
    ruling, core = found.ruling, found.core
    ahead = ["yes" if found.verdict.runs else "no", *([found.verdict.why] if found.verdict.why else []), *found.how]
    facts = {
        "effect": ruling.effect.value,
        "ahead": "; ".join(ahead),
        **({"told": _told(ruling)} if found.verdict.runs else {}),
        "reads": ", ".join(found.reads) or "nothing that anything writes",
        "writes": ", ".join(found.writes) or "nothing that anything reads",
        "core": f"{core.tool} {canonical_text(core.arguments)}",
    }
    return "\n".join([*lines, *(f"  {name:<6}  {said}" for name, said in facts.items())])


def _told(ruling: "Ruling") -> str:
    said = ruling.rule is not None and ruling.rule.destination is not None
    return ruling.destination.value + ("" if said else ", as nobody has said")


def _is_comment(line: str) -> bool:
    return line.startswith("#")


def _report(found: "Weighed") -> "dict[str, Json]":
    return {
        "rule": found.verdict.rule or None,
        "passed": [{"rule": place, "unmet": unmet} for place, unmet in found.passed],
        "effect": found.ruling.effect.value,
        "ahead": found.verdict.runs,
        "why": found.verdict.why,
        "how": list(found.how),
        "destination": found.ruling.destination.value,
        "reads": list(found.reads),
        "writes": list(found.writes),
        "core": {"tool": found.core.tool, "arguments": found.core.arguments},
    }


def _carried() -> list[str]:
    from paste_proxy.share import share

    return sorted(f"builtin:{path.stem}" for path in share("policies").glob("*.toml"))
