"""What a program wrote, as a model is shown it: of much, the beginning and the end."""

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
