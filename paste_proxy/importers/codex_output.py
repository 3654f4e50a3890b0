"""How a tool call in Codex ended: told by an event beside the conversation, or only in the output's text."""

import re
from dataclasses import dataclass

from paste_proxy.events.signature import content
from paste_proxy.events.values import Json
from paste_proxy.importers.epoch import seconds
from paste_proxy.importers.said import result_of
from paste_proxy.wire.loose import mapping, string

_HEADER = 400
"""Characters within which the lines that Codex puts above an output end."""
_EXIT = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)")
_WALL = re.compile(r"Wall time: (\d+(?:\.\d+)?) seconds")
_NOT_RUN = re.compile(
    r"unsupported (?:custom tool )?call: |(?:MCP )?tool call error: |execution error: |aborted by user"
    r"|failed to parse function arguments: |(?:exec command|patch) rejected by user"
    r"|user (?:rejected|cancelled) MCP tool call"
)
"""How the words of Codex itself begin that stand in place of an output."""
_ABOVE = re.compile(r"\s*(?:(?:Chunk ID|Exit code|Wall time|Process|Original token count)[^\n]*\n)+Output:\n")


@dataclass(frozen=True, slots=True)
class Ended:
    """What an event said of a call; None where it said nothing."""

    failed: bool | None = None
    took_s: float | None = None
    result: Json = None
    """The result of an MCP server, as it gave it."""
    mcp: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the output that the LLM was given says."""

    result: Json
    failed: bool = False
    took_s: float | None = None


def ended_by(event: dict[str, Json]) -> tuple[str, Ended] | None:
    """Call id and end of a call, if the event is one that tells it."""
    match event.get("type"):
        case "item_completed":
            item = mapping(event.get("item"))
            call_id = string(item.get("id"))
            return (call_id, _of_item(item)) if call_id and "status" in item else None
        case "exec_command_end":
            failed = event.get("exit_code") not in (0, None)
            return string(event.get("call_id")), Ended(failed, _length(event.get("duration")))
        case "mcp_tool_call_end":
            result = mapping(event.get("result"))
            given = result.get("Ok")
            failed = "Err" in result or mapping(given).get("isError") is True
            return string(event.get("call_id")), Ended(failed, _length(event.get("duration")), given, mcp=True)
        case "patch_apply_end":
            return string(event.get("call_id")), Ended(event.get("success") is False)
        case _:
            return None


def outcome(output: Json) -> Outcome:
    """What an output says of its call. Older outputs are JSON within a text, with exit code and seconds."""
    if isinstance(output, dict):
        return Outcome(result_of(output.get("content")), output.get("success") is False)
    read = content(output) if isinstance(output, str) else None
    if isinstance(read, dict) and isinstance(read.get("metadata"), dict) and "output" in read:
        metadata = mapping(read["metadata"])
        failed = metadata.get("exit_code") not in (0, None)
        return Outcome(read["output"], failed, seconds(metadata.get("duration_seconds")))
    if not isinstance(output, str):
        return Outcome(result_of(output))
    above = output[:_HEADER].partition("Output:\n")[0]
    code, wall = _EXIT.search(above), _WALL.search(above)
    failed = code[1] != "0" if code else _NOT_RUN.match(output) is not None or _is_error(output)
    # a command that went on in the background tells of the wait, not of its run
    took = float(wall[1]) if wall and code and float(wall[1]) else None
    return Outcome(output, failed, took)


def _is_error(output: str) -> bool:
    """Whether it is the result of an MCP server that says so of itself."""
    result = content(_ABOVE.sub("", output, count=1))
    return isinstance(result, dict) and result.get("isError") is True


def mcp_result(ended: Ended, output: Json) -> Json:
    """The output as the tool gave it: of an MCP server without the lines that Codex puts above it."""
    if not ended.mcp or not isinstance(output, str):
        return output
    return ended.result if ended.result is not None else _ABOVE.sub("", output, count=1)


def _of_item(item: dict[str, Json]) -> Ended:
    failed = item.get("status") in ("failed", "declined") or item.get("error") is not None
    if item.get("type") != "McpToolCall":
        return Ended(failed)
    result = item.get("result")
    failed = failed or mapping(result).get("isError") is True
    return Ended(failed, _length(item.get("duration")), result, mcp=True)


def _length(duration: Json) -> float | None:
    told = mapping(duration)
    whole, rest = seconds(told.get("secs")), seconds(told.get("nanos"), per_second=1_000_000_000)
    return None if whole is None or rest is None else round(whole + rest, 6)
