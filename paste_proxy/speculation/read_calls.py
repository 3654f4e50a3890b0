"""Which calls only read, as far as measuring goes: what is counted here is not run because of it.

A policy rules on tools. Some calls of a shell that it never lets be run ahead do nothing but read all the same;
they are told apart here so that a report can show them beside the calls that may be run ahead.
"""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.conditions import Conditions
from paste_proxy.speculation.policy import Policy

Reads = Callable[[Invocation], bool]
_READING = Conditions(reading="reading")


def runnable(policy: Policy, globs: Sequence[str] = ()) -> Reads:
    """Whether a call may be run ahead: its tool's rule lets it, or one of the globs names its tool.

    Without rules and globs that is every call.
    """
    if not policy.rules and not globs:
        return lambda call: True
    return lambda call: policy.rule_for(call).allowed or any(fnmatchcase(call.tool, glob) for glob in globs)


def runnable_tools(policy: Policy, globs: Sequence[str] = ()) -> Callable[[str], bool]:
    """Whether some call of a tool may be run ahead, as in `runnable`."""
    if not policy.rules and not globs:
        return lambda tool: True
    return lambda tool: policy.of_tool(tool).allowed or any(fnmatchcase(tool, glob) for glob in globs)


def reading_commands(policy: Policy) -> Reads:
    """Whether a call is a shell's command that only reads, though its rule does not let it be run ahead.

    A tool is a shell if its rule says which argument is the command (`same.shell`).
    """

    def reads(call: Invocation) -> bool:
        ruling = policy.rule_for(call)
        return not ruling.allowed and _READING.unmet(ruling.same.core(call).arguments, ruling.same) is None

    return reads
