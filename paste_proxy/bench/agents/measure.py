"""The same agents at a running engine through one sidecar: by a route where each turn goes as it comes, and by one
where it goes when there is room; rounds alternate, each side going first in turn."""

import time
from collections.abc import Callable
from itertools import count, cycle, islice
from statistics import fmean
from typing import Any

import aiohttp

from paste_proxy.bench.agents.agent import Agent, Asked, Shape, play_all
from paste_proxy.bench.percentile import percentile
from paste_proxy.bench.script import Script
from paste_proxy.bench.sidecar import sidecar_of
from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, loads
from paste_proxy.tools.client_fault import words_of

_PLAIN, _PACED = "plain", "paced"
_MODEL_S = 10.0


async def measure(
    upstream: str,
    kind: str,
    scripts: list[Script],
    shape: Shape,
    *,
    sessions: int,
    rounds: int,
    gap_s: float,
    band: tuple[float, float] | None = None,
    on_round: Callable[[], None] = lambda: None,
) -> dict[str, Json]:
    """The object that `--json` prints.

    Args:
        upstream: the engine's OpenAI-compatible address, `/v1` included.
        kind: what it is; see `engines.kinds`.
        sessions: agents at once.
        rounds: of each side.
        gap_s: between the beginnings of two of them.
        band: P_low and P_high; None: found.

    Raises:
        InputFault: there is no such engine.
        UpstreamFault: the engine answers what is no answer.
    """
    if band is not None and not 0 < band[0] <= band[1]:
        raise InputFault("--band", f"{band[0]:g} {band[1]:g}", "P_low and P_high, P_low not above P_high")
    asked, walls = {_PLAIN: Asked(), _PACED: Asked()}, {_PLAIN: 0.0, _PACED: 0.0}
    marks = count()
    async with sidecar_of(lambda port: {"paste.toml": _config(port, upstream, kind, band)}) as sidecar:
        limits = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=limits, timeout=aiohttp.ClientTimeout(total=None)) as http:
            model = await _model(http, upstream)
            for number in range(rounds):
                for side in (_PLAIN, _PACED) if number % 2 else (_PACED, _PLAIN):
                    agents = [
                        (Agent(http, f"{sidecar.url}/{side}/v1", model, shape, f"agent {next(marks)}"), script)
                        for script in islice(cycle(scripts), sessions)
                    ]
                    began = time.monotonic()
                    _add(asked[side], await play_all(agents, gap_s))
                    walls[side] += time.monotonic() - began
                    on_round()
            pacing = await _pacing(http, sidecar.url)
    sides = {side: _figures(asked[side], walls[side]) for side in (_PLAIN, _PACED)}
    ratios = {key: round(sides[_PACED][key] / sides[_PLAIN][key], 3) for key in sides[_PLAIN] if sides[_PLAIN][key]}
    return {
        "engine": kind,
        "model": model,
        "sessions": sessions,
        "turns": len(asked[_PACED].turns_s),
        "sides": dict(sides),
        "ratios": dict(ratios),
        "pacing": pacing,
    }


async def _model(http: aiohttp.ClientSession, upstream: str) -> str:
    try:
        async with http.get(f"{upstream}/models", timeout=aiohttp.ClientTimeout(total=_MODEL_S)) as answer:
            told: Any = loads(await answer.read())
            return str(told["data"][0]["id"])
    except (aiohttp.ClientError, TimeoutError, ValueError, LookupError, TypeError) as fault:
        expected = "an OpenAI-compatible engine, /v1 included"
        raise InputFault(upstream, f"no list of models at /models ({words_of(fault)})", expected) from fault


async def _pacing(http: aiohttp.ClientSession, url: str) -> Any:
    async with http.get(f"{url}/paste/v1/stats") as answer:
        return (await answer.json())["pacing"]["engine"]


def _add(all_of: Asked, asked: Asked) -> None:
    all_of.turns_s += asked.turns_s
    all_of.first_s += asked.first_s
    all_of.sessions_s += asked.sessions_s
    all_of.pieces += asked.pieces


def _figures(asked: Asked, wall_s: float) -> dict[str, float]:
    figures = {
        "turn_mean_s": fmean(asked.turns_s),
        "turn_p50_s": percentile(asked.turns_s, 0.5),
        "turn_p99_s": percentile(asked.turns_s, 0.99),
        "first_mean_s": fmean(asked.first_s),
        "session_mean_s": fmean(asked.sessions_s),
        "session_p99_s": percentile(asked.sessions_s, 0.99),
        "tokens_per_s": asked.pieces / wall_s,
    }
    return {key: round(value, 4) for key, value in figures.items()}


def _config(port: int, upstream: str, kind: str, band: tuple[float, float] | None) -> str:
    bounds = f"band = [{band[0]}, {band[1]}]" if band is not None else ""
    return f"""
port = {port}

[speculation]
mode = "off"

[engines.engine]
kind = "{kind}"
{bounds}

[[llm]]
path = "/{_PLAIN}/v1"
upstream = "{upstream}"

[[llm]]
path = "/{_PACED}/v1"
upstream = "{upstream}"
engine = "engine"
hold = "silent"
"""
