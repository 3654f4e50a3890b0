"""What a tool says: an MCP result of one text. Of much that a program wrote, the beginning and the end."""

from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.values import dumps

_HEAD = 10_000
_TAIL = 20_000


def left_out(output: bytes) -> int:
    """Bytes of the middle that `shown` is without."""
    return max(0, len(output) - _HEAD - _TAIL)


def shown(output: bytes) -> str:
    """All of it, or beginning and end with a line between them. What is no UTF-8 shows as U+FFFD."""
    if not left_out(output):
        return output.decode("utf-8", "replace")
    gap = f"[... {left_out(output)} bytes left out; send the output to a file and read that in parts ...]"
    return "\n".join((output[:_HEAD].decode("utf-8", "replace"), gap, output[-_TAIL:].decode("utf-8", "replace")))


def result_of(text: str, *, failed: bool = False) -> ToolResult:
    """The raw JSON of a `tools/call` result. A name that is no UTF-8 is shown with its bytes escaped."""
    said = text.encode("utf-8", "backslashreplace").decode()
    body = dumps({"content": [{"type": "text", "text": said}], "isError": failed})
    return ToolResult(body=body, status=Status.ERROR if failed else Status.OK)
