"""Runs the sidecar: binds, says where, serves, and stops in order.

The first signal to stop flips readiness and lets exchanges run on to a limit; the second ends it at once.
"""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from paste_proxy.config import Config
from paste_proxy.errors import InputFault
from paste_proxy.proxy.app import TRAFFIC, Parts, build_app
from paste_proxy.proxy.composition import compose
from paste_proxy.proxy.http.relay import LONGEST_HEADER_BYTES, MOST_HEADERS, READ_BUFFER_BYTES
from paste_proxy.proxy.http.traffic import Traffic
from paste_proxy.proxy.llm_route import is_itself
from paste_proxy.proxy.opening import log_opening
from paste_proxy.tools.loopback import is_loopback

_COLLECTED_AFTER = 20_000, 20, 50
"""A prediction makes thousands of objects that live as long as it; by default they set off the collector many times."""

log = structlog.get_logger(__name__)

_CLOSE_S = 1.0
"""For handlers to end once they have been cancelled."""


_REQUESTS = logging.getLogger(f"{__name__}.requests")


def _said_shortly(record: logging.LogRecord) -> bool:
    """Of a request that is no HTTP a line is logged: no traceback, and nothing of what it held."""
    fault = record.exc_info[1] if record.exc_info else None
    if isinstance(fault, HttpProcessingError):
        record.msg, record.exc_info = f"{record.msg}: {type(fault).__name__}", None
    return True


_REQUESTS.addFilter(_said_shortly)


def run_server(config: Config, *, allow_remote: bool, announce: Callable[[str], None]) -> None:
    """Serve until told to stop by a signal.

    Args:
        allow_remote: whether a host that other machines can reach is meant.
        announce: given one line with the address bound.

    Raises:
        InputFault: the config cannot be served as it is.
    """
    check_host(config.host, allow_remote=allow_remote)
    parts = compose(config)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(config, parts, announce=announce))


async def serve(config: Config, parts: Parts, *, announce: Callable[[str], None]) -> None:
    """Serve on the running loop; see `run_server`."""
    app = build_app(config, parts)
    runner = app_runner(app)
    stops = _stop_signals()
    await runner.setup()
    try:
        address = await _bind(runner, config)
        _refuse_loops(config, runner)
        announce(f"paste-proxy listening on {address} ({config.speculation.mode.value})")
        log_opening(config, parts)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_COLLECTED_AFTER)
        await stops.get()
        log.info("stopping", exchanges=app[TRAFFIC].live)
        parts.draining()
        await _drain(app[TRAFFIC], stops, config.drain_s)
    finally:
        await runner.cleanup()


def app_runner(app: web.Application) -> web.AppRunner:
    """A runner that passes bodies as they are and cancels the handler of a client that has gone."""
    return web.AppRunner(
        app,
        access_log=None,
        logger=_REQUESTS,
        auto_decompress=False,
        handler_cancellation=True,
        shutdown_timeout=_CLOSE_S,
        read_bufsize=READ_BUFFER_BYTES,
        max_line_size=LONGEST_HEADER_BYTES,
        max_field_size=LONGEST_HEADER_BYTES,
        max_headers=MOST_HEADERS,
    )


def check_host(host: str, *, allow_remote: bool) -> None:
    """Refuse a host that other machines can reach, unless that is meant.

    Raises:
        InputFault: it is not.
    """
    if not allow_remote and not is_loopback(host):
        expected = "a loopback address such as 127.0.0.1; or --allow-remote, if everyone who reaches it may use it"
        raise InputFault("host", f"{host!r}, which other machines can reach", expected)


async def _bind(runner: web.AppRunner, config: Config) -> str:
    own = {port for route in config.llm for port in route.ports}
    for port, expected in ((config.port, "a free port, or port 0"), *((port, "a free port") for port in sorted(own))):
        try:
            await web.TCPSite(runner, config.host, port).start()
        except OSError as fault:
            found = f"cannot be bound ({fault.strerror or fault})"
            raise InputFault(f"{config.host}:{port}", found, expected) from fault
    host, port = runner.addresses[0][:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _refuse_loops(config: Config, runner: web.AppRunner) -> None:
    ports = [address[1] for address in runner.addresses]
    upstreams = [(f"llm[{number}].upstream", route.upstream) for number, route in enumerate(config.llm)]
    upstreams += [(f"mcp.{name}.url", server.url) for name, server in config.mcp.items() if server.url]
    if config.speculator is not None:
        upstreams.append(("speculator.base_url", config.speculator.base_url))
    proxies = [(f"llm[{number}].proxy", route.proxy) for number, route in enumerate(config.llm) if route.proxy]
    proxies += [(f"mcp.{name}.proxy", server.proxy) for name, server in config.mcp.items() if server.proxy]
    for where, address in upstreams + proxies:
        if any(is_itself(address, config.host, port) for port in ports):
            shown = URL(address).with_user(None).origin()
            raise InputFault(where, f"{shown}, the sidecar itself", "the address of another server")


def _stop_signals() -> "asyncio.Queue[int]":
    stops: asyncio.Queue[int] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stops.put_nowait, number)
    return stops


async def _drain(traffic: Traffic, stops: "asyncio.Queue[int]", limit_s: float) -> None:
    traffic.drain()
    waits = {asyncio.create_task(traffic.quiet()), asyncio.create_task(stops.get())}
    try:
        await asyncio.wait(waits, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
    traffic.abort()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if sys.platform == "win32":
        return None
    with suppress(ImportError):
        import uvloop

        return uvloop.new_event_loop
    return None
