"""What `doctor` says of engines: whether each tells its load, and whether any turn goes there."""

from collections.abc import Sequence

from paste_proxy.config import Config
from paste_proxy.engines.kinds import EngineKind
from paste_proxy.engines.reader import LoadReader
from paste_proxy.errors import UpstreamFault
from paste_proxy.proxy.finding import Finding, Level
from paste_proxy.proxy.http.relay import upstream_session
from paste_proxy.proxy.pacing.minding import addresses


async def check_engines(config: Config) -> Sequence[Finding]:
    """Ask each for its load."""
    findings = []
    async with upstream_session() as session:
        for name, where in addresses(config).items():
            engine, what = config.engines[name], f"engine {name}"
            if all(route.engine != name for route in config.llm):
                mend = f'add engine = "{name}" to an [[llm]]'
                findings.append(Finding(Level.WARN, what, "no route leads to it", mend))
            elif where is None:
                found = "it tells no load: what passes through here is counted"
                mend = "name its `kind`, if it is " + ", ".join(kind for kind in EngineKind if kind != EngineKind.OTHER)
                findings.append(Finding(Level.WARN, what, found, mend))
            else:
                try:
                    load = await LoadReader(engine.kind, where, session=session).read()
                    said = f"{load.running:g} turns run, {load.waiting:g} wait"
                    findings.append(Finding(Level.OK, what, said))
                except UpstreamFault as fault:
                    mend = "start it with its metrics on, or correct `metrics` or `kind`"
                    findings.append(Finding(Level.FAIL, what, str(fault), mend))
    return findings
