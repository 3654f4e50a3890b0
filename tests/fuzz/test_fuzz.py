"""Whatever bytes come, no reader raises, none gives what it must not, and none keeps them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from paste_proxy.wire.protocols import WIRES
from tests.field_cases.samples import SAMPLES
from tests.fuzz.campaign import campaign
from tests.fuzz.mutations import mutated, retyped
from tests.fuzz.observed import observe
from tests.fuzz.parsers import Parser, parsers

_SHORT = 12_000
_MANY = 1_000_000
_GROWTH_MB = 64


def test_every_wire_has_a_sample_and_is_among_the_parsers() -> None:
    assert set(WIRES) <= set(SAMPLES)
    names = {parser.name for parser in parsers()}
    assert {f"{wire} {kind}" for wire in WIRES for kind in ("request", "stream", "whole", "unknown")} <= names


@pytest.mark.parametrize("parser", parsers(), ids=lambda parser: parser.name)
def test_a_recording_itself_reads(parser: Parser) -> None:
    for seed in parser.seeds:
        parser.check(seed, Random(1))


@pytest.mark.parametrize("parser", parsers(), ids=lambda parser: parser.name)
def test_any_value_of_a_recording_may_be_any_other(parser: Parser) -> None:
    for number, data in enumerate(retyped(parser.seeds[0])):
        parser.check(data, Random(number))


def test_a_mutation_is_made_again_from_its_number_and_differs_from_what_it_was_made_of() -> None:
    seeds = [sample.stream() for sample in SAMPLES.values()]
    made = [mutated(seeds, Random(number)) for number in range(300)]
    assert made == [mutated(seeds, Random(number)) for number in range(300)]
    assert len(set(made) - set(seeds)) > 250


def test_a_short_campaign_finds_nothing() -> None:
    outcome = campaign(_SHORT, seed=20)
    assert outcome.faults == []
    assert outcome.mutations == _SHORT
    assert outcome.rss_growth_mb < _GROWTH_MB


def test_recordings_of_real_clients_mutated_read_too(corpus: Path) -> None:
    outcome = campaign(_SHORT // 2, seed=21, recordings=corpus)
    assert outcome.faults == []


async def test_the_observer_of_mutated_exchanges_contains_no_fault_since_there_is_none() -> None:
    turns, faults = await observe(2_500, seed=22)
    assert faults == []
    assert turns > 900


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_million_mutations_find_nothing() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--mutations", str(_MANY), "--seed", "1"]
    done = subprocess.run(
        [*command, "--processes", str(min(2, os.cpu_count() or 1))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["mutations"], result["faulty"]) == (_MANY, 0)
    assert result["rss_growth_mb"] < _GROWTH_MB
