"""Parts of a compiled spot: the streets before and after a cut, and the positions of boards and decisions in arrays."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import GameError
from treeplex.holdem.betting.tree import Decision, Showdown, payoffs
from treeplex.holdem.engine.form import ACTIONS, BOARDS, COUNT, ENDS, REACH, ROOTS, STORE, HoldemForm, Store, Workspace
from treeplex.holdem.forms.betting_forest import Forest, grow
from treeplex.holdem.forms.compile_spot import CompiledSpot, arrays_of
from treeplex.holdem.forms.suit_symmetry import Hands


def part_of(whole: CompiledSpot, forests: list[Forest]) -> CompiledSpot:
    """The compiled spot with other betting forests on the same boards."""
    return replace(whole, forests=forests, form=arrays_of(whole.spot, forests, whole.boards, Hands(whole.spot)))


def top_of(whole: CompiledSpot, streets: int) -> CompiledSpot:
    """The first streets of a spot, with the cards and showdowns that follow their all-ins."""
    forests = whole.forests[:streets]
    for forest in whole.forests[streets:]:
        roots, last = forests[-1].below, forest is whole.forests[-1]
        runout = Forest(forest.street, roots)
        for k, number in enumerate(roots):
            node = whole.betting.nodes[number]
            if isinstance(node, Showdown) and last:
                runout.showdowns.append((k, k))
                runout.showdown_values.append(payoffs(node, whole.spot.rake))
            elif isinstance(node, Showdown):
                runout.ends.append((k, k))
                runout.below.append(number)
        forests = [*forests, runout]
    return part_of(whole, forests)


def below_of(whole: CompiledSpot, streets: int, ends: Ints) -> CompiledSpot:
    """The streets below some ends of the last street before a cut."""
    roots = [whole.forests[streets - 1].below[k] for k in ends]
    doors = [(k, k) for k in range(len(roots))]
    forests = [Forest(forest.street, roots, ends=list(doors), below=roots) for forest in whole.forests[:streets]]
    for forest in whole.forests[streets:]:
        grown = Forest(forest.street, forests[-1].below)
        grow(grown, whole.betting, whole.spot.rake, last=forest is whole.forests[-1])
        forests.append(grown)
    return part_of(whole, forests)


def store_with(regrets: Floats, policy: Floats, average: Floats) -> Store:
    """A store for the engine; arrays that only other algorithms need are empty or None."""
    scales: NDArray[Any] = np.zeros(0, np.float32)
    return Store(
        regrets=regrets,
        guesses=policy,
        average=average,
        regret_scales=scales,
        guess_scales=scales,
        average_scales=scales,
        previous=None,
        changes=None,
        target=None,
        locked=np.zeros(0, np.uint8),
        lock_places=np.zeros(0, np.int64),
        lock_values=np.zeros(0),
    )


def rows_of(
    form: HoldemForm, work: Workspace, player: int, board: int = 0, *, street: int = 0, gathered: bool = False
) -> NDArray[Any]:
    """A view of a player's rows on a board, [sequences, hands]; boards are counted from the first of the street.

    The rows are own reach, or with ``gathered`` the values returned at each end of the street.
    """
    row, streets = form.boards[int(form.streets[street, BOARDS]) + board], form.streets[street]
    hands, start = int(row[COUNT + player]), int(row[REACH + player])
    count = int(streets[ENDS + 1] - streets[ENDS]) if gathered else int(streets[ROOTS] + streets[ACTIONS + player])
    return (work.gathered if gathered else work.reach)[start : start + count * hands].reshape(count, hands)


def board_part(game: CompiledSpot, street: int, number: int, player: int) -> slice:
    """The slice of a solver's array that holds a player's entries on a board."""
    row = game.form.boards[game.first_boards[street] + number]
    start = int(row[STORE + player])
    return slice(start, start + game.forests[street].actions[player] * int(row[COUNT + player]))


def own_parts(game: CompiledSpot, player: int, streets: int = 1) -> list[slice]:
    """The slices of a solver's array that hold a player's numbers on the first streets, board by board."""
    return [board_part(game, street, k, player) for street in range(streets) for k in range(len(game.boards[street]))]


def policy_table(game: CompiledSpot, node: int, source: NDArray[Any], street: int = 0, number: int = 0) -> Floats:
    """The policy of each hand at a decision, float64 [A, H]; uniform for hands that the board blocks.

    Args:
        game: the compiled game.
        node: the decision, a node of the betting tree.
        source: [Q], the unnormalised policy in a solver's layout.
        street, number: the board, counted from the street's first.

    Raises:
        GameError: the node is not a decision of that street.
    """
    rows = np.maximum(decision_rows(game, node, source, street, number), 0.0)
    player, total = decision_at(game, node, street).player, rows.sum(axis=0)
    table = np.full((len(rows), len(game.spot.ranges[0])), 1.0 / len(rows))
    hands = game.boards[street][number].hands[player]
    table[:, hands] = np.divide(rows, total, out=table[:, hands], where=total > 0)
    return table


def decision_at(game: CompiledSpot, node: int, street: int) -> Decision:
    """A decision node of a street.

    Raises:
        GameError: the node is not a decision.
    """
    event = game.betting.nodes[node]
    if not isinstance(event, Decision) or node not in game.forests[street].numbers[event.player]:
        raise GameError(f"betting node {node} is not a decision of this street")
    return event


def decision_rows(game: CompiledSpot, node: int, source: NDArray[Any], street: int = 0, number: int = 0) -> NDArray[Any]:
    """A view of the values stored for a decision node's actions, [A, hands on the board]; arguments as in
    :func:`policy_table`.
    """
    player, forest = decision_at(game, node, street).player, game.forests[street]
    hands = len(game.boards[street][number].hands[player])
    _, first, count = forest.nodes[player][forest.numbers[player].index(node)]
    return source[board_part(game, street, number, player)].reshape(-1, hands)[first : first + count]


def board_number(game: CompiledSpot, street: int, cards: Sequence[int]) -> int | None:
    """The index of a board among those of its street; the cards of one deal may be in any order."""
    if street == 0:
        return 0
    before = len(game.boards[street - 1][0].cards)
    parent = board_number(game, street - 1, tuple(cards)[:before])
    if parent is None:
        return None
    dealt = set(cards[before:])
    return next(
        (k for k in game.boards[street - 1][parent].children if set(game.boards[street][k].cards[before:]) == dealt), None
    )
