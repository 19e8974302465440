"""Hold'em on Ray, where it is installed: parts of a spot and boards of a batch, with the numbers of this process."""

import numpy as np
import pytest

from tests.base.workers.local_cluster import local_cluster
from tests.holdem.study.batches.test_batch import solved_by
from treeplex.base.workers.executor import make_executor
from treeplex.errors import AlgorithmError
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.known import leduc_holdem
from treeplex.search.match.match import match

pytest.importorskip("ray")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("ray"), pytest.mark.slow]
SPOT = leduc_holdem(7)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with local_cluster():
        yield


def test_parts_of_a_spot(tmp_path):
    here = solve_spot(SPOT, iterations=20, threads=1, storage="packed")
    there = solve_spot(SPOT, iterations=20, ray="auto", storage=f"disk:{tmp_path / 'run'}")
    assert there.exploitability == here.exploitability
    assert np.array_equal(there.at("").strategy, here.at("").strategy)
    with pytest.raises(AlgorithmError, match="needs a folder shared by all machines"):
        solve_spot(SPOT, iterations=1, ray="auto")


def test_boards_of_a_batch(tmp_path):
    wanted = solved_by(tmp_path / "alone", None)
    with make_executor("auto", 1) as executor:
        assert executor.elsewhere
        assert solved_by(tmp_path / "there", executor) == wanted


def test_hands_of_a_match():
    agents = ["search(depth=1,leaf=zero,iterations=4)", "uniform"]
    there = match("leduc_poker", agents, sampled=True, hands=60, ray="auto", workers=2)
    assert there.plain() == match("leduc_poker", agents, sampled=True, hands=60).plain()
