"""Host names: which mean this machine alone, and which a request may call the sidecar by."""

import ipaddress
import socket
from collections.abc import Callable

from paste_proxy.tools.loopback import is_loopback


def own_hosts(host: str) -> Callable[[str], bool]:
    """Tells whether a request's host name is this machine's.

    Bound to loopback only loopback names are. Otherwise any address is, since a page can only point names.
    """
    if is_loopback(host):
        return is_loopback
    names = {host.lower(), socket.gethostname().lower()}

    def own(name: str) -> bool:
        return is_loopback(name) or name.lower() in names or _is_address(name)

    return own


def host_of(authority: str) -> str:
    """The host of a `Host` header, without port and brackets."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.rpartition(":")[0] if authority.count(":") == 1 else authority


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
