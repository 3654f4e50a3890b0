"""The entry points that vLLM calls, in each of its processes: `vllm.general_plugins` and `vllm.endpoint_plugins`.

Nothing happens, and nothing of vLLM is looked at, unless `PASTE_VLLM=1`. Load shaping needs no more than that; the
tool cache has routes, for which vLLM wants to be told by name: `VLLM_PLUGINS=paste`. Where it is switched on and cannot
be had, the server does not start, and says why.
"""

import os
from typing import TYPE_CHECKING, Any

from paste_proxy.engines.vllm_plugin.settings import read, switched_on

if TYPE_CHECKING:
    from paste_proxy.engines.vllm_plugin.endpoint import Off, ToolCacheEndpoint


def register() -> None:
    """Have every scheduler of this process shaped; to be called any number of times.

    Raises:
        InputFault: a setting cannot be read.
        OurFault: this vLLM is not supported.
    """
    if not switched_on(os.environ):
        return
    from paste_proxy.engines.vllm_plugin.probe import check_engine, found
    from paste_proxy.engines.vllm_plugin.scheduler import shaped

    settings = read(os.environ)
    check_engine()
    config, core = found("vllm.config.scheduler:SchedulerConfig"), found("vllm.v1.engine.core:EngineCore")
    if hasattr(core, "paste_state"):
        return
    native = config.get_scheduler_cls
    config.get_scheduler_cls = lambda self: shaped(native(self), settings)
    core.paste_state = _state


def endpoints() -> "ToolCacheEndpoint | Off":
    """The endpoint plug-in.

    Raises:
        InputFault: a setting cannot be read.
        OurFault: this vLLM is not supported.
    """
    from paste_proxy.engines.vllm_plugin.endpoint import Off, ToolCacheEndpoint

    return ToolCacheEndpoint(read(os.environ)) if switched_on(os.environ) else Off()


def _state(core: Any) -> dict[str, Any]:
    """A utility of the engine's process, which API servers ask by its name."""
    state: dict[str, Any] = core.scheduler.paste_state()
    return state
