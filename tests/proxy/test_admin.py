"""The read side: who may read it, and what it says."""

import orjson
import pytest

from paste_proxy.proxy.http.hosts import own_hosts
from tests.proxy.llm_world import exchange, sidecar


async def get(path: str, host: str = "127.0.0.1:8377") -> bytes:
    async with sidecar() as port:
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n"
        return await exchange(port, request.encode())


async def test_liveness_and_readiness_are_answered() -> None:
    assert (await get("/healthz")).startswith(b"HTTP/1.1 200 ")
    assert (await get("/readyz")).endswith(b"\r\n\r\nready\n")


@pytest.mark.parametrize("name", ["stats", "sessions", "patterns", "policies"])
async def test_every_part_is_json_without_cors(name: str) -> None:
    raw = await get(f"/paste/v1/{name}")
    head, _, body = raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"access-control" not in head.lower()
    orjson.loads(body)


@pytest.mark.parametrize("path", ["/metrics", "/paste/v1/stats", "/paste/v1/sessions"])
async def test_a_name_that_someone_else_pointed_here_reads_nothing(path: str) -> None:
    raw = await get(path, host="rebound.evil.example")
    assert raw.startswith(b"HTTP/1.1 403 ")
    assert b"foreign_host" in raw


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8377", "app.localhost"])
async def test_loopback_names_are_ours(host: str) -> None:
    assert (await get("/paste/v1/stats", host=host)).startswith(b"HTTP/1.1 200 ")


def test_bound_to_the_network_addresses_are_ours_and_strange_names_are_not() -> None:
    own = own_hosts("sidecar.internal")
    assert all(own(name) for name in ("sidecar.internal", "SIDECAR.internal", "10.1.2.3", "fe80::1", "localhost"))
    assert not own("evil.example")
    assert not own_hosts("127.0.0.1")("10.1.2.3")
