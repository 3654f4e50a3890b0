"""Metrics of the gates that turns stand before; labelled by engine, or by the route whose keys' limits are kept."""

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from paste_proxy.proxy.hub.pacing_tally import WAITS_S
from paste_proxy.proxy.hub.tally import Tally


def gate_metrics(tally: Tally) -> Iterator[Metric]:
    """Every family, read as the gates stand."""
    turns = GaugeMetricFamily("paste_gate_turns", "Turns before a gate and behind it.", labels=("gate", "state"))
    ended = CounterMetricFamily("paste_gate_turns_let", "Turns by what became of them.", labels=("gate", "how"))
    waits = HistogramMetricFamily("paste_gate_wait_seconds", "Time that turns waited.", labels=("gate",))
    pressure = GaugeMetricFamily("paste_engine_pressure", "EnginePressure, in average turns.", labels=("gate",))
    band = GaugeMetricFamily("paste_engine_band", "What the pressure is kept in.", labels=("gate", "bound"))
    unread = CounterMetricFamily("paste_engine_load_unread", "Times an engine told no load.", labels=("gate",))
    for name, account, state in tally.gates():
        turns.add_metric((name, "held"), state.held)
        turns.add_metric((name, "running"), state.running)
        for how, number in (
            ("admitted", account.admitted - account.late),
            ("late", account.late),
            ("turned_away", account.turned_away),
            ("left", account.left),
        ):
            ended.add_metric((name, how), number)
        bounds = [*(str(bound) for bound in WAITS_S), "+Inf"]
        buckets = list(zip(bounds, accumulate(account.waits), strict=True))
        waits.add_metric((name,), buckets, account.waited_s)
        unread.add_metric((name,), account.unasked)
        if state.pressure is not None and state.low is not None and state.high is not None:
            pressure.add_metric((name,), state.pressure)
            band.add_metric((name, "low"), state.low)
            band.add_metric((name, "high"), state.high)
    yield from (turns, ended, waits, pressure, band, unread)
    warmed = CounterMetricFamily("paste_warm_ups", "Next requests sent to engines ahead of agents.", labels=("what",))
    for what, number in (("sent", tally.warming.sent), ("hit", tally.warming.hits), ("failed", tally.warming.failed)):
        warmed.add_metric((what,), number)
    yield warmed
    yield CounterMetricFamily("paste_warm_up_seconds", "Time engines were at them.", value=tally.warming.seconds)
    yield CounterMetricFamily(
        "paste_tool_outputs_given", "Tools' outputs given to engines.", value=tally.warming.outputs
    )
