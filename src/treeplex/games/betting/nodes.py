"""The betting tree of a card game as arrays, independent of the cards."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from treeplex.engine.betting.pots import Ends
from treeplex.engine.betting.sampling import Nodes
from treeplex.errors import SpecError
from treeplex.games.base import CHANCE
from treeplex.games.betting.settlement import Settlement
from treeplex.games.card_game import CardGame
from treeplex.games.public import State

MOST_NODES = 2_000_000
"""Largest number of decisions of a betting tree."""


class Visit(NamedTuple):
    """A decision in the betting tree.

    Attributes:
        player: the player to act.
        street: the street, from 0.
        labels: the actions' labels.
        kinds: kind of each action: 0 fold, 1 check or call, 2 other.
        after: the states after the actions and after due cards.
    """

    player: int
    street: int
    labels: Sequence[int]
    kinds: Sequence[int]
    after: Sequence[Any]


def visit_public(game: CardGame, state: State) -> Visit | Settlement:
    """Return the decision or settlement at a public state; chance events are skipped by dealing the first possible card."""
    player = game.mover(state)
    if player < 0:
        return game.settlement(state)
    labels = game.actions(state)
    after = [dealt(game, game.moved(state, label)) for label in labels]
    return Visit(player, game.street_of(state), labels, [game.kind_of(state, label) for label in labels], after)


def dealt(game: CardGame, state: State) -> State:
    """Return the state after dealing all cards that are due."""
    while game.mover(state) == CHANCE:
        state = game.moved(state, game.options(state).labels[0])
    return state


def number_nodes(
    first: Any, visit: Callable[[Any], Visit | Settlement], players: int, counts: Sequence[int]
) -> tuple[Nodes, list[Hashable]]:
    """Number the decisions of a betting tree and lay out its tables.

    Args:
        first: the state in which the betting begins.
        visit: returns the decision at a state, or the settlement at the end of a hand.
        players: number of players.
        counts: number of table rows on each street.

    Returns:
        The tree and the state at each decision.

    Raises:
        SpecError: there are more than :data:`MOST_NODES` decisions.
    """
    states, visits, settlements = list[Hashable](), list[Visit](), list[Settlement]()
    begin, child, kinds = list[int](), list[int](), list[int]()
    rows, size = list[int](), 0

    def place(state: Any) -> int:
        visited = visit(state)
        if isinstance(visited, Settlement):
            settlements.append(visited)
            return -len(settlements)
        states.append(state)
        visits.append(visited)
        return len(states) - 1

    place(first)
    for visited in visits:  # the list grows during the loop
        begin.append(len(child))
        rows.append(size)
        size += counts[visited.street] * len(visited.labels)
        child += map(place, visited.after)
        kinds += visited.kinds
        if len(states) > MOST_NODES:
            raise SpecError(
                f"the betting tree has more than {MOST_NODES:,} decisions; use fewer sizes (sizes=[100%;a]), a limit on raises "
                "(raises=[3;3;2;2]), smaller stacks or fewer players"
            )
    return Nodes(
        np.array([visited.player for visited in visits], np.int64),
        np.array([visited.street for visited in visits], np.int64),
        np.array(begin, np.int64),
        np.array([len(visited.labels) for visited in visits], np.int64),
        np.array(child, np.int64),
        np.array([label for visited in visits for label in visited.labels], np.int64),
        np.array(kinds, np.int8),
        ends_of(settlements, players),
        np.array(rows, np.int64),
    ), states


def ends_of(settlements: Sequence[Settlement], players: int) -> Ends:
    """Convert settlements to arrays."""
    most = max(len(settlement.pots) for settlement in settlements)
    put, shares = (
        np.array([settlement.put for settlement in settlements]),
        np.array([settlement.kept for settlement in settlements]),
    )
    chips, able = np.zeros((len(settlements), most)), np.zeros((len(settlements), most), np.int64)
    for end, settled in enumerate(settlements):
        for pot, (amount, winners) in enumerate(settled.pots):
            chips[end, pot], able[end, pot] = amount, sum(1 << seat for seat in winners)
    return Ends(put.reshape(-1, players), chips, able, shares, np.array(settlements[0].order, np.int64))


def table_size(nodes: Nodes, counts: Sequence[int]) -> int:
    """Return the number of entries of a table."""
    return int(nodes.rows[-1] + counts[nodes.street[-1]] * nodes.actions[-1])
