"""Mining in several processes: the same results, clear faults, nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from paste_proxy.cluster.processes import Processes
from paste_proxy.errors import InputFault, OurFault
from paste_proxy.mining.engine import Here
from tests.cluster.jobs import dies_at_two, pool_of, refuses_two, square

ROOT = Path(__file__).parents[2]
BOUND_S = 30
MAP = "import sys; from tests.cluster.jobs import never_ends; from paste_proxy.cluster.processes import Processes"


def test_results_come_in_the_order_of_the_jobs() -> None:
    assert list(Processes(2).map(square, range(7))) == [0, 1, 4, 9, 16, 25, 36]
    assert list(Processes(2).map(square, [])) == []


def test_the_pool_is_the_one_of_a_single_process_to_the_byte() -> None:
    assert '"order"' in pool_of(Here())
    assert pool_of(Processes(2)) == pool_of(Here())


def test_what_a_job_raises_is_raised_here() -> None:
    with pytest.raises(InputFault, match="the job: two; expected another number") as fault:
        list(Processes(2).map(refuses_two, [1, 2, 3]))
    assert fault.value.where == "the job"


def test_a_process_that_dies_is_told_with_what_to_do() -> None:
    with pytest.raises(OurFault, match="ended without a result; if memory ran out, let fewer --processes"):
        list(Processes(2).map(dies_at_two, [1, 2, 3]))


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + BOUND_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("end", "everybody"), [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGKILL, False)]
)
def test_no_process_outlives_the_mining(tmp_path: Path, end: signal.Signals, everybody: bool) -> None:
    script = f"{MAP}; list(Processes(2).map(never_ends, [sys.argv[1]] * 2))"
    command = [sys.executable, "-c", script, str(tmp_path)]
    mining = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True)
    try:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
        working = [int(path.name) for path in tmp_path.iterdir()]
        (os.killpg if everybody else os.kill)(mining.pid, end)  # a terminal tells the whole group
        _, said = mining.communicate(timeout=BOUND_S)
    finally:
        mining.kill()
        mining.wait()
    assert mining.returncode == -end
    assert said.count(b"Traceback") == int(everybody)
    wait_until(lambda: not any(map(is_alive, working)))
