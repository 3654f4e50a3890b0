"""A call that the sidecar has been asked about: waiting for its word, and running it ourselves."""

from contextvars import Token
from types import TracebackType
from typing import Any, Self

from paste_proxy.agents.sdk_call import Call, Own, Take, decision, wait_in_task, wait_in_thread
from paste_proxy.agents.sdk_jobs import INSIDE, Job
from paste_proxy.agents.sdk_link import Link
from paste_proxy.agents.sdk_preview import preview
from paste_proxy.agents.sdk_stats import Stats
from paste_proxy.events.result import Status


class AskedCall:
    """One call on its way. Used as a `with` block it is the agent's own run of it, whose end is reported."""

    def __init__(self, link: Link, call: Call, patience_s: float, stats: Stats) -> None:
        self._link, self._call, self._patience_s, self._stats = link, call, patience_s, stats
        self._token: Token[bool] | None = None
        self.value: Any = None
        """What the tool returned, put here inside the block."""

    def wait(self) -> Job | None:
        """The job whose value is the call's; None: run it."""
        try:
            return self._decided(wait_in_thread(decision(self._call, self._patience_s)))
        except Exception:  # noqa: BLE001  ours: the call goes on alone
            self._stats.add("broken")
            return None
        except BaseException:
            self._abandon()
            raise

    async def wait_in_task(self) -> Job | None:
        """`wait`, for an asyncio task."""
        try:
            return self._decided(await wait_in_task(decision(self._call, self._patience_s)))
        except Exception:  # noqa: BLE001  ours: the call goes on alone
            self._stats.add("broken")
            return None
        except BaseException:
            self._abandon()
            raise

    def _decided(self, answer: Own | Take) -> Job | None:
        if isinstance(answer, Take):
            if not answer.job.ended.cancelled():
                self._stats.add(answer.outcome)
                return answer.job
            self._link.missing(self._call)
            answer = Own("missing")
        if answer.why != "told":
            self._stats.add(answer.why)
        return None

    def _abandon(self) -> None:
        self._call.answer.cancel()
        self._link.done(self._call, None, "")

    def __enter__(self) -> Self:
        self._stats.add("run")
        self._token = INSIDE.set(True)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, _: TracebackType | None) -> None:
        if self._token is not None:
            INSIDE.reset(self._token)
        if fault is None:
            status, shown = self._call.tool.status_of(self.value), self.value
        else:
            status, shown = (Status.ERROR if isinstance(fault, Exception) else None), fault
        text = preview(shown) if status is not None and self._link.up else ""
        self._link.done(self._call, status, text)
