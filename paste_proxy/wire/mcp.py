"""What the sidecar must understand of the Model Context Protocol, in both of its eras.

Up to 2025-11-25 a client opens a session with `initialize`; from 2026-07-28 on every request stands
alone and says its protocol version in `_meta`. That key decides, request by request.
"""

from dataclasses import dataclass
from enum import StrEnum

from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.values import Json, dumps
from paste_proxy.wire.digest import whole_arguments
from paste_proxy.wire.jsonrpc import Request
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import canonical, read, string

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
"""The `_meta` key by which a request of the stateless era is known."""

_PLAIN = {"name", "arguments", "_meta"}
_CALL_IDS = ("callId", "claudecode/toolUseId")
_SESSIONS = ("sessionId",)
_TURN_METADATA = "x-codex-turn-metadata"
_OF_PROTOCOL = "io.modelcontextprotocol/"
_HARMLESS = {
    "progressToken",
    "itemId",
    "threadId",
    "windowId",
    "traceparent",
    "tracestate",
    "baggage",
    _TURN_METADATA,
    *_CALL_IDS,
    *_SESSIONS,
}
"""`_meta` keys by which a call is traced or told of; on any other its answer may depend."""


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
    exchange (a task, `inputResponses`, arguments that cannot be read), or whose `_meta` tells the server
    something of its own: it must be run, never served."""
    identity: bytes = b"{}"
    """The protocol's own members of its `_meta`, as one raw JSON object: what its client says of itself."""
    progress_token: bytes | None = None
    """Raw JSON of the token under which the client wants to hear of progress. A call that is served hears of none:
    a result that is ready has none to tell, and one that is under way was not asked for any."""
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
        plain=whole is not None and params.keys() <= _PLAIN and _says_nothing(params.get("_meta")),
        identity=protocol_meta(request.params_raw),
        progress_token=meta.get("progressToken"),
        call_id=_first(meta, _CALL_IDS),
        session=_first(meta, _SESSIONS) or _first(members(meta.get(_TURN_METADATA, b"")) or {}, ("session_id",)),
    )


def protocol_meta(params_raw: bytes | None) -> bytes:
    """The protocol's own members of a request's `_meta`, as one raw JSON object."""
    own = (dumps(key) + b":" + raw for key, raw in _meta(params_raw).items() if key.startswith(_OF_PROTOCOL))
    return b"{" + b",".join(own) + b"}"


def same_identity(one: bytes, other: bytes) -> bool:
    """Whether two requests' clients say the same of themselves, each as one raw JSON object."""
    return one == other or canonical(read(one)) == canonical(read(other))


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


def _says_nothing(meta_raw: bytes | None) -> bool:
    """Whether a `_meta` is one on which no answer depends, but for its `identity`."""
    meta = {} if meta_raw in (None, b"null") else members(meta_raw or b"")
    return meta is not None and all(key in _HARMLESS or key.startswith(_OF_PROTOCOL) for key in meta)


def _first(meta: dict[str, bytes], keys: tuple[str, ...]) -> str | None:
    return next((text for key in keys if key in meta and (text := string(read(meta[key])))), None)
