"""Who may ask for tools to be run: programs of the user, not web pages the user happens to visit."""

from aiohttp import web


def foreign_origin(request: web.Request) -> str | None:
    """Why a request is refused: a web page sent it. None for a program's request."""
    origin = request.headers.get("origin")
    return None if origin is None else f"tools are not run for web pages (origin {origin})"
