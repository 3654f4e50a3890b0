"""What it costs a turn to stand before an engine that is idle: the same requests by a route without and with one.

One sidecar has both routes to one scripted LLM, so that nothing else differs; rounds alternate, each route going first
in turn. One connection, so that the engine has room for every turn.
"""

import gc
import os
from collections.abc import Callable
from itertools import count

from paste_proxy.bench.cpu import apart
from paste_proxy.bench.load import drive
from paste_proxy.bench.measured import Measured
from paste_proxy.bench.origin_process import running_origin
from paste_proxy.bench.prompt import Conversations
from paste_proxy.bench.sidecar import Setting, config_text, sidecar_of
from paste_proxy.events.values import Json
from paste_proxy.speculation.types import Mode

BODY_KB = (2, 20, 100)
ROUNDS = 12
_PLAIN, _PACED = "/v1", "/paced/v1"


async def measure(requests: int, on_round: Callable[[], None] = lambda: None) -> dict[str, Json]:
    """The object that `--json` prints.

    Args:
        requests: in each of the `ROUNDS` rounds of both routes, for each size of `BODY_KB`.
    """
    cases: list[Json] = []
    async with running_origin() as origin:
        setting = Setting(mode=Mode.SPECULATE, llm=f"http://127.0.0.1:{origin.port}/v1", tools={}, mcp={})
        async with sidecar_of(lambda port: {"paste.toml": _config(setting, port), "policy.toml": ""}) as sidecar:
            with apart(sidecar.pid, origin.pid, os.getpid()):
                port, numbers = int(sidecar.url.rpartition(":")[2]), count()
                for body_kb in BODY_KB:
                    measured = {_PLAIN: Measured(), _PACED: Measured()}
                    for number in range(ROUNDS):
                        for path in (_PLAIN, _PACED) if number % 2 else (_PACED, _PLAIN):
                            measured[path].absorb(await _round(port, path, body_kb, requests, next(numbers)))
                        on_round()
                    cases.append(_row(body_kb, measured))
    return {"cases": cases}


async def _round(port: int, path: str, body_kb: int, requests: int, number: int) -> Measured:
    measured, talk = Measured(), Conversations(body_kb * 1000, 0, f"admission-{number}")
    gc.collect()
    gc.disable()
    try:
        measured.samples = await drive(
            port, lambda connection: _request(path, *talk.next(connection)), connections=1, requests=requests, chunks=0
        )
    finally:
        gc.enable()
    measured.wall_s = sum(sample.total_ns for sample in measured.samples) / 1e9
    return measured


def _request(path: str, session: str, body: bytes) -> bytes:
    head = (
        f"POST {path}/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"x-paste-session: {session}\r\nx-bench: 0,0\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _row(body_kb: int, measured: dict[str, Measured]) -> dict[str, Json]:
    row: dict[str, Json] = {"body_kb": body_kb, "requests": len(measured[_PACED].samples)}
    for share in ("p50", "p99"):
        plain, paced = (measured[path].figures()[f"{share}_ms"] for path in (_PLAIN, _PACED))
        assert isinstance(plain, float)
        assert isinstance(paced, float)
        row |= {f"plain_{share}_ms": plain, f"paced_{share}_ms": paced, f"added_{share}_ms": round(paced - plain, 3)}
    return row


def _config(setting: Setting, port: int) -> str:
    paced = f"""
[engines.idle]
band = [64.0, 128.0]

[[llm]]
path = "{_PACED}"
upstream = "{setting.llm}"
engine = "idle"
"""
    return config_text(setting, port) + paced
