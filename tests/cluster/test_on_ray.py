"""Mining on Ray: the same pool, clear faults."""

import sys

import pytest

from paste_proxy.cluster.on_ray import OnRay
from paste_proxy.errors import InputFault, OurFault
from paste_proxy.mining.engine import Here
from tests.cluster.jobs import dies_at_two, pool_of, refuses_two, square


def test_without_ray_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputFault, match=r"Ray is not installed; expected pip install 'paste-proxy\[cluster\]'"):
        OnRay()


@pytest.mark.slow
@pytest.mark.peer
@pytest.mark.filterwarnings("ignore")
def test_a_local_ray_mines_the_same_pool_to_the_byte_and_tells_of_faults() -> None:
    ray = pytest.importorskip("ray")
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        engine = OnRay()
        assert list(engine.map(square, range(5))) == [0, 1, 4, 9, 16]
        assert pool_of(engine) == pool_of(Here())
        with pytest.raises(InputFault, match="the job: two; expected another number"):
            list(engine.map(refuses_two, [1, 2, 3]))
        with pytest.raises(OurFault, match="Ray could not run a job of the mining to its end"):
            list(engine.map(dies_at_two, [2]))
        assert ray.is_initialized()
    finally:
        ray.shutdown()


@pytest.mark.slow
@pytest.mark.peer
@pytest.mark.filterwarnings("ignore")
def test_a_ray_begun_for_the_mining_ends_with_it() -> None:
    ray = pytest.importorskip("ray")
    assert list(OnRay("local").map(square, [3])) == [9]
    assert not ray.is_initialized()
