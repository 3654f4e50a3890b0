"""The config of a run's sidecar: what the user's says, what the command line adds, and what the client needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paste_proxy.agents.wrap.client import SESSION_HEADER, Found, sidecar_name
from paste_proxy.config import Config, load_config
from paste_proxy.speculation.types import Mode

DEFAULT_CONFIG = Path("paste.toml")
_DRAIN_S = 1.0
"""When the sidecar is stopped its only client has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user asks of the sidecar."""

    config: Path | None = None
    """None: ./paste.toml if it is there."""
    mode: Mode | None = None
    policies: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


def setting(wish: Wish, found: Found, folder: Path) -> Config:
    """The config to serve with.

    Args:
        folder: names in `wish` are relative to it.

    Raises:
        InputFault: the user's config is wrong.
    """
    path = wish.config or (DEFAULT_CONFIG if (folder / DEFAULT_CONFIG).is_file() else None)
    base = load_config((folder / path).absolute()) if path is not None else Config()
    taken = {route.path for route in found.routes}
    servers = {sidecar_name(name): server for name, server in found.servers.items()}
    others = tuple(name for name in base.session_headers if name.lower() != SESSION_HEADER)
    speculation = base.speculation
    if wish.mode is not None:
        speculation = speculation.model_copy(update={"mode": wish.mode})
    return base.model_copy(
        update={
            "host": "127.0.0.1",
            "port": 0,
            "llm": (*found.routes, *(route for route in base.llm if route.path not in taken)),
            "mcp": {**base.mcp, **servers},
            "session_headers": (SESSION_HEADER, *others),
            "speculation": speculation,
            "policies": (*_there(wish.policies, folder), *base.policies),
            "patterns": (*base.patterns, *_there(wish.patterns, folder)),
            "drain_s": _DRAIN_S,
        }
    )


def _there(names: Sequence[str], folder: Path) -> tuple[str, ...]:
    return tuple(name if name.startswith("builtin:") else str((folder / name).absolute()) for name in names)
