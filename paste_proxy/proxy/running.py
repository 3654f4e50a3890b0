"""Whether what holds a port is a sidecar, and one of the same config."""

from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException

from paste_proxy.config import Config
from paste_proxy.events.values import Json
from paste_proxy.proxy.index import paths
from paste_proxy.wire.loose import mapping, read

_ANSWERS_S = 2.0


def runs_there(config: Config) -> str | None:
    """What the sidecar that answers at the config's address says it is; None where none of this config does."""
    found = _index(config.host, config.port)
    if "paste_proxy" not in found or not paths(config).items() <= mapping(found.get("paths")).items():
        return None
    return f"paste-proxy {found['paste_proxy']}, mode {found.get('mode')}"


def _index(host: str, port: int) -> Mapping[str, Json]:
    with suppress(OSError, HTTPException):
        connection = HTTPConnection(host, port, timeout=_ANSWERS_S)
        try:
            connection.request("GET", "/paste/v1/")
            return mapping(read(connection.getresponse().read()))
        finally:
            connection.close()
    return {}
