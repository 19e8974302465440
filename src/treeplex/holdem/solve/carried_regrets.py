"""Warm starts: solves a spot with new ranges or bet sizes from the regrets of an existing solution.

Regrets are per hand, so they carry over to ranges with different weights; hands outside the old ranges start at zero. With
different bet sizes each action takes the regrets of the same action, or of the nearest size, at every decision that exists in
the old betting tree (:mod:`treeplex.holdem.solve.matched_betting`); elsewhere actions start at zero. A size that is nearest to
several new ones gives its regrets to each, since a regret is an action's value relative to the strategy, and near sizes have
similar values. Starting new sizes at zero, or dividing the regrets among them, was worse or no better in measurements.

The average restarts. The schedule continues as if :data:`START` iterations had been done, so that a discounting rule neither
forgets the regrets at once nor keeps them for long.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.engine.form import COUNT, STORE
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot, pair_weight
from treeplex.holdem.forms.suit_symmetry import Hands, symmetries_of
from treeplex.holdem.solve.matched_betting import NONE, Match, matched_betting
from treeplex.holdem.solve.solution import HoldemSolution, reread
from treeplex.holdem.spots.spot import Spot

Arrays = Mapping[str, NDArray[Any]]

START = 20
"""Number of iterations assumed to be done already."""
FRESH = ("average",)
"""Arrays that are reset: the strategy sums and their scales."""
FLOATS = ("float32", "float64")
"""Storage types whose entries can be moved individually."""


def without_average(state: Arrays) -> Arrays:
    """A solver's arrays with the average reset to its initial state."""
    return {name: np.zeros_like(array) if name.startswith(FRESH) else array for name, array in state.items()}


def carried_over(solution: HoldemSolution, spot: Spot) -> tuple[CompiledSpot, Arrays]:
    """The compiled spot with the new ranges or bet sizes, and the arrays from which solving starts.

    With the same hands in the ranges, the same sizes and the same suit symmetries, the form is reused and nothing is compiled.

    Args:
        solution: a resumable solution of the same spot with different ranges or bet sizes.
        spot: the spot to solve.

    Raises:
        SpecError: the spots differ otherwise, the solution has no solver state or has locks, or the ranges have different suit
            symmetries.
    """
    old = solution.game
    check_carrying(solution, spot)
    hands = Hands(spot)
    if old.isomorphism and set(symmetries_of(spot, hands)) != set(symmetries_of(old.spot, hands)):
        raise SpecError(
            "the new ranges have different suit symmetries from the old ones, so boards differ; solve the spot from the start"
        )
    state = without_average(solution.state or {})
    sized_alike = spot.bets.to_json() == old.spot.bets.to_json() and spot.chip == old.spot.chip
    if sized_alike and all(np.array_equal(new > 0, was > 0) for new, was in zip(spot.ranges, old.spot.ranges, strict=True)):
        first = old.boards[0][0]
        weights = np.concatenate([spot.ranges[player][first.hands[player]] for player in (0, 1)])
        form = old.form._replace(weights=weights)
        return replace(old, spot=spot, form=form, compatible=pair_weight(spot, hands, first)), state
    if solution.settings.storage not in FLOATS:
        raise SpecError(
            f"a solution in storage {solution.settings.storage} carries over only if hands and bet sizes stay the "
            "same and only their weights change; solve the spot from the start"
        )
    game = compile_spot(spot, isomorphism=old.isomorphism)
    match = matched_betting(game.betting, old.betting)
    return game, {name: moved(array, old, game, match) for name, array in state.items()}


def check_carrying(solution: HoldemSolution, spot: Spot) -> None:
    """Reject a solution that the spot cannot start from.

    Raises:
        SpecError: the spots differ otherwise, or the solution covers only the first street, lacks solver state or has locks.
    """
    old = solution.game.spot
    if solution.settings.until:
        raise SpecError(
            f"the solution to start from was solved with until={solution.settings.until} and has no regrets on later streets; "
            "solve the spot from the start"
        )
    if reread(replace(spot, ranges=old.ranges, bets=old.bets, chip=old.chip)).identity != reread(old).identity:
        raise SpecError("the solution to start from differs in more than ranges and bet sizes; solve this spot from the start")
    if solution.state is None:
        raise SpecError("the solution to start from was saved without solver state (resumable); solve its spot again")
    if solution.locks:
        raise SpecError("the solution to start from has locks, but the new spot has none; solve the spot from the start")


def moved(array: NDArray[Any], old: CompiledSpot, game: CompiledSpot, match: Mapping[int, Match]) -> NDArray[Any]:
    """A stored array with its entries moved to the matching hands and actions; zero where the old spot has no match."""
    if array.ndim == 2 and array.shape[1] == old.infosets:
        return np.zeros((len(array), game.infosets), array.dtype)
    if array.shape != (old.stored,):
        return array
    moved_array, size = np.zeros(game.stored, array.dtype), len(old.spot.format.hands)
    number = 0
    for street, (befores, boards) in enumerate(zip(old.boards, game.boards, strict=True)):
        sources = [action_sources(old, game, match, street, player) for player in (0, 1)]
        for before, board in zip(befores, boards, strict=True):
            for player in (0, 1):
                old_positions = np.full(size, NONE)
                old_positions[before.hands[player]] = np.arange(len(before.hands[player]))
                hands, actions = old_positions[board.hands[player]], sources[player]
                blocks = []
                for form, numbers, forest in ((old, array, old.forests[street]), (game, moved_array, game.forests[street])):
                    row = form.form.boards[number]
                    start, count = int(row[STORE + player]), int(row[COUNT + player])
                    blocks.append(numbers[start : start + forest.actions[player] * count].reshape(-1, count))
                matched = np.ix_(actions != NONE, hands >= 0)
                blocks[1][matched] = blocks[0][np.ix_(actions[actions != NONE], hands[hands >= 0])]
            number += 1
    return moved_array


def action_sources(
    old: CompiledSpot, game: CompiledSpot, match: Mapping[int, Match], street: int, player: int
) -> NDArray[np.int64]:
    """For each action of a player on a street, the matching action of the old spot, or NONE; int64 [actions]."""
    forest, before = game.forests[street], old.forests[street]
    sources = np.full(forest.actions[player], NONE)
    places = {node: first for node, (_, first, _) in zip(before.numbers[player], before.nodes[player], strict=True)}
    for node, (_, first, count) in zip(forest.numbers[player], forest.nodes[player], strict=True):
        if node in match:
            actions = np.array(match[node].actions)
            sources[first : first + count] = np.where(actions == NONE, NONE, places[match[node].node] + actions)
    return sources
