"""Solve a spot again with other ranges, from the regrets of its solution.

Regrets are by hand, so they carry over to ranges of other weights; hands that the old ranges lack begin with none. The average
begins anew. The schedule goes on as if :data:`START` iterations were done, so that a discounting rule neither forgets what was
carried over nor holds on to it for long.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.holdem.form import COUNT, STORE
from treeplex.errors import SpecError
from treeplex.forms.holdem.compile_spot import CompiledSpot, compile_spot, pair_weight
from treeplex.forms.holdem.suit_symmetry import Hands, symmetries_of
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.solution import HoldemSolution, reread

Arrays = Mapping[str, NDArray[Any]]

START = 20
"""Iterations that count as done."""
FRESH = ("average",)
"""What begins anew: the sums of strategies, and their scales."""


def without_average(state: Arrays) -> Arrays:
    """A solver's arrays with the average as it is before the first iteration."""
    return {name: np.zeros_like(array) if name.startswith(FRESH) else array for name, array in state.items()}


def carried_over(solution: HoldemSolution, spot: Spot) -> tuple[CompiledSpot, Arrays]:
    """The compiled spot with other ranges, and the arrays with which solving begins.

    Where the same hands are in the ranges and the same suits are alike, the form is taken over and nothing is compiled.

    Args:
        solution: of the same spot with other ranges, with what solving on needs.
        spot: the spot to solve.

    Raises:
        SpecError: another spot, a solution without its solver's state or with locks, or ranges that tell other suits apart.
    """
    old = solution.game
    if reread(replace(spot, ranges=old.spot.ranges)).identity != reread(old.spot).identity:
        raise SpecError("the solution to start from is of a spot that differs in more than the ranges; solve this one afresh")
    if solution.state is None:
        raise SpecError("the solution to start from was saved without what solving on needs (resumable); solve it again")
    if solution.locks:
        raise SpecError("the solution to start from has locks, which other ranges have not; solve the spot afresh")
    hands = Hands(spot)
    if old.isomorphism and set(symmetries_of(spot, hands)) != set(symmetries_of(old.spot, hands)):
        raise SpecError("the new ranges tell other suits apart than the old ones, so boards differ; solve the spot afresh")
    state = without_average(solution.state)
    if all(np.array_equal(new > 0, was > 0) for new, was in zip(spot.ranges, old.spot.ranges, strict=True)):
        first = old.boards[0][0]
        weights = np.concatenate([spot.ranges[player][first.hands[player]] for player in (0, 1)])
        form = old.form._replace(weights=weights)
        return replace(old, spot=spot, form=form, compatible=pair_weight(spot, hands, first)), state
    if solution.scales.size:
        raise SpecError("16-bit numbers carry over to the same hands only, with other weights; solve the spot afresh")
    game = compile_spot(spot, isomorphism=old.isomorphism)
    return game, {name: moved(array, old, game) for name, array in state.items()}


def moved(array: NDArray[Any], old: CompiledSpot, game: CompiledSpot) -> NDArray[Any]:
    """A stored array with its numbers at the places of the same hands; zero for hands that the old ranges lack."""
    if array.shape != (old.stored,):
        return array
    found, size = np.zeros(game.stored, array.dtype), len(old.spot.format.hands)
    number = 0
    for forest, befores, boards in zip(game.forests, old.boards, game.boards, strict=True):
        for before, board in zip(befores, boards, strict=True):
            rows = old.form.boards[number], game.form.boards[number]
            for player in (0, 1):
                place = np.full(size, -1)
                place[before.hands[player]] = np.arange(len(before.hands[player]))
                source = place[board.hands[player]]
                blocks = []
                for row, numbers in zip(rows, (array, found), strict=True):
                    start, count = int(row[STORE + player]), int(row[COUNT + player])
                    blocks.append(numbers[start : start + forest.actions[player] * count].reshape(-1, count))
                blocks[1][:, source >= 0] = blocks[0][:, source[source >= 0]]
            number += 1
    return found
