"""Rules drafted from what was seen of tools, for a person to confirm.

As it is drafted a policy lets nothing be run ahead and takes nothing for a read: every such rule is commented out.
"""

import json
from collections.abc import Iterable, Iterator
from statistics import median

from paste_proxy.events.invocation import name_of, server_of
from paste_proxy.speculation.domains import WRITTEN
from paste_proxy.speculation.tool_use import ToolUse

_PATTERNS = 12
_LEAST = 2
"""A pattern seen once is none."""
_ARGUMENTS = 8
_HEAD = """# Drafted from {calls} calls of {tools} tools in {sessions} sessions. Nothing in it is certain.
# As it stands nothing is run ahead, and nothing is taken for a read. A rule that you know to be right comes into force
# without the `#` before its lines; its tool may be run ahead once `speculate = false` is gone as well. See that
# `reads` and `writes` name the state that tools share, and put rules for some calls of a tool before those for all.
default = "deny"
"""


def drafted(uses: Iterable[ToolUse], sessions: int) -> str:
    """A policy file, well-formed as it stands and with all its comment marks before keys taken away."""
    uses = list(uses)
    head = _HEAD.format(calls=sum(use.calls for use in uses), tools=len(uses), sessions=sessions)
    return "\n".join([head, *("\n".join(_draft(use)) + "\n" for use in uses)])


def _draft(use: ToolUse) -> Iterator[str]:
    yield f"# {_plain(use.tool)}: {_seen(use)}"
    yield f"# {_evidence(use)}"
    tool = _glob(use.tool)
    if tool is None:
        yield "# Its name has white space in it, so that no rule can name it."
        return
    if use.command is not None:
        yield from _shell(use, tool, use.command)
    elif use.seems_a_read:
        domain = server_of(use.tool)
        domain = domain if WRITTEN.fullmatch(domain) else "tools"
        yield from _off([*_rule(tool, "read"), "speculate = false", f"reads = {_list([domain])}", *_expected(use)])
        return
    yield ""
    yield from _rule(tool, "write")
    yield 'writes = ["*"]'
    if use.command is not None:
        yield _same(use, use.command)


def _shell(use: ToolUse, tool: str, command: str) -> Iterator[str]:
    yield f"# {use.reading} of its commands plainly only read: where it is a shell, these change nothing."
    beside = [_plain(name) for name, _ in use.arguments.most_common(_ARGUMENTS) if name not in (command, use.folder)]
    if beside:
        yield f"# A rule with commands means no call with {' or '.join(beside)}, unless `same` says what that is."
    rule = _rule(tool, "read")
    yield from _off(
        [*rule[:2], 'commands = "reading"', rule[2], "speculate = false", 'reads = ["workspace"]', _same(use, command)]
    )
    seen = [(words, times) for words, times in use.patterns().most_common(_PATTERNS) if times >= _LEAST]
    if seen:
        listed = [f"{_plain(' '.join(words))} ({times})" for words, times in seen]
        yield f"# Else it runs most often: {', '.join(listed)}."
        yield "# Of our own tools such commands can be run ahead with their effects held back: keep those that may be."
        patterns = _list([f"{' '.join(words)} *" for words, _ in seen])
        rule = _rule(tool, "write")
        yield from _off(
            [*rule[:2], f"commands = {patterns}", rule[2], "stage = false", 'writes = ["*"]', _same(use, command)]
        )


def _off(lines: Iterable[str]) -> Iterator[str]:
    return (f"#{line}" for line in lines)


def _rule(tool: str, effect: str) -> list[str]:
    return ["[[rule]]", f"tool = {tool}", f'effect = "{effect}"']


def _same(use: ToolUse, command: str) -> str:
    folder = f", folder = {_text(use.folder)}" if use.folder is not None else ""
    return f"same = {{ shell = {{ command = {_text(command)}{folder} }} }}"


def _expected(use: ToolUse) -> list[str]:
    usual = round(median(use.seconds), 3) if use.seconds else 0.0
    return [f"expected_s = {usual:g}"] if usual > 0 else []


def _seen(use: ToolUse) -> str:
    words = [f"called {use.calls} times"]
    if use.seconds:
        slow = sorted(use.seconds)[int(0.9 * (len(use.seconds) - 1))]
        words.append(f"{median(use.seconds):.3g} s as a rule, {slow:.3g} s and more for the slowest tenth")
    if use.failed:
        words.append(f"{use.failed} failed")
    names = [_plain(name) for name, _ in use.arguments.most_common(_ARGUMENTS)]
    more = " ..." if len(use.arguments) > _ARGUMENTS else ""
    return "; ".join([*words, f"arguments: {', '.join(names) or 'none'}{more}"])


def _evidence(use: ToolUse) -> str:
    said = f"its name sounds like a {use.name_says}" if use.name_says else "its name says nothing"
    again = f"{use.again_same} of {use.again} repeated calls were answered as before" if use.again else "never repeated"
    between = (
        f"after it others answered as before it {use.between_same} of {use.between} times"
        if use.between
        else "nothing shows what it changes"
    )
    looks = "a shell" if use.command is not None else "a read, perhaps" if use.seems_a_read else "a write, or not known"
    return f"Looks like {looks}: {said}; {again}; {between}."


def _glob(tool: str) -> str | None:
    """The glob that names just this tool, as TOML; None where none can."""
    if any(character.isspace() for character in tool) or not tool or not (name_of(tool) and tool[0] != "/"):
        return None
    escaped = "".join(f"[{character}]" if character in "*?[" else character for character in tool)
    return None if "]" in tool or "[[" in escaped else _text(escaped)


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _text(text: str) -> str:
    """A basic string of TOML, which is JSON's but for one character. What is no Unicode is `?`, in a glob any one."""
    sound = text.encode("utf-8", "replace").decode()
    return json.dumps(sound, ensure_ascii=False).replace("\x7f", "\\u007f")


def _plain(text: str) -> str:
    """A text within a comment."""
    return text if text.isprintable() else _text(ascii(text))
