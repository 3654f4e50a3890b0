"""Answers of the Gemini API for tests: how they are written."""

import json
from typing import Any

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}


def response(*parts: Any, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A GenerateContentResponse with these parts."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": USAGE, "responseId": "r1", **fields}


def said(text: str, **fields: Any) -> dict[str, Any]:
    return {"text": text, **fields}


def call(name: str, args: Any = None, *, signature: str = "", **fields: Any) -> dict[str, Any]:
    """A functionCall part; `args` None: left out."""
    given = {"name": name, **({} if args is None else {"args": args}), **fields}
    return {"functionCall": given, **({"thoughtSignature": signature} if signature else {})}


def piece(*entries: Any, more: bool = True, **fields: Any) -> dict[str, Any]:
    """A functionCall part of streamed arguments."""
    given = {
        **fields,
        **({"partialArgs": list(entries)} if entries else {}),
        **({"willContinue": True} if more else {}),
    }
    return {"functionCall": given}


def at(path: str, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value}


def sse(*responses: Any, end: bytes = b"\n\n") -> bytes:
    return b"".join(b"data: " + dumped(value) + end for value in responses)


def array(*responses: Any) -> bytes:
    """A stream without alt=sse."""
    return b"[" + b",\r\n".join(map(dumped, responses)) + b"\n]"


def dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
