"""The background that mining starts from, as commands name it; and `mine --as-background`, which learns one."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.cli.mined_from import tell_known
from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.mining.background import Background

BUILTIN = "builtin:background"
NONE = "none"
BackgroundFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help=f"What mining starts from: a file of `mine --as-background`, {BUILTIN} (default) or {NONE}.",
    ),
]


def read_background(name: str | None) -> "Background":
    """The background of a file or `builtin:` name, the package's own unless there is one.

    Raises:
        InputFault: it cannot be read, or is malformed.
    """
    from paste_proxy.mining.background import NO_BACKGROUND, parse_background
    from paste_proxy.share import find
    from paste_proxy.text_file import read_text

    if name == NONE:
        return NO_BACKGROUND
    path = find("backgrounds", name or BUILTIN)
    return parse_background(read_text(path, "a background"), str(path))


def tell_learned_from(background: "Background", sessions: "Sequence[RecordedSession]") -> None:
    """Say on stderr how many of the sessions to judge a background was learned from."""
    mend = "--background names another, or none"
    tell_known("the background was learned from", sessions, background.ids, background.tasks, mend)


def learn(sets: "list[list[RecordedSession]]", out: Path) -> str:
    """The text of the background that sets of sessions teach; says what it holds.

    Raises:
        InputFault: one set alone tells nothing of others.
    """
    from paste_proxy.mining.background import dump_background
    from paste_proxy.mining.learn_background import learn_background

    if len(sets) < 2:
        raise InputFault("--as-background", "one set of sessions", "several files or folders, each a set of its own")
    background = learn_background(sets)
    weights = len(background.next) + len(background.ever) + len(background.marks)
    sessions = sum(map(len, sets))
    typer.echo(
        f"{out}: {counted(weights, 'weight')} from {counted(sessions, 'session')} of {counted(len(sets), 'set')}"
    )
    return dump_background(background)
