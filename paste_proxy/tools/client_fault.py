"""What may be told of a fault of the HTTP client library."""

import aiohttp


def words_of(fault: Exception) -> str:
    """What it says, without the address that some of them repeat: its query may hold a key."""
    match fault:
        case aiohttp.ClientResponseError():
            return f"status {fault.status}: {fault.message}"
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return "no address that can be asked"
        case _:
            return str(fault) or type(fault).__name__
