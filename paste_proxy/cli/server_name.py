"""What an MCP server is called: the package or script that its command runs, not what launches it."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_LAUNCHERS = {
    "npx": (), "pnpx": (), "bunx": (), "uvx": (), "tsx": (), "ts-node": (), "node": (), "env": (), "sudo": (),
    "npm": ("exec", "x"), "pnpm": ("dlx", "exec"), "yarn": ("dlx", "exec"), "bun": ("run", "x"),
    "deno": ("run",), "uv": ("tool", "run"), "pipx": ("run",), "docker": ("run",), "podman": ("run",),
    "python": (), "pythonw": (), "pypy": (),
}  # fmt: skip
"""By name: the words that may stand between it and what it runs."""
_TAKES_VALUE = {
    "npx": ("-p", "--package", "-c", "--call", "--registry"),
    "npm": ("--package", "--registry"),
    "node": ("-r", "--require", "--import", "--loader", "-C"),
    "uvx": ("--from", "--with", "--python", "-p", "--index-url", "--index"),
    "uv": ("--from", "--with", "--python", "-p", "--directory", "--project", "--index-url", "--index"),
    "pipx": ("--spec", "--python", "--index-url"),
    "python": ("-W", "-X"),
    "env": ("-u", "-C"),
    "docker": ("-e", "--env", "-v", "--volume", "--mount", "--name", "--network", "-p", "--env-file", "-w", "-u"),
    "podman": ("-e", "--env", "-v", "--volume", "--mount", "--name", "--network", "-p", "--env-file", "-w", "-u"),
}
_SAYS_NOTHING = {"index", "main", "server", "cli", "app", "__main__", "bin", "build", "dist", "lib", "out", "src"}
_VERSION = re.compile(r"(?<=.)(@|==|~=|>=|<=|\[).*$")
_SUFFIX = re.compile(r"\.(exe|cmd|bat|py|pyz|js|mjs|cjs|ts|mts|sh|jar|git)$", re.IGNORECASE)
_NUMBERED = re.compile(r"\d+(\.\d+)*$")
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")


def server_name(command: Sequence[str]) -> str:
    """The name of the server that a command starts, such as `server-filesystem` for
    `npx -y @modelcontextprotocol/server-filesystem .`.
    """
    rest = list(command)
    while len(rest) > 1 and (launched := _launched(rest)):
        rest = launched
    return _plain(rest[0])


def _launched(command: list[str]) -> list[str]:
    """What a launcher's command runs; empty if the command is no launcher's, or it cannot be told."""
    launcher = _NUMBERED.sub("", _SUFFIX.sub("", PurePosixPath(command[0].replace("\\", "/")).name))
    words = _LAUNCHERS.get(launcher)
    if words is None:
        return []
    rest, valued = command[1:], _TAKES_VALUE.get(launcher, ())
    while rest and (rest[0].startswith("-") or rest[0] in words or (launcher == "env" and "=" in rest[0])):
        option = rest.pop(0)
        if option == "-m" and launcher.startswith("py"):
            return [rest[0].replace(".", "/")] if rest else []  # a module's last part may say nothing
        if option in valued or (option == "-c" and launcher.startswith("py")):
            rest = rest[1:]
    return rest


def _plain(package: str) -> str:
    """The last part of a package, path, image or address that says something, without its version."""
    parts = [part for part in package.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    names = [_SUFFIX.sub("", _VERSION.sub("", part.partition(":")[0])) for part in parts]
    telling = [name for name in names if name and name not in _SAYS_NOTHING]
    return _UNFIT.sub("-", (telling or names or ["server"])[-1]).strip("-") or "server"
