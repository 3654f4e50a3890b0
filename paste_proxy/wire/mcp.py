"""What the sidecar must understand of the Model Context Protocol, in both of its eras.

Up to 2025-11-25 a client opens a session with `initialize`; from 2026-07-28 on every request stands
alone and says its protocol version in `_meta`. That key decides, request by request.
"""

from dataclasses import dataclass
from enum import StrEnum

from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.values import Json
from paste_proxy.wire.digest import whole_arguments
from paste_proxy.wire.jsonrpc import Request
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import read, string

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
"""The `_meta` key by which a request of the stateless era is known."""

_PLAIN = {"name", "arguments", "_meta"}
_CALL_IDS = ("callId", "claudecode/toolUseId")
_SESSIONS = ("sessionId",)
_TURN_METADATA = "x-codex-turn-metadata"


class Era(StrEnum):
    """How client and server know each other."""

    SESSION = "session"
    STATELESS = "stateless"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolCall:
    """A `tools/call` request."""

    id_raw: bytes
    name: str
    arguments: dict[str, Json]
    era: Era
    plain: bool
    """An ordinary call. False for what may have another kind of answer or goes on with an earlier
    exchange (a task, `inputResponses`, arguments that cannot be read): it must be run, never served."""
    progress_token: bytes | None = None
    """Raw JSON of the token under which the client wants to hear of progress."""
    call_id: str | None = None
    """The LLM's id of the call, where the client passes it on."""
    session: str | None = None
    """The agent's session, where the client passes it on."""


def era_of(params_raw: bytes | None) -> Era:
    """The era of a request, by its own `_meta`."""
    return Era.STATELESS if PROTOCOL_VERSION in _meta(params_raw) else Era.SESSION


def tool_call(request: Request) -> McpToolCall | None:
    """The tool call in a request; None if it is none, or names no tool."""
    if request.method != "tools/call":
        return None
    params = members(request.params_raw or b"") or {}
    name = read(params.get("name", b""))
    if not isinstance(name, str):
        return None
    meta = members(params.get("_meta", b"")) or {}
    whole = whole_arguments(params.get("arguments"))
    return McpToolCall(
        id_raw=request.id_raw,
        name=name,
        arguments=whole[0] if whole else {},
        era=Era.STATELESS if PROTOCOL_VERSION in meta else Era.SESSION,
        plain=whole is not None and params.keys() <= _PLAIN,
        progress_token=meta.get("progressToken"),
        call_id=_first(meta, _CALL_IDS),
        session=_first(meta, _SESSIONS) or _first(members(meta.get(_TURN_METADATA, b"")) or {}, ("session_id",)),
    )


def tool_result(result_raw: bytes) -> ToolResult | None:
    """The answer in a `tools/call` response's `result`.

    None if it is no final answer (the server wants input first, made a task of it, or sent no result
    at all): such a result stands for one exchange only and may never be served to another.
    """
    parts = members(result_raw)
    if parts is None or "task" in parts or read(parts.get("resultType", b'"complete"')) != "complete":
        return None
    failed = parts.get("isError", b"false") not in {b"false", b"null"}
    return ToolResult(body=result_raw, status=Status.ERROR if failed else Status.OK)


def sse_message(data: bytes) -> bytes:
    """A message framed as one event of an event stream; its bytes are kept, line ends included."""
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return b"event: message\r\n" + b"".join(b"data: " + line + b"\r\n" for line in lines) + b"\r\n"


def _meta(params_raw: bytes | None) -> dict[str, bytes]:
    params = members(params_raw or b"") or {}
    return members(params.get("_meta", b"")) or {}


def _first(meta: dict[str, bytes], keys: tuple[str, ...]) -> str | None:
    return next((text for key in keys if key in meta and (text := string(read(meta[key])))), None)
