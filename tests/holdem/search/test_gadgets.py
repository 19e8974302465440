"""Gadgets in front of streets of hold'em."""

from functools import cache

import numpy as np
import pytest

from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import small
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.subgames.subgame import HoldemSubgame
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot
from treeplex.search import METHODS, Belief, NoLeaf, SubgameSearch, cut, opponent_values
from treeplex.search.subgames.gadgets import GADGETS, Gadget

DECK = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))
ROOM = 0.2
"""Chips by which promises exceed what an equilibrium gives."""


@cache
def belief(board: str) -> Belief:
    """Every hand on a board, both players' ranges uneven."""
    game = HoldemGame.of(Spot(parse_cards(board), 2.0, 3.0, all_hands(DECK), BetPlan.same("50%,a", ""), format=DECK))
    state, generator = game.first_state(), np.random.default_rng(0)
    return Belief.of(game, state, tuple(generator.uniform(0.2, 1.0, len(can)) for can in game.possible(state)))


def solve(board: str, gadget: Gadget | None, iterations: int, method: str = "cfr+") -> SubgameSearch:
    subgame = cut(belief(board).game, [belief(board)], gadget=gadget)
    assert isinstance(subgame, HoldemSubgame)
    search = SubgameSearch(subgame, METHODS[method], NoLeaf(), horizon=iterations)
    search.run(iterations)
    return search


@cache
def promised(board: str, player: int) -> np.ndarray:
    """What the other player's hands get at most against an equilibrium of the subgame."""
    search = solve(board, None, 400)
    return opponent_values(search.subgame, search.average_policy(), player)


@pytest.mark.slow_cases("TcJdQcKd-Resolve-0")
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("kind", GADGETS.values())
@pytest.mark.parametrize("board", ["TcJdQcKdTd", "TcJdQcKd"])
def test_promises_are_kept(board: str, kind: type[Gadget], player: int) -> None:
    """From whatever range a hand comes, it gets no more than an equilibrium gave it, up to a hundredth of the pot."""
    carried = promised(board, player)
    search = solve(board, kind(player, carried), 400)
    got = opponent_values(search.subgame, search.average_policy(), player)
    assert np.isfinite(carried).sum() == np.isfinite(got).sum() >= 10
    assert np.nanmax(got - carried) < 0.02
    assert search.root_values()[1 - player][0] == pytest.approx(np.nan_to_num(got[0]), abs=0.1)


def test_margins() -> None:
    """If all promises are too high by as much, maxmargin leaves that much to every hand; resolving uses it up."""
    board, smallest = "TcJdQcKdTd", {}
    carried = promised(board, 0) + ROOM
    for name, kind in GADGETS.items():
        search = solve(board, kind(0, carried), 400)
        smallest[name] = np.nanmin(carried - opponent_values(search.subgame, search.average_policy(), 0))
    assert smallest["maxmargin"] == pytest.approx(ROOM, abs=0.01)
    assert -0.01 < smallest["resolve"] < 0.5 * ROOM


def test_what_is_refused() -> None:
    board = "TcJdQcKdTd"
    with pytest.raises(AlgorithmError, match="this subgame's gadgets need a CFR variant"):
        solve(board, GADGETS["resolve"](0, promised(board, 0)), 1, "fp")
    with pytest.raises(AlgorithmError, match=r"no alternative value for hand .* of player 1 at .*betting.*; compute carried"):
        solve(board, GADGETS["resolve"](0, np.full_like(promised(board, 0), np.nan)), 1)
