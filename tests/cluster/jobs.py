"""Jobs for engines; each is found by its name in other processes."""

import os
import signal
from pathlib import Path
from threading import Event

from paste_proxy.errors import InputFault
from paste_proxy.mining.engine import Engine
from paste_proxy.mining.mine import mine
from paste_proxy.mining.storage import dump_pool
from tests.mining.sessions import Script, Session


def square(number: int) -> int:
    return number * number


def refuses_two(number: int) -> int:
    if number == 2:
        raise InputFault("the job", "two", "another number")
    return number


def dies_at_two(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def never_ends(folder: str) -> None:
    """Leaves a file named by its process."""
    (Path(folder) / str(os.getpid())).touch()
    Event().wait()


def sessions() -> list[Session]:
    """Tasks that teach something."""
    return [_session(f"task{at}-trial{trial}", f"{at}{trial}") for at in range(12) for trial in range(2)]


def _session(name: str, number: str) -> Session:
    script = Script(name).user(f"look after {name}").call("find", {"name": name}, {"orders": [f"W{number}", "W0"]})
    return (
        script.call("order", {"id": f"W{number}"}, {"item": f"I{number}"}).call("item", {"id": f"I{number}"}, 1).end()
    )


def pool_of(engine: Engine) -> str:
    """The text of the pool that the sessions give on an engine."""
    return dump_pool(mine(sessions(), engine=engine))
