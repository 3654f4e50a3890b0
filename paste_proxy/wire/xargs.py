"""What a co-scheduler inside of vLLM is told with a request: `vllm_xargs`, which vLLM hands on to its scheduler."""

from collections.abc import Mapping

from paste_proxy.events.values import Json, dumps, loads

_MEMBER = b'"vllm_xargs"'


def with_xargs(body: bytes, told: Mapping[str, Json]) -> bytes | None:
    """A request with `vllm_xargs` as its last member, its other bytes as they are; None: it has some of its own, or is
    no JSON object."""
    head = body.rstrip(b" \t\r\n")
    if _MEMBER in head or not head.startswith(b"{") or not head.endswith(b"}"):
        return None
    try:
        loads(head)
    except ValueError:
        return None
    inside = head[1:-1].strip(b" \t\r\n")
    return head[:-1] + (b"," if inside else b"") + _MEMBER + b":" + dumps(dict(told)) + b"}"
