"""Answers of our own to an LLM request, in the error form that OpenAI's clients read."""

import structlog
from aiohttp import web

from paste_proxy.events.values import dumps

_log = structlog.get_logger(__name__)

ERROR_HEADER = "x-paste-error"
"""Marks an answer as the sidecar's own; its value is the error's code."""


def refusal(status: int, code: str, message: str, *, close: bool = False) -> web.Response:
    """An error answer that says in a sentence what was wrong and what to do."""
    _log.debug("refused", status=status, code=code, message=message)
    body = {"error": {"message": f"paste-proxy: {message}", "type": "paste_proxy_error", "param": None, "code": code}}
    response = web.Response(
        status=status, body=dumps(body), content_type="application/json", headers={ERROR_HEADER: code}
    )
    if status == 503:
        response.headers["Retry-After"] = "1"
    if close:
        response.force_close()
    return response
