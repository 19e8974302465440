"""Where exact leaf values jump, fictitious play and modified CFR-AVG can stay away from an equilibrium for ever.

Player 0 has moved unseen, and behind the leaf player 1 answers best. Values at the leaf are a supergradient of a concave
function of player 0's policy that has kinks, and equilibria lie at kinks. Regrets of CFR-D and sound CFR-AVG add up the values
of all iterations (of the latter see Brown et al. 2020, theorem 5). Fictitious play answers those at the last average alone, as
Frank and Wolfe's method does; so, in the sum, does modified CFR-AVG, as its differences of ``t v(average t)`` telescope.
Neither need get to a maximum where the function has kinks.
"""

import numpy as np
import pytest

from treeplex.games.builtin.matrix import MODIFIED_RPS, MatrixGame, MatrixPublicTree
from treeplex.search import METHODS, Belief, SubgameSearch
from treeplex.search.subgames.batch import PairPlaces, cut_states
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Ranges
from treeplex.solvers.rules.fictitious import FICTITIOUS_RULES
from treeplex.solvers.rules.variants import Variant

HIDE = [[0.0, 1.0], [2.0, 0.0], [0.8, 0.8]]
"""Player 1 guesses in which of two places, worth 1 and 2, player 0 hides, or it took 0.8, which is the value of the game."""
ITERATIONS = 300
MODIFIED = [name for name, method in METHODS.items() if method.leaves == "modified"]
SOUND = [name for name, method in METHODS.items() if isinstance(method.scheme, Variant) and name not in MODIFIED]


class BestAnswer:
    """Leaf values where player 1 plays the column that is best for the belief: exact, without any solving."""

    def __init__(self, payoffs: np.ndarray) -> None:
        self.payoffs = payoffs

    def __call__(self, places: PairPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        column = self.payoffs[:, (believed[0][0] @ self.payoffs).argmin()]
        return column[None], np.array([[-(reached[0][0] @ column) / reached[0][0].sum()]])


def searched(rows: list[list[float]], method: str) -> tuple[np.ndarray, tuple[float, float]]:
    """Player 0's average policy, and both players' root values, after a search of its move."""
    rules, payoffs = MatrixPublicTree(MatrixGame(rows)), np.array(rows)
    root = Belief.root(rules)
    ranges = root.ranges[0][None], root.ranges[1][None]
    subgames = cut_states(rules, [root.state], Horizon(1))
    search = SubgameSearch(subgames, METHODS[method], BestAnswer(payoffs), ranges, horizon=ITERATIONS)
    search.run(ITERATIONS)
    first, second = search.root_values()
    return search.policy_at(0, search.average_policy())[:, 0], (float(first[0, 0]), float(second[0, 0]))


def sure(rows: list[list[float]], policy: np.ndarray) -> float:
    """What a policy of player 0 gets at least."""
    return float((policy @ np.array(rows)).min())


@pytest.mark.slow_cases("rows0-0.8-cfr", "rows0-0.8-cfr+", "rows0-0.8-lcfr")
@pytest.mark.parametrize("method", SOUND)
@pytest.mark.parametrize(("rows", "value"), [(HIDE, 0.8), (MODIFIED_RPS, 0.0)])
def test_cfr_d_and_sound_cfr_avg_get_to_the_value(rows: list[list[float]], value: float, method: str) -> None:
    policy, values = searched(rows, method)
    assert value - sure(rows, policy) < 0.05
    assert values == pytest.approx((value, -value), abs=0.15)  # means of all iterations, the first among them


@pytest.mark.parametrize("method", FICTITIOUS_RULES)
def test_fictitious_play_can_stop_short(method: str) -> None:
    """Its best responses are one place or the other, never the row that is good against both guesses."""
    policy, values = searched(HIDE, method)
    assert sure(HIDE, policy) < 0.668
    assert policy[2] < 0.01
    assert values[0] == pytest.approx(4 / 3, abs=0.03)  # each of them wins where the other guesses as for the average


@pytest.mark.parametrize("method", FICTITIOUS_RULES)
def test_root_values_of_fictitious_play_can_be_wrong_where_its_average_is_not(method: str) -> None:
    policy, values = searched(MODIFIED_RPS, method)
    assert sure(MODIFIED_RPS, policy) > -0.01
    # Best responses are rock, paper and scissors 0.4, 0.4 and 0.2 of the time, and win 2, 1 and 2.
    assert values[0] == pytest.approx(1.6, abs=0.01)


@pytest.mark.parametrize("method", MODIFIED)
@pytest.mark.parametrize(("rows", "least", "most"), [(HIDE, 0.70, 0.73), (MODIFIED_RPS, -0.09, -0.03)])
def test_modified_cfr_avg_can_stop_short(rows: list[list[float]], least: float, most: float, method: str) -> None:
    """Of 0.8 and of 0; root values, means of differences with jumps, are far away."""
    policy, values = searched(rows, method)
    assert least < sure(rows, policy) < most
    assert values[0] < -0.5
