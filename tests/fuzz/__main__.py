"""`python -m tests.fuzz`: mutated recordings through every reader of outside bytes; one JSON line at the end."""

import argparse
import json
import os
import sys
from pathlib import Path

from tests.fuzz.campaign import campaign, one, timed


def main() -> int:
    """Exit code 1: a reader raised, or gave what it must not."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--mutations", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options.add_argument("--only", type=int, metavar="NUMBER", help="make this mutation again and show it")
    asked = options.parse_args()
    folder = os.environ.get("PASTE_CORPUS")
    recordings = Path(folder) if folder else None
    if asked.only is not None:
        parser, data, dice = one(asked.only, seed=asked.seed, recordings=recordings)
        print(parser.name, data, sep="\n")
        parser.check(data, dice)
        return 0
    took: list[float] = []
    with timed(took):
        outcome = campaign(
            asked.mutations,
            seed=asked.seed,
            processes=asked.processes,
            recordings=recordings,
            progress=_shown if sys.stderr.isatty() else lambda _: None,
        )
    for fault in outcome.faults:
        print(fault, file=sys.stderr)
    result = {
        "mutations": outcome.mutations,
        "parsers": outcome.parsers,
        "faulty": outcome.faulty,
        "seed": asked.seed,
        "processes": asked.processes,
        "seconds": round(took[0], 1),
        "per_second": round(outcome.mutations / took[0]),
        "rss_growth_mb": round(outcome.rss_growth_mb, 1),
    }
    print(json.dumps(result))
    return 1 if outcome.faulty else 0


def _shown(done: int) -> None:
    print(f"\r{done} mutations", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
