"""The jobs of mining on a Ray cluster. Each of its machines needs paste-proxy, of the same version."""

import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from paste_proxy import __version__
from paste_proxy.errors import InputFault, OurFault
from paste_proxy.mining.engine import Job, Result

_A_CLUSTER = "a running Ray cluster, and its token in RAY_AUTH_TOKEN if it wants one"


class OnRay:
    """An engine that runs each job as a Ray task.

    Args:
        address: of the cluster, `local` for one of this machine that lasts as long as the `map`; None for the one
            that RAY_ADDRESS names, else one that runs on this machine, else `local`.

    Raises:
        InputFault: Ray is not installed.
    """

    def __init__(self, address: str | None = None) -> None:
        self._address = address
        self._ray = _ray()

    def map(self, function: Callable[[Job], Result], jobs: Sequence[Job]) -> Iterator[Result]:
        """As `Engine.map`.

        Raises:
            InputFault: the cluster cannot be reached, or its machines have another paste-proxy.
            OurFault: Ray could not run a job to its end.
        """
        ray, ours = self._ray, not self._ray.is_initialized()
        if ours:
            self._join()
        try:
            task = ray.remote(_done)
            results = [task.remote(__version__, function, job) for job in jobs]
            for result in results:
                yield ray.get(result)
        except ray.exceptions.RayError as fault:
            raise self._of_job(fault) from fault
        finally:
            if ours:
                ray.shutdown()

    def _of_job(self, fault: Any) -> BaseException:
        """What the job raised, or why it could not be run."""
        cause: BaseException = getattr(fault, "cause", None) or fault
        if not isinstance(cause, self._ray.exceptions.RayError):
            return cause
        return OurFault(
            f"Ray could not run a job of the mining to its end ({_first_line(cause)}); each of its machines needs "
            f"paste-proxy {__version__} and memory for the calls learned from"
        )

    def _join(self) -> None:
        try:
            self._ray.init(self._address, log_to_driver=False, logging_level="error", include_dashboard=False)
        except (ConnectionError, ValueError, RuntimeError) as fault:
            where = self._address or os.environ.get("RAY_ADDRESS") or "ray"
            raise InputFault(where, f"no cluster answers ({_first_line(fault)})", _A_CLUSTER) from fault


def _done(version: str, function: Callable[[Job], Result], job: Job) -> Result:
    if version != __version__:
        raise InputFault("Ray", f"a machine with paste-proxy {__version__}", f"{version}, as here")
    return function(job)


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        return import_module("ray")
    except ImportError as fault:
        raise InputFault("--engine ray", "Ray is not installed", "pip install 'paste-proxy[cluster]'") from fault


def _first_line(fault: BaseException) -> str:
    return str(fault).strip().partition("\n")[0]
