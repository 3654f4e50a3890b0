"""The LLM engines that tell their load."""

from enum import StrEnum


class EngineKind(StrEnum):
    """By the form of their metrics."""

    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_CPP = "llama.cpp"
    TGI = "tgi"
    WORKER = "worker"
    """Ours."""
    OTHER = "other"
    """One that says nothing: what passes through here is counted."""
