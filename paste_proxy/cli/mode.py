"""The option `--mode`."""

from typing import Annotated

import typer

from paste_proxy.speculation.types import Mode

_MODES = "off, observe or speculate"


def _mode(text: str) -> Mode:
    try:
        return Mode(text)
    except ValueError as fault:
        raise typer.BadParameter(f"{text!r}; expected {_MODES}") from fault


HowFar = Annotated[
    Mode | None,
    typer.Option(
        parser=_mode, metavar="[off|observe|speculate]", help="How far the sidecar may go, instead of the config's."
    ),
]
"""How far the sidecar may go; None: as far as the config says."""
