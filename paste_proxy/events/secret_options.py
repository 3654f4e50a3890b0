"""Secrets that only the program before them betrays: `curl -u user:SECRET`, `mysql -pSECRET`.

The same letters mean other things to other programs (`docker run -u 1000:1000`), so an option is looked at only in
the command that its program begins. A shell's variable or a placeholder in the secret's place is none.
"""

import re
from collections.abc import Iterator

_LONGEST_COMMAND = 2_000
_COMMAND_ENDS = re.compile(r"(?<!\\)\n | && | \|\| | [|;](?=\s|\Z)", re.X)

_ALONE = r"""
    (?P<quote> \\*["'] )? (?! [$<{*`] )
    (?P<secret> (?(quote) [^\n]+?(?= (?P=quote) | \n | \Z ) | [^\s"'`\\]+ ) )
"""
_AFTER_USER = _ALONE.replace(")?", r""" )? [^\s:"'`$\\]* :""", 1)
_NO_PORT = r"(?! \d+:\d )"
_LONG = r"--password [\s=] \s*"
_REGISTRIES = "|".join(f"(?<={program}[ ])" for program in ("docker", "podman", "buildah", "skopeo", "registry"))

_PROGRAMS = {
    "curl": (r"curl\b", rf"(?: -[a-zA-Z]*[uU] \s* | --(?:proxy-)?user [\s=] \s* ) {_AFTER_USER}"),
    "wget": (r"wget\b", rf"--(?:http-|ftp-|proxy-)?password [\s=] \s* {_ALONE}"),
    "mysql": (r"mysql\w*", rf"(?: -p | --password= ) {_NO_PORT} {_ALONE}"),
    "mariadb": (r"mariadb[\w-]*", rf"(?: -p | --password= ) {_NO_PORT} {_ALONE}"),
    "mongo": (r"mongo(?:sh|dump|restore|export|import)?\b", rf"(?: -p \s* | {_LONG} ) {_NO_PORT} {_ALONE}"),
    "redis-cli": (r"redis-cli\b", rf"(?: -a | --pass ) \s+ {_ALONE}"),
    "sshpass": (r"sshpass\b", rf"-p \s* {_ALONE}"),
    "login": (rf"(?:{_REGISTRIES}) login\b", rf"(?: -p \s* | {_LONG} ) {_ALONE}"),
}
"""By the literal trace of a program: how it stands in a text, and its options that hold a secret."""
_RULES = tuple(
    (trace, re.compile(r"(?<!\w)" + program, re.X | re.A | re.I), re.compile(r"(?<! \S )" + options, re.X | re.A))
    for trace, (program, options) in _PROGRAMS.items()
)
TRACES = tuple(_PROGRAMS)
"""In lower case; a text without any of them holds no secret of this kind."""


def option_spans(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Start and end of the secrets among the options of commands in a text, in no order.

    Args:
        lowered: the text in lower case, letter by letter.
    """
    for trace, program, options in _RULES:
        place = lowered.find(trace)
        while place >= 0:
            end = place + len(trace)
            if program.match(text, place):
                start, end = end, _end_of_command(text, end)
                yield from (found.span("secret") for found in options.finditer(text, start, end))
            place = lowered.find(trace, end)


def _end_of_command(text: str, start: int) -> int:
    most = min(len(text), start + _LONGEST_COMMAND)
    found = _COMMAND_ENDS.search(text, start, most)
    return found.start() if found else most
