"""`paste-proxy doctor`: check config, upstreams, servers, policies, patterns and memory, and say what to mend.

It ends with 1 if a check failed and with 2 if there is no config to check.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.proxy.finding import Finding


def doctor(
    config: Annotated[Path | None, typer.Option(help="Config file; ./paste.toml if not given.")] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="As for serve: a host that other machines can reach is meant.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check what a config asks for and say what to mend."""
    import orjson

    fit, findings = _examine(config, allow_remote=allow_remote)
    failed = sum(finding.level == "fail" for finding in findings)
    if as_json:
        typer.echo(orjson.dumps({"ok": not failed, "findings": findings}).decode())
    else:
        typer.echo(_table(findings))
    if failed:
        raise typer.Exit(1 if fit else 2)


def _examine(path: Path | None, *, allow_remote: bool) -> "tuple[bool, list[Finding]]":
    """Whether there is a config, and what was found."""
    import asyncio

    from paste_proxy.cli.serve import log_to_stderr, read_config
    from paste_proxy.proxy.checkup import check_files
    from paste_proxy.proxy.finding import Finding, Level
    from paste_proxy.proxy.reach import check_endpoints
    from paste_proxy.proxy.staging_checkup import check_staging

    log_to_stderr("error")
    try:
        config = read_config(path)
    except InputFault as fault:
        return False, [Finding(Level.FAIL, "config", f"{fault.where}: {fault.found}", f"expected {fault.expected}")]
    return True, [
        Finding(Level.OK, "config", str(path or "paste.toml")),
        *check_files(config, allow_remote=allow_remote),
        *asyncio.run(check_endpoints(config)),
        *asyncio.run(check_staging(config)),
    ]


def _table(findings: "list[Finding]") -> str:
    width = max(len(finding.what) for finding in findings)
    return "\n".join(
        f"{finding.level.value:<4}  {finding.what:<{width}}  {finding.found}"
        + (f"\n{'':<{width + 8}}-> {finding.mend}" if finding.mend else "")
        for finding in findings
    )
