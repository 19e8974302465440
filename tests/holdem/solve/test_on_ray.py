"""Hold'em on Ray, where it is installed: parts of a spot and boards of a batch, with the numbers of this process."""

import numpy as np
import pytest

from tests.holdem.study.batches.test_batch import solved_by
from treeplex.base.workers.executor import make_executor
from treeplex.base.workers.on_ray import sigterm_kept
from treeplex.errors import AlgorithmError
from treeplex.holdem.solve.solve import solve_spot
from treeplex.holdem.spots.known import leduc_holdem
from treeplex.search.match.match import match

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("ray"), pytest.mark.slow]
SPOT = leduc_holdem(7)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """A cluster of this machine, of two CPUs as far as Ray can tell."""
    with sigterm_kept():
        ray.init(address="local", num_cpus=2, log_to_driver=False)
    yield
    ray.shutdown()


def test_parts_of_a_spot(tmp_path):
    here = solve_spot(SPOT, iterations=20, threads=1, storage="packed")
    there = solve_spot(SPOT, iterations=20, ray="auto", storage=f"disk:{tmp_path / 'run'}")
    assert there.exploitability == here.exploitability
    assert np.array_equal(there.at("").strategy, here.at("").strategy)
    with pytest.raises(AlgorithmError, match="needs a folder that all machines see"):
        solve_spot(SPOT, iterations=1, ray="auto")


def test_boards_of_a_batch(tmp_path):
    wanted = solved_by(tmp_path / "alone", None)
    with make_executor("auto", 1) as executor:
        assert executor.elsewhere
        assert solved_by(tmp_path / "there", executor) == wanted


def test_hands_of_a_match():
    agents = ["uniform", "uniform"]
    there = match("leduc_poker", agents, sampled=True, hands=60, ray="auto", workers=2)
    assert there.plain() == match("leduc_poker", agents, sampled=True, hands=60).plain()
