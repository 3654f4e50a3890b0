"""A sidecar that runs an agent's next tool calls while its LLM still talks, without changing what it sees."""

__version__ = "0.1.0"
