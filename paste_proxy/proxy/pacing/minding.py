"""Asks engines for their load.

While turns are under way every second, since the page costs the engine something; an engine that cannot be asked is
paced by the turns that pass through here alone.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from paste_proxy.config import Config
from paste_proxy.engines.reader import LoadReader, metrics_address
from paste_proxy.proxy.http.relay import upstream_session
from paste_proxy.proxy.hub.observed import EngineHeard
from paste_proxy.proxy.hub.pacing_desk import PacingDesk
from paste_proxy.proxy.hub.pacing_tally import GateTally
from paste_proxy.proxy.outages import Outages
from paste_proxy.turns.types import EngineLoad

_EVERY_S = 1.0


def addresses(config: Config) -> Mapping[str, str | None]:
    """Where each engine tells its load, by its name; None: it does not, or no route leads to it."""
    found: dict[str, str | None] = {}
    for name, engine in config.engines.items():
        upstream = next((route.upstream for route in config.llm if route.engine == name), None)
        told = engine.metrics or (metrics_address(engine.kind, upstream) if upstream is not None else None)
        found[name] = told
    return found


@asynccontextmanager
async def minding(config: Config, tell: Callable[[EngineHeard], None], desk: PacingDesk) -> AsyncIterator[None]:
    """Meanwhile every engine is minded.

    Args:
        desk: knows which of them has turns.
    """
    async with upstream_session() as session:
        readers = {
            name: None if where is None else LoadReader(config.engines[name].kind, where, session=session)
            for name, where in addresses(config).items()
        }
        minders = [
            asyncio.create_task(_mind(name, reader, tell, desk), name=f"engine-{name}")
            for name, reader in readers.items()
        ]
        try:
            yield
        finally:
            for minder in minders:
                minder.cancel()
            await asyncio.gather(*minders, return_exceptions=True)


async def _mind(name: str, reader: LoadReader | None, tell: Callable[[EngineHeard], None], desk: PacingDesk) -> None:
    outages, busy = Outages(), False
    while True:
        await asyncio.sleep(_EVERY_S)
        before, busy = busy, desk.busy(name)
        if not busy and not before:
            continue
        load = None  # of an engine that has just become idle, too: it would be out of date when the next turn comes
        if reader is not None and busy:
            load = await _load(name, reader, outages, desk.tally(name))
        tell(EngineHeard(name, load))


async def _load(name: str, reader: LoadReader, outages: Outages, tally: GateTally) -> EngineLoad | None:
    try:
        return await reader.read()
    except Exception as fault:  # noqa: BLE001 - whatever is wrong with a page, the next one may be right
        tally.unasked += 1
        outages.warn(f"engine {name}", str(fault))
        return None
