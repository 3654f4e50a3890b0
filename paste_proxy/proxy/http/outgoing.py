"""A request to an upstream whose target goes out as the client wrote it.

A URL keeps no question mark with nothing behind it, and no fragment is ever sent; what the client wrote
there is carried in the URL's fragment and put back when the request line is written.
"""

from typing import Any, cast

from aiohttp import ClientRequest, ClientResponse
from aiohttp.connector import Connection
from yarl import URL


def as_written(target: str) -> URL:
    """The URL for an absolute target, nothing of it normalised."""
    body, mark, fragment = target.partition("#")
    ending = ("?" if body.endswith("?") and body.count("?") == 1 else "") + mark + fragment
    return URL(f"{body}#{ending}" if ending else body, encoded=True)


class Outgoing(ClientRequest):
    """Takes URLs made by `as_written`."""

    async def send(self, conn: Connection) -> ClientResponse:
        """Write the request line as it is meant."""
        ending = self.original_url.raw_fragment
        if not ending:
            return await super().send(conn)
        url = self.url
        self.url = cast("URL", _Ending(url, ending))
        try:
            return await super().send(conn)
        finally:
            self.url = url


class _Ending:
    """A URL, and what a request line has behind it."""

    def __init__(self, url: URL, ending: str) -> None:
        self._url = url
        self.raw_path_qs = url.raw_path_qs + ending

    def __getattr__(self, name: str) -> Any:
        return getattr(self._url, name)

    def __str__(self) -> str:
        return str(self._url)
