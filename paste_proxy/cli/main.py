"""The commands of `paste-proxy` and how faults become exit codes.

Exit codes: 0 done, 1 a check failed, 2 usage or configuration. Command modules import what they need when
they run, so that starting any of them is quick.
"""

import sys

import typer

from paste_proxy import __version__
from paste_proxy.cli.audit import audit
from paste_proxy.cli.bench import bench
from paste_proxy.cli.demo import demo
from paste_proxy.cli.doctor import doctor
from paste_proxy.cli.evaluate import evaluate
from paste_proxy.cli.explain import explain
from paste_proxy.cli.import_ import import_
from paste_proxy.cli.mcp import mcp
from paste_proxy.cli.mine import mine
from paste_proxy.cli.policies import policies
from paste_proxy.cli.serve import serve
from paste_proxy.cli.simulate import simulate
from paste_proxy.cli.speedup import speedup
from paste_proxy.cli.standard_streams import hold_standard_streams, let_stdout_go
from paste_proxy.cli.tools import tools
from paste_proxy.cli.wrap import wrap
from paste_proxy.errors import InputFault, PasteError

app = typer.Typer(
    name="paste-proxy",
    help="Run an agent's next tool calls while its LLM still talks.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (demo, serve, mcp, tools, mine, evaluate, explain, speedup, simulate, doctor, audit):
    app.command()(command)
app.command(context_settings={"allow_interspersed_args": False})(wrap)
app.command("import")(import_)
app.add_typer(policies, name="policies")
app.add_typer(bench, name="bench")


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    """A sidecar between any LLM agent and its LLM and tool endpoints."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def run() -> None:
    """Entry point: a fault is one clear sentence on stderr, never a traceback."""
    hold_standard_streams()
    try:
        app()
    except PasteError as fault:
        typer.echo(f"paste-proxy: {fault}", err=True)
        sys.exit(2 if isinstance(fault, InputFault) else 1)
    except OSError as fault:
        let_stdout_go()
        if not isinstance(fault, BrokenPipeError):
            typer.echo(f"paste-proxy: {fault}", err=True)
        sys.exit(1)
