"""Where each kind of engine says what on its metrics page.

Of several names the first that is there counts: engines rename. Collectors on the way may write `_` for `:`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from paste_proxy.engines.kinds import EngineKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Names of what a load is made of; empty: the kind does not tell."""

    running: str
    waiting: str
    parked: tuple[str, str, str] | None = None
    """Name, label and its value of what is among those that wait, and waits for its client: no load."""
    kv_used: tuple[str, ...] = ()
    room: tuple[str, str | None] | None = None
    """Name of a replica's room for contexts, and the label that says how much; None: it is the value."""
    found: tuple[tuple[str, str], ...] = ()
    """Counters of prompt tokens: those found in the cache, and all of them."""
    found_share: tuple[str, ...] = ()
    """Where there are no counters."""

    def names(self) -> frozenset[str]:
        """All of them."""
        pairs = [name for pair in self.found for name in pair]
        extra = [told[0] for told in (self.parked, self.room) if told is not None]
        return frozenset((self.running, self.waiting, *extra, *self.kv_used, *pairs, *self.found_share))


FORMS: Mapping[EngineKind, Form] = {
    EngineKind.VLLM: Form(
        running="vllm:num_requests_running",
        waiting="vllm:num_requests_waiting",
        parked=("vllm:num_requests_waiting_by_reason", "reason", "deferred"),
        kv_used=("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
        room=("vllm:cache_config_info", "num_gpu_blocks"),
        found=(
            ("vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"),
            ("vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_queries_total"),
        ),
        found_share=("vllm:gpu_prefix_cache_hit_rate",),
    ),
    EngineKind.SGLANG: Form(
        running="sglang:num_running_reqs",
        waiting="sglang:num_queue_reqs",
        kv_used=("sglang:token_usage",),
        room=("sglang:max_total_num_tokens", None),
        found=(("sglang:cached_tokens_total", "sglang:prompt_tokens_total"),),
        found_share=("sglang:cache_hit_rate",),
    ),
    EngineKind.LLAMA_CPP: Form(
        running="llamacpp:requests_processing",
        waiting="llamacpp:requests_deferred",
        kv_used=("llamacpp:kv_cache_usage_ratio",),
    ),
    EngineKind.TGI: Form(running="tgi_batch_current_size", waiting="tgi_queue_size"),
    EngineKind.WORKER: Form(
        running="paste_worker_running",
        waiting="paste_worker_waiting",
        kv_used=("paste_worker_kv_used_ratio",),
        found=(("paste_worker_cached_prompt_tokens_total", "paste_worker_prompt_tokens_total"),),
    ),
}
