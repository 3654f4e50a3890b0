"""What metrics pages of each kind of engine say of its load."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.engines.forms import FORMS
from paste_proxy.engines.kinds import EngineKind
from paste_proxy.engines.loads import LoadParser
from paste_proxy.errors import UpstreamFault
from paste_proxy.turns.types import EngineLoad

VLLM = """\
# HELP python_info Python platform information
# TYPE python_info gauge
python_info{implementation="CPython",major="3"} 1.0
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m {1}"} 3.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m {1}"} 5.0
# TYPE vllm:num_requests_waiting_by_reason gauge
vllm:num_requests_waiting_by_reason{engine="0",model_name="m {1}",reason="capacity"} 4.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m {1}",reason="deferred"} 1.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="m {1}"} 0.25
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="m {1}"} 1000.0
# TYPE vllm:prefix_cache_queries_created gauge
vllm:prefix_cache_queries_created{engine="0",model_name="m {1}"} 1.7e+09
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="m {1}"} 400.0
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1",model_name="m {1}"} 7.0
"""

OLD_VLLM = """\
vllm:num_requests_running{model_name="m"} 2.0
vllm:num_requests_waiting{model_name="m"} 0.0
vllm:gpu_cache_usage_perc{model_name="m"} 0.5
vllm:gpu_prefix_cache_hit_rate{model_name="m"} 0.75
"""

TWO_REPLICAS = """\
vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 1
vllm:num_requests_waiting{engine="0"} 2
vllm:num_requests_waiting{engine="1"} 0
vllm:kv_cache_usage_perc{engine="0"} 0.8
vllm:kv_cache_usage_perc{engine="1"} 0.2
"""

SGLANG = """\
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{model_name="m",tp_rank="0",pp_rank="0"} 162.0
sglang:num_running_reqs{model_name="m",tp_rank="1",pp_rank="0"} 162.0
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{model_name="m",tp_rank="0",pp_rank="0"} 2826.0
# TYPE sglang:token_usage gauge
sglang:token_usage{model_name="m",tp_rank="0",pp_rank="0"} 0.28
# TYPE sglang:cached_tokens_total counter
sglang:cached_tokens_total{model_name="m",cache_source="device"} 100.0
sglang:cached_tokens_total{model_name="m",cache_source="host"} 50.0
# TYPE sglang:prompt_tokens_total counter
sglang:prompt_tokens_total{model_name="m"} 200.0
"""

LLAMA_CPP = """\
# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed.
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total 812
# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 2
# TYPE llamacpp:requests_deferred gauge
llamacpp:requests_deferred 1
"""

TGI = """\
# TYPE tgi_queue_size gauge
tgi_queue_size 4
# TYPE tgi_batch_current_size gauge
tgi_batch_current_size 12
# TYPE tgi_batch_current_max_tokens gauge
tgi_batch_current_max_tokens 16000
# TYPE tgi_request_count counter
tgi_request_count 99
"""

WORKER = """\
paste_worker_running 1.0
paste_worker_waiting 2.0
paste_worker_kv_used_ratio 0.1
paste_worker_prompt_tokens_total 100.0
paste_worker_cached_prompt_tokens_total 90.0
"""

PAGES = {
    EngineKind.VLLM: VLLM,
    EngineKind.SGLANG: SGLANG,
    EngineKind.LLAMA_CPP: LLAMA_CPP,
    EngineKind.TGI: TGI,
    EngineKind.WORKER: WORKER,
}


@pytest.mark.parametrize(
    ("kind", "load"),
    [
        (EngineKind.VLLM, EngineLoad(running=3, waiting=4, kv_used=0.25)),
        (EngineKind.SGLANG, EngineLoad(running=162, waiting=2_826, kv_used=0.28)),
        (EngineKind.LLAMA_CPP, EngineLoad(running=2, waiting=1)),
        (EngineKind.TGI, EngineLoad(running=12, waiting=4)),
        (EngineKind.WORKER, EngineLoad(running=1, waiting=2, kv_used=0.1)),
    ],
)
def test_a_page(kind: EngineKind, load: EngineLoad) -> None:
    assert LoadParser(kind).read(PAGES[kind]) == load


def test_every_kind_that_tells_has_a_form() -> None:
    assert set(FORMS) == set(EngineKind) - {EngineKind.OTHER} == set(PAGES)


def test_names_of_old() -> None:
    assert LoadParser(EngineKind.VLLM).read(OLD_VLLM) == EngineLoad(running=2, kv_used=0.5, cache_hits=0.75)


def test_names_as_collectors_write_them() -> None:
    page = SGLANG.replace("sglang:", "sglang_")
    assert LoadParser(EngineKind.SGLANG).read(page).running == 162


def test_what_is_not_there_is_not_nought() -> None:
    assert LoadParser(EngineKind.VLLM).read("vllm:num_requests_running 1\n") == EngineLoad(
        running=1, waiting=0, kv_used=None, cache_hits=None
    )


def test_replicas_are_summed_and_their_shares_averaged() -> None:
    load = LoadParser(EngineKind.VLLM).read(TWO_REPLICAS)
    assert (load.running, load.waiting) == (4, 2)
    assert load.kv_used == pytest.approx(0.5)


def test_a_replica_with_more_room_weighs_more() -> None:
    rooms = (
        'vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="3000"} 1.0\n'
        'vllm:cache_config_info{block_size="16",engine="1",num_gpu_blocks="1000"} 1.0\n'
    )
    assert LoadParser(EngineKind.VLLM).read(TWO_REPLICAS + rooms).kv_used == pytest.approx(0.65)


def test_a_replica_of_unknown_room_makes_all_weigh_alike() -> None:
    room = 'vllm:cache_config_info{engine="0",num_gpu_blocks="3000"} 1.0\n'
    unknown = 'vllm:cache_config_info{engine="1",num_gpu_blocks="None"} 1.0\n'
    assert LoadParser(EngineKind.VLLM).read(TWO_REPLICAS + room + unknown).kv_used == pytest.approx(0.5)


def worker(asked: float, found: float) -> str:
    return (
        "paste_worker_running 0\n"
        f"paste_worker_prompt_tokens_total {asked}\npaste_worker_cached_prompt_tokens_total {found}\n"
    )


def test_what_was_found_in_the_cache_is_told_of_the_time_between_two_pages() -> None:
    parser = LoadParser(EngineKind.WORKER)
    assert parser.read(worker(1_000, 900)).cache_hits is None, "of all time, not of late"
    assert parser.read(worker(1_100, 910)).cache_hits == pytest.approx(0.1)
    assert parser.read(worker(1_100, 910)).cache_hits is None, "nothing was asked for"
    assert parser.read(worker(1_300, 1_110)).cache_hits == pytest.approx(1.0)


def test_counters_that_begin_anew() -> None:
    parser = LoadParser(EngineKind.WORKER)
    parser.read(worker(1_000, 900))
    assert parser.read(worker(100, 25)).cache_hits == pytest.approx(0.25)


def test_what_several_replicas_found_is_weighed_by_what_they_were_asked() -> None:
    def page(asked: tuple[int, int], found: tuple[int, int]) -> str:
        lines = ["vllm:num_requests_running 0"]
        for engine in (0, 1):
            lines.append(f'vllm:prefix_cache_queries_total{{engine="{engine}"}} {asked[engine]}')
            lines.append(f'vllm:prefix_cache_hits_total{{engine="{engine}"}} {found[engine]}')
        return "\n".join(lines)

    parser = LoadParser(EngineKind.VLLM)
    parser.read(page((0, 500), (0, 500)))
    assert parser.read(page((300, 100), (300, 0))).cache_hits == pytest.approx(0.75), "the second one began anew"


def test_values_that_are_none() -> None:
    page = "vllm:num_requests_running 1\nvllm:kv_cache_usage_perc NaN\nvllm:num_requests_waiting +Inf\n"
    assert LoadParser(EngineKind.VLLM).read(page) == EngineLoad(running=1)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("", "there is nothing; expected a metrics page of vllm with vllm:num_requests_running"),
        ("<!doctype html>\n<title>Log in</title>", "'<!doctype html>' and the like; expected a metrics page of vllm"),
        (SGLANG, "sglang:num_running_reqs"),
        ("vllm:num_requests_running many\n", "cannot be read"),
        ('vllm:num_requests_running{engine="0} 1\n', "cannot be read"),
        ("vllm:num_requests_running NaN\n", "expected a metrics page of vllm"),
    ],
)
def test_what_is_no_page_of_the_kind(page: str, words: str) -> None:
    with pytest.raises(UpstreamFault) as fault:
        LoadParser(EngineKind.VLLM).read(page)
    assert words in str(fault.value)


@settings(max_examples=200, deadline=None)
@given(
    kind=st.sampled_from(list(PAGES)),
    cut=st.lists(st.tuples(st.integers(0, 1_200), st.text(max_size=3), st.integers(0, 40)), max_size=4),
)
def test_whatever_is_garbled_is_a_load_or_a_fault(kind: EngineKind, cut: list[tuple[int, str, int]]) -> None:
    page = PAGES[kind]
    for at, put, less in cut:
        page = page[:at] + put + page[at + less :]
    parser = LoadParser(kind)
    for _ in range(2):
        try:
            load = parser.read(page)
        except UpstreamFault:
            return
        assert load.running >= 0
        assert load.waiting >= 0
        assert all(share is None or 0 <= share <= 1 for share in (load.kv_used, load.cache_hits))
