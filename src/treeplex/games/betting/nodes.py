"""The betting of a card game as arrays, cards aside: every line of it, whatever cards come."""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from treeplex.engine.betting.pots import Ends
from treeplex.engine.betting.sampling import Nodes
from treeplex.errors import SpecError
from treeplex.games.base import CHANCE
from treeplex.games.betting.settlement import Settlement
from treeplex.games.card_game import CardGame
from treeplex.games.public import State

MOST_NODES = 2_000_000
"""Decisions of a betting tree."""


class Betting(Protocol):
    """What the betting of a game is asked, at states where somebody acts or the hand is over."""

    def first(self) -> Any:
        """Where it begins."""

    def player(self, state: Any) -> int:
        """Who acts; negative where the hand is over."""
        ...

    def street(self, state: Any) -> int:
        """The street, from 0."""
        ...

    def actions(self, state: Any) -> Sequence[int]:
        """The labels of the actions."""
        ...

    def kind(self, state: Any, label: int) -> int:
        """0 for an action that folds, 1 for one that checks or calls, 2 for others."""
        ...

    def after(self, state: Any, label: int) -> Any:
        """The state after an action, cards that are due dealt."""

    def settlement(self, state: Any) -> Settlement:
        """Who can win what where the hand is over."""
        ...


class CardGameBetting:
    """The betting of public states; what cards chance shows is the first that it can."""

    def __init__(self, game: CardGame) -> None:
        self.game = game

    def first(self) -> State:
        return self._dealt(self.game.first_state())

    def player(self, state: State) -> int:
        return self.game.mover(state)

    def street(self, state: State) -> int:
        return self.game.street_of(state)

    def actions(self, state: State) -> Sequence[int]:
        return self.game.actions(state)

    def kind(self, state: State, label: int) -> int:
        return self.game.kind_of(state, label)

    def after(self, state: State, label: int) -> State:
        return self._dealt(self.game.moved(state, label))

    def settlement(self, state: State) -> Settlement:
        return self.game.settlement(state)

    def _dealt(self, state: State) -> State:
        while self.game.mover(state) == CHANCE:
            state = self.game.moved(state, self.game.options(state).labels[0])
        return state


def number_nodes(betting: Betting, players: int, counts: Sequence[int]) -> tuple[Nodes, list[Hashable]]:
    """The betting tree, and where each decision's numbers stand in tables.

    Args:
        betting: what is asked.
        players: how many play.
        counts: how many rows the tables have on each street.

    Returns:
        The tree and the state at each decision.

    Raises:
        SpecError: more decisions than memory should hold.
    """
    states = [betting.first()]
    player, street, first, count = list[int](), list[int](), list[int](), list[int]()
    child, labels, kinds, rows = list[int](), list[int](), list[int](), list[int]()
    settlements = list[Settlement]()
    size, number = 0, 0
    while number < len(states):
        state, number = states[number], number + 1
        actions = list(betting.actions(state))
        player.append(betting.player(state))
        street.append(betting.street(state))
        first.append(len(child))
        count.append(len(actions))
        rows.append(size)
        size += counts[street[-1]] * len(actions)
        for action in actions:
            after = betting.after(state, action)
            labels.append(action)
            kinds.append(betting.kind(state, action))
            if betting.player(after) >= 0:
                child.append(len(states))
                states.append(after)
            else:
                child.append(-1 - len(settlements))
                settlements.append(betting.settlement(after))
        if len(states) > MOST_NODES:
            raise SpecError(
                f"the betting has more than {MOST_NODES:,} decisions; give fewer sizes (sizes=[100%;a]), a limit of raises "
                "(raises=[3;3;2;2]), smaller stacks or fewer players"
            )
    return Nodes(
        np.array(player, np.int64),
        np.array(street, np.int64),
        np.array(first, np.int64),
        np.array(count, np.int64),
        np.array(child, np.int64),
        np.array(labels, np.int64),
        np.array(kinds, np.int8),
        ends_of(settlements, players),
        np.array(rows, np.int64),
    ), states


def ends_of(settlements: Sequence[Settlement], players: int) -> Ends:
    """Settlements as arrays."""
    most = max(len(each.pots) for each in settlements)
    put, kept = np.array([each.put for each in settlements]), np.array([each.kept for each in settlements])
    chips, able = np.zeros((len(settlements), most)), np.zeros((len(settlements), most), np.int64)
    for end, each in enumerate(settlements):
        for pot, (amount, winners) in enumerate(each.pots):
            chips[end, pot], able[end, pot] = amount, sum(1 << seat for seat in winners)
    return Ends(put.reshape(-1, players), chips, able, kept, np.array(settlements[0].order, np.int64))


def table_size(nodes: Nodes, counts: Sequence[int]) -> int:
    """How many numbers a table has."""
    return int(nodes.rows[-1] + counts[nodes.street[-1]] * nodes.actions[-1])
