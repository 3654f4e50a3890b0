"""A sidecar that runs an agent's next tool calls while its LLM still talks, without changing what it sees."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paste_proxy.agents.sdk import Sidecar as Sidecar
    from paste_proxy.agents.sdk_stats import Stats as Stats

__version__ = "0.1.0"
__all__ = ["Sidecar", "Stats", "__version__"]


def __getattr__(name: str) -> object:
    """The SDK's names, loaded when first asked for, so that importing the package stays cheap."""
    if name == "Sidecar":
        from paste_proxy.agents.sdk import Sidecar

        return Sidecar
    if name == "Stats":
        from paste_proxy.agents.sdk_stats import Stats

        return Stats
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
