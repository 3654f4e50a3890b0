"""How a speculative command stays out of the way of what the agent waits for, and comes back when it is waited for.

Standard library only: runs inside.
"""

from paste_proxy.staging import kernel

_BEST_EFFORT, _IDLE = 0, 3


def hush() -> None:
    """Everything started from here on runs when nobody else wants the CPU or the disk."""
    kernel.set_io_class(0, _IDLE)


def loud() -> None:
    """All of the view's processes run like any others, from now on."""
