"""A network of the view's own: this machine alone, with nobody else on it.

Standard library only: runs inside.
"""

import _socket
import fcntl

_UP_AND_RUNNING = 0x41
_SET_FLAGS, _SET_ADDRESS, _SET_MASK = 0x8914, 0x8916, 0x891C
_ELSEWHERE = ("192.0.2.1", 9)
"""An address that nobody has, for documentation (RFC 5737). No packet is sent to it."""


def own_address() -> str | None:
    """From which this machine would reach others; None if it reaches none."""
    asking = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    try:
        asking.connect(_ELSEWHERE)
        return str(asking.getsockname()[0])
    except OSError:
        return None
    finally:
        asking.close()


def begin(address: str | None) -> None:
    """Let servers on the local addresses be reached.

    Args:
        address: the machine's own. A host that has none but 127.0.0.1 looks up no names for those that ask only
            for addresses it can use (AI_ADDRCONFIG).
    """
    asking = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    fcntl.ioctl(asking.fileno(), _SET_FLAGS, _request(b"lo", _UP_AND_RUNNING.to_bytes(2, "little")))
    if address is not None:
        for request, value in ((_SET_ADDRESS, address), (_SET_MASK, "255.255.255.255")):
            internet = _socket.AF_INET.to_bytes(2, "little") + bytes(2) + _socket.inet_aton(value)
            fcntl.ioctl(asking.fileno(), request, _request(b"lo:0", internet))
    asking.close()


def _request(name: bytes, value: bytes) -> bytes:
    """An `ifreq`."""
    return name.ljust(16, b"\0") + value.ljust(24, b"\0")
