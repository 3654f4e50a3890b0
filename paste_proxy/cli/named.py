"""The options `--policy` and `--pattern` of commands that have a config, too."""

from typing import Annotated

import typer

MorePolicies = Annotated[
    list[str] | None, typer.Option(metavar="FILE", help="A policy before the config's; builtin:NAME too.")
]
MorePatterns = Annotated[
    list[str] | None, typer.Option(metavar="FILE", help="A pattern pool beside the config's; builtin:NAME too.")
]
