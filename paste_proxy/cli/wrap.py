"""`paste-proxy wrap`: run a known agent behind a sidecar of its own."""

from pathlib import Path
from typing import Annotated

import typer

from paste_proxy.cli.mode import HowFar
from paste_proxy.cli.named import MorePatterns, MorePolicies


def wrap(
    command: Annotated[list[str], typer.Argument(metavar="CMD...", help="The agent as you would start it.")],
    config: Annotated[Path | None, typer.Option(help="Config file; ./paste.toml if it is there.")] = None,
    mode: HowFar = None,
    policy: MorePolicies = None,
    pattern: MorePatterns = None,
    substitute: Annotated[
        bool,
        typer.Option(
            "--substitute",
            help="With --mode speculate, and a policy that it brings along: "
            "let hooks put results run ahead in place of the built-in shell's own runs. It covers little: "
            "pipelines of find, grep, ls, du, wc, sort and their like with common options, plain or quoted words, no "
            "wildcards outside of quotes, on files of the working folder; in Claude Code with -p and all of Bash "
            "allowed, in gemini-cli with -p, --yolo and an API key; on Linux; and only without permission rules, other "
            "hooks, plugins, policies or anything else not known to leave commands alone (a note at the end says what "
            "stood in the way). A hook costs each shell command about 0.1 s, in gemini-cli 0.2 s, and 0.7 s where a "
            "result is put in place: it pays for slow commands only.",
        ),
    ] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the account there as JSON.")] = None,
) -> None:
    """Run an agent behind a sidecar of its own.

    Known are gemini-cli, qwen-code, Codex and Claude Code. The agent's configuration is turned for this run
    only; its files stay as they are, and so does its exit code. At the end, stderr says where the time went.
    What it leaves running in the background has no sidecar from then on.
    """
    import os
    from time import monotonic

    began = monotonic()
    from paste_proxy.agents.wrap.client import User
    from paste_proxy.agents.wrap.run import Plan, command_line, run
    from paste_proxy.agents.wrap.setting import Wish
    from paste_proxy.proxy.named_files import policy_of

    wish = Wish(config=config, mode=mode, policies=tuple(policy or ()), patterns=tuple(pattern or ()))
    user = User(command=command_line(command), home=Path.home(), folder=Path.cwd(), env=dict(os.environ))
    raise typer.Exit(run(user, Plan(wish=wish, policy_of=policy_of, began=began, substitute=substitute, report=json)))
