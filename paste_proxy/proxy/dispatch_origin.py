"""Who may ask for tools to be run: programs of the user, not web pages the user happens to visit."""

from aiohttp import web


def foreign_origin(request: web.Request) -> str | None:
    """Why a request is refused: a web page from elsewhere sent it. None for a program's request or our own page's."""
    origin = request.headers.get("origin")
    if origin is None or origin.partition("://")[2] == request.host:
        return None
    return f"requests of web pages from {origin} are not answered here"
