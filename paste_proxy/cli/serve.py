"""`paste-proxy serve`: run the sidecar."""

import logging
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO, cast

import typer

from paste_proxy.cli.mode import HowFar
from paste_proxy.cli.standard_streams import Lossy
from paste_proxy.errors import InputFault
from paste_proxy.speculation.types import Mode

if TYPE_CHECKING:
    from paste_proxy.config import Config

DEFAULT_CONFIG = Path("paste.toml")
_MINIMAL = 'a file with at least\n\n    [[llm]]\n    path = "/v1"\n    upstream = "https://api.openai.com/v1"\n'


def serve(
    config: Annotated[Path | None, typer.Option(help="Config file; ./paste.toml if not given.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port instead of the config's; 0: any.")] = None,
    mode: HowFar = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow a host that other machines can reach.")
    ] = False,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], typer.Option(help="Least level logged.")
    ] = "info",
) -> None:
    """Run the sidecar between agents and their LLM and tool endpoints."""
    from paste_proxy.proxy.server import run_server

    log_to_stderr(log_level)
    run_server(with_options(read_config(config), port=port, mode=mode), allow_remote=allow_remote, announce=_say)


def read_config(path: Path | None) -> "Config":
    """The config at `path`, or of ./paste.toml.

    Raises:
        InputFault: there is none, or it is wrong.
    """
    from paste_proxy.config import load_config

    if path is None and not DEFAULT_CONFIG.is_file():
        raise InputFault(str(DEFAULT_CONFIG), "no such file in this folder, and no --config given", _MINIMAL)
    return load_config(path or DEFAULT_CONFIG)


def with_options(config: "Config", *, port: int | None, mode: Mode | None) -> "Config":
    """The config with what the command line says instead."""
    if port is not None:
        config = config.model_copy(update={"port": port})
    if mode is not None:
        config = config.model_copy(update={"speculation": config.speculation.model_copy(update={"mode": mode})})
    return config


def log_to_stderr(level: str) -> None:
    """Send log lines to stderr: coloured on a terminal, JSON elsewhere."""
    import structlog

    form = (
        structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer(sort_keys=False)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            form,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", Lossy())),
    )
    logging.basicConfig(stream=sys.stderr, level=level.upper(), format="%(levelname)s %(name)s %(message)s")


def _say(line: str) -> None:
    with suppress(OSError):  # whether anybody reads it or not, it serves
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
