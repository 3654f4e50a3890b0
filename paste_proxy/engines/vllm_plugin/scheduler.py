"""vLLM's own scheduler with load shaping around it: the methods in which it is told of something."""

import logging
from collections.abc import Callable
from typing import Any

from paste_proxy.engines.vllm_plugin.parking import Parking, is_parked
from paste_proxy.engines.vllm_plugin.probe import engine_version
from paste_proxy.engines.vllm_plugin.settings import Settings
from paste_proxy.engines.vllm_plugin.shaping import LoadShaping
from paste_proxy.errors import OurFault

_LOG = logging.getLogger("vllm.paste")
"""Below vLLM's logger, which has what writes it."""
_STATE = (
    *("waiting", "kv_holding_waiting", "running", "requests", "policy"),
    *("kv_cache_manager", "encoder_cache_manager", "max_num_active_reqs", "num_waiting_for_streaming_input"),
)


def shaped(base: type[Any], settings: Settings) -> type[Any]:
    """The scheduler class `base`, shaped."""
    if getattr(base, "paste_shaped", False):
        return base
    return type(f"Paste{base.__name__}", (_Shaped, base), {"paste_settings": settings})


class _Shaped:
    """Goes before a scheduler in the order of its bases."""

    paste_shaped = True
    paste_settings: Settings

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        missing = [name for name in _STATE if not hasattr(self, name)]
        if missing:
            raise OurFault(f"vLLM {engine_version()} is not supported: its scheduler has no {', '.join(missing)}")
        this: Any = self
        self.paste_parking = Parking(self, this.max_num_active_reqs)
        self.paste_shaping = LoadShaping(self, self.paste_settings, self.paste_parking)
        _LOG.info("PASTE shapes the load of %s: %s", type(self).__name__, self.paste_settings)

    def schedule(self, *args: Any, **kwargs: Any) -> Any:
        """A step."""
        native: Any = super()
        self._paste(self.paste_shaping.before_step)
        try:
            scheduled = native.schedule(*args, **kwargs)
        finally:
            self.paste_shaping.as_native()
        self._paste(lambda: self.paste_shaping.after_step(scheduled))
        return scheduled

    def _enqueue_waiting_request(self, request: Any) -> None:
        """A request waits from now on."""
        native: Any = super()
        native._enqueue_waiting_request(request)
        self._paste(lambda: self.paste_shaping.came(request))

    def _handle_stopped_request(self, request: Any) -> bool:
        """Whether a request that has stopped is over."""
        native: Any = super()
        over: bool = native._handle_stopped_request(request)
        if not over and is_parked(request):
            self._paste(lambda: self.paste_parking.parked(request))
        return over

    def _update_request_as_session(self, session: Any, update: Any) -> None:
        """The next input of a session: if it was released, it is as computed as it was, and then not at all."""
        native: Any = super()
        computed = self.paste_parking.continues(session)
        if computed is not None:
            session.num_computed_tokens = computed
        native._update_request_as_session(session, update)
        if computed is not None:
            session.num_computed_tokens = 0

    def _free_request(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """A request is over."""
        native: Any = super()
        self._paste(lambda: self.paste_parking.over(request))
        self._paste(lambda: self.paste_shaping.ended(request))
        return native._free_request(request, *args, **kwargs)

    def paste_state(self) -> dict[str, Any]:
        """What load shaping has done, and the pressure now."""
        return {
            **self.paste_shaping.counts,
            **self.paste_parking.counts,
            "pressure": self.paste_shaping.pressure,
            "holding": self.paste_parking.holding,
        }

    def _paste(self, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception:  # noqa: BLE001 - the engine goes on as if the plug-in were not there
            self.paste_shaping.counts["faults"] += 1
            if self.paste_shaping.counts["faults"] == 1:
                _LOG.exception("PASTE: a fault in load shaping; the engine goes on by itself")
