"""One run of a client behind a sidecar of its own, from its configuration to the account of its time."""

import os
import shutil
import sys
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

from paste_proxy.agents.wrap.account import Account
from paste_proxy.agents.wrap.client import Behind, Client, Found, Prepared, User
from paste_proxy.agents.wrap.hooks.ahead import with_reading_shell
from paste_proxy.agents.wrap.known import recognise
from paste_proxy.agents.wrap.leavings import RunFolder, back, reclaim_all, run_folder
from paste_proxy.agents.wrap.setting import Wish, setting
from paste_proxy.agents.wrap.sidecar import Sidecar, last_words
from paste_proxy.agents.wrap.terminal import Terminal
from paste_proxy.config import Config
from paste_proxy.errors import InputFault
from paste_proxy.events.values import dumps
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Mode

_NOTHING_IN_PLACE = "--substitute puts results in place with --mode speculate only"
_LOOPBACK = "127.0.0.1"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be run, and how."""

    wish: Wish
    policy_of: Callable[[Config], Policy] = lambda _: Policy()
    """Reads what a config names; InputFault where a sidecar would not take it, before anything is started."""
    began: float = field(default_factory=monotonic)
    """When the wrapper began, monotonic."""
    substitute: bool = False
    report: Path | None = None
    """Where the account is written as JSON."""


def run(user: User, plan: Plan) -> int:
    """Run the user's command behind a sidecar; the exit code is the command's.

    The run is over when the program that was started ends. What that leaves in the background, be it a part of the
    client, has no sidecar from then on: nobody could tell it from a server that the agent has started for itself.

    The account goes to stderr: stdout belongs to the client.

    Raises:
        InputFault: the command is no known client's or cannot be found, or a configuration is wrong.
        OurFault: the sidecar did not start; the client was not started either.
    """
    client = recognise(user.command)
    _there(user)
    found = client.find(user)
    config = setting(plan.wish, found, user.folder)
    if plan.substitute and found.obstacle:
        note = f"no command's result is put in place, as --substitute would have it: {found.obstacle}"
        plan, found = replace(plan, substitute=False), replace(found, notes=(*found.notes, note))
    if plan.substitute:
        config = with_reading_shell(config, client.name, user)
        if config.speculation.mode is not Mode.SPECULATE:
            found = replace(found, notes=(*found.notes, _NOTHING_IN_PLACE))
    policy = plan.policy_of(config)
    found = replace(found, notes=(*found.notes, *reclaim_all()))
    with Terminal() as terminal, run_folder() as folder:
        account = _behind_sidecar(terminal, client, user, found, config, plan, folder)
    account = replace(account, ruled=lambda tool: policy.of_tool(tool).named)
    for line in account.lines():
        with suppress(OSError):
            sys.stderr.write(line + "\n")
    if plan.report is not None:
        _write(user.folder / plan.report, account)
    return account.code


def _write(path: Path, account: Account) -> None:
    """The exit code is the client's, whatever becomes of the report."""
    try:
        path.write_bytes(dumps(account.as_json()) + b"\n")
    except OSError as fault:
        with suppress(OSError):
            sys.stderr.write(f"paste-proxy: the account could not be written to {path}: {fault.strerror}\n")


def _behind_sidecar(
    terminal: Terminal, client: Client, user: User, found: Found, config: Config, plan: Plan, folder: RunFolder
) -> Account:
    sidecar = Sidecar.start(config, folder, folder=user.folder, env=_for_sidecar(user, found))
    try:
        behind = Behind(url=sidecar.url, session=f"wrap-{uuid.uuid4().hex[:12]}", substitute=plan.substitute)
        home = folder.path / "home"
        home.mkdir(mode=0o700)
        prepared = client.prepare(user, found, behind, home)
        folder.listed(prepared.mirrors, prepared.rewritten)
        holding = (sidecar.lifeline, folder.lock)
        started = monotonic()
        try:
            code = terminal.run(prepared.command, _past_proxies(prepared), holding=holding)
            wall = monotonic() - started
        except OSError as fault:
            raise InputFault(prepared.command[0], f"cannot be started ({fault.strerror})", "a program") from fault
        notes = [*found.notes, *back(prepared.mirrors, prepared.rewritten)]
        stats = sidecar.stats()
        if not stats and sidecar.over:
            notes.append(f"the sidecar ended during the run: {last_words(sidecar.log)}")
        return Account(
            client=client.name, code=code, startup_s=started - plan.began, wall_s=wall, stats=stats, notes=tuple(notes)
        )
    finally:
        sidecar.stop()


def _there(user: User) -> None:
    """Raises InputFault where the command's first word leads to no program."""
    program = user.command[0]
    path = user.folder / program if os.sep in program else program
    if shutil.which(str(path), path=user.env.get("PATH", os.defpath)) is None:
        raise InputFault(program, "is no program that can be started", "a command as it would be typed without wrap")


def _for_sidecar(user: User, found: Found) -> dict[str, str]:
    """The sidecar's environment, and so that of the servers it starts: what the client would give them."""
    if found.server_env is None:
        return dict(user.env)
    return {**found.server_env, **{name: value for name, value in user.env.items() if _needed(name)}}


def _needed(name: str) -> bool:
    return name.lower() in (*_PROXIES, "no_proxy", "path", "home", "tmpdir") or name.startswith(("PYTHON", "SSL_CERT_"))


def _past_proxies(prepared: Prepared) -> dict[str, str]:
    """The client's environment; what is sent to the sidecar goes through no proxy."""
    env = dict(prepared.env)
    if any(env.get(name) or env.get(name.upper()) for name in _PROXIES):
        for name in ("no_proxy", "NO_PROXY"):
            env[name] = ",".join(filter(None, (env.get(name, ""), _LOOPBACK)))
    return env


def command_line(words: Sequence[str]) -> tuple[str, ...]:
    """The client's command out of what follows the options: a leading `--` only ends those."""
    return tuple(words[1:] if words[:1] == ["--"] else words)
