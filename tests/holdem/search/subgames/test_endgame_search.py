"""Streets of hold'em solved in whole passes: what a search of them finds, and promises that are kept."""

import numpy as np
import pytest

from tests.holdem.search.test_gadgets import belief, promised
from treeplex.errors import AlgorithmError
from treeplex.holdem.search.subgames.endgame_search import EndgameSearch
from treeplex.search import METHODS, Horizon, NoLeaf, SubgameSearch, cut, opponent_values
from treeplex.search.subgames.gadgets import GADGETS, Gadget

RIVER, TURN = "TcJdQcKdTd", "TcJdQcKd"


@pytest.mark.parametrize(
    ("board", "gadget", "player", "method"),
    [(TURN, None, 0, "pcfr+"), (TURN, "maxmargin", 0, "cfr+"), (RIVER, None, 0, "dcfr"), (RIVER, "resolve", 1, "dcfr")],
)
def test_first_iterations_are_those_of_a_search(board: str, gadget: str | None, player: int, method: str) -> None:
    """Later ones may differ where an action meets nobody: rounding decides what is played there."""
    front = None if gadget is None else GADGETS[gadget](player, promised(board, player) + 0.1)
    subgame = cut(belief(board).game, [belief(board)], gadget=front)
    slow = SubgameSearch(subgame, METHODS[method], NoLeaf(), horizon=2)
    fast = EndgameSearch(subgame, METHODS[method], horizon=2, precision=np.float64)
    slow.run(2)
    fast.run(1)
    fast.run(1)
    assert fast.iteration == 2
    assert np.allclose(fast.store.regrets, slow.regrets, atol=1e-12)
    one, two = fast.average_policy(), slow.average_policy()
    assert np.allclose(one / one.max(), two / two.max(), atol=1e-12)


@pytest.mark.slow_cases("None-0-TcJdQcKd")
@pytest.mark.parametrize("board", [RIVER, TURN])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("kind", [None, *GADGETS.values()])
def test_promises_are_kept_in_single_precision(board: str, kind: type[Gadget] | None, player: int) -> None:
    carried = promised(board, player)
    subgame = cut(belief(board).game, [belief(board)], gadget=kind and kind(player, carried))
    search = EndgameSearch(subgame, METHODS["dcfr"], horizon=400)
    search.run(400)
    found = search.average_policy()
    assert found.dtype == np.float32
    got, ranges = opponent_values(subgame, found, player), belief(board).ranges[1 - player]
    if kind is None:  # the ranges' mean, for without a gadget nothing is said of single hands
        met = np.isfinite(got[0])
        weights = ranges[met] * subgame.roots.opposing(subgame.ranges, 1 - player)[0][met]
        assert (got - carried)[0, met] @ weights / weights.sum() < 0.01
    else:
        assert np.nanmax(got - carried) < 0.02


def test_what_is_refused() -> None:
    with pytest.raises(AlgorithmError, match="CFR variant with alternating updates, not fp"):
        EndgameSearch(cut(belief(RIVER).game, [belief(RIVER)]), METHODS["fp"])
    with pytest.raises(AlgorithmError, match="alternating updates, not dcfr-simultaneous; use dcfr"):
        EndgameSearch(cut(belief(RIVER).game, [belief(RIVER)]), METHODS["dcfr-simultaneous"])
    one = cut(belief(TURN).game, [belief(TURN)], Horizon(rounds=1))
    with pytest.raises(AlgorithmError, match="to the end of the game"):
        EndgameSearch(one, METHODS["dcfr"])
