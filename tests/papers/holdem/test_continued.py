"""Flops of whole hold'em solved again to their own end: nobody gains by other play on the flop alone."""

import numpy as np
import pytest

from papers.holdem.continued import ContinuedSearch, continued_street
from treeplex.errors import AlgorithmError
from treeplex.forms.sources.load import load
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.layout import board_part, policy_table
from treeplex.holdem.forms.spot_form import FixedStrategy, store_of_policy
from treeplex.holdem.policies.by_hand import Classes, HandPolicy, written
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.street_search.exact import compiled_whole

FLOP = 1


class Passive:
    """Mostly checks and calls, every hand alike."""

    def __init__(self, game: HoldemGame) -> None:
        self.game = game

    def classes(self, board: tuple[int, ...]) -> Classes:
        return Classes("all", 1, np.zeros(len(self.game.spot.format.hands), np.int64))

    def table(self, node: int, name: object) -> np.ndarray:
        kinds = [action.kind for action in self.game.tree.nodes[node].actions]
        found = np.array([0.8 if kind in ("check", "call") else 0.2 / (len(kinds) - 1) for kind in kinds])
        return found[:, None]


@pytest.fixture(scope="module")
def whole() -> CompiledSpot:
    return compiled_whole(load("holdem(ranks=3,suits=3,stack=12,sizes=[a])").public)


@pytest.fixture(scope="module")
def passive(whole: CompiledSpot) -> HandPolicy:
    return Passive(HoldemGame(whole.spot, whole.betting))


def stored(whole: CompiledSpot, policy: HandPolicy) -> np.ndarray:
    return written(policy, whole).astype(np.float64)


def gain_on_flop(whole: CompiledSpot, average: np.ndarray) -> float:
    """What best responses gain that play as the policy does on all other streets, mean of both players, in chips."""
    locks = []
    for street, boards in enumerate(whole.boards):
        for number, board in enumerate(boards):
            for player in (0, 1) if street != FLOP else ():
                for row, node in enumerate(whole.forests[street].numbers[player]):
                    table = policy_table(whole, node, average, street, number)[:, board.hands[player]]
                    locks.append(FixedStrategy(whole.first_boards[street] + number, player, row, table))
    store = store_of_policy(whole, average, np.zeros(0, np.float32), locks)
    return judge_spot(whole, average, store, judging_crew(whole, 1), expected=False).exploitability


@pytest.mark.slow
def test_nobody_gains_on_the_flop_where_both_go_on_by_the_blueprint(whole: CompiledSpot, passive: HandPolicy) -> None:
    average = stored(whole, passive)
    found = continued_street(whole, average, FLOP, passive, ContinuedSearch(iterations=60, continuations=1))
    elsewhere = np.ones(whole.stored, bool)
    for number in range(len(whole.boards[FLOP])):
        for player in (0, 1):
            elsewhere[board_part(whole, FLOP, number, player)] = False
    assert np.array_equal(found[elsewhere], average[elsewhere])
    before, after = gain_on_flop(whole, average), gain_on_flop(whole, found)
    assert before > 0.2
    assert after < 0.05 * before


@pytest.mark.slow
def test_with_continuations_the_flop_is_played_otherwise(whole: CompiledSpot, passive: HandPolicy) -> None:
    average = stored(whole, passive)
    one, four = (
        continued_street(whole, average, FLOP, passive, ContinuedSearch(iterations=20, continuations=count)) for count in (1, 4)
    )
    own = board_part(whole, FLOP, 0, 0)
    assert not np.allclose(one[own], four[own], atol=0.05)


def test_the_last_street_has_no_end_to_solve_to(whole: CompiledSpot, passive: HandPolicy) -> None:
    with pytest.raises(AlgorithmError, match="is not the last one can be compiled alone"):
        continued_street(whole, stored(whole, passive), 3, passive, ContinuedSearch(iterations=1))
