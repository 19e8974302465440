"""Subgames for any number of players: one betting round compiled as a game.

The subgame is cut at the next chance event. There each player may choose, with each hand and without seeing the others'
choices, among several continuations (Brown and Sandholm 2019, "Superhuman AI for multiplayer poker", "Depth-limited search").
This choice is one more decision. So a subgame consists only of infosets and one payoff for every combination of sequences, and
any algorithm for compiled games solves it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.form import Payoff, Sparse, Tree
from treeplex.engine.tree.gradient import empty_dense
from treeplex.errors import GameError
from treeplex.forms.compile.assemble import Discovery, lay_out
from treeplex.forms.compile.compiled_game import CompiledGame, GameSize
from treeplex.games.base import CHANCE, TERMINAL, on_one_line
from treeplex.games.card_game import CardGame
from treeplex.games.public import State, check_entries

Leaf = Callable[[State, Ints], Floats]
"""Function from a public state where chance moves, and deals int64 [D, N], to each player's payoffs, float64
[C_0, ..., C_(N-1), D, N]; ``C_i`` is player i's number of continuations, 1 without a choice."""
Considered = Callable[[State], Sequence[int]]
"""Function from a public state with a player to act to the subgame's actions there, in the game's order."""


@dataclass(frozen=True, eq=False, repr=False)
class RoundSubgame:
    """The game from a public state to the next chance event, over all possible deals.

    Attributes:
        game: the public game.
        state: the public state where it begins.
        deals: int64 [D, N], the hands of all players.
        tree: its treeplexes; each player's empty sequence is the start, with any hand.
        infostates, action_ids: infostates of its infosets and action ids of its sequences; choices below leaves also have an
            infostate.
        sequences: for each public state with a player to act int64 [A, H], the sequence of each available action and each
            hand; -1 for impossible hands.
        labels: for each such state the available actions.
        pointers, others: rows of the payoff operator, see :class:`treeplex.engine.tree.form.Sparse`.
        payoffs: float64 [entries], the payoff of the row's player.
        deal: int64 [entries], the deal of each entry.
    """

    game: CardGame
    state: State
    deals: Ints
    tree: Tree
    infostates: tuple[str, ...]
    action_ids: Ints
    sequences: Mapping[State, Ints]
    labels: Mapping[State, Sequence[int]]
    pointers: Ints
    others: NDArray[np.int32]
    payoffs: Floats
    deal: Ints

    def __repr__(self) -> str:
        where = self.game.name_of(self.state)
        return on_one_line(
            f"<{self.game.title}: {len(self.deals):,} deals, {len(self.infostates):,} infosets, round at {where}>"
        )

    @cached_property
    def _size(self) -> GameSize:
        counted = len(self.deals) * len(self.sequences)
        return GameSize(counted, len(self.payoffs), len(self.sequences), len(self.deals), len(self.sequences))

    def compiled(self, ranges: Sequence[Floats]) -> CompiledGame:
        """Compile the subgame with initial ranges, float64 [H] for each player; the weights of all deals sum to 1.

        Raises:
            GameError: the ranges exclude each other.
        """
        weights = np.prod([weight_row[self.deals[:, seat]] for seat, weight_row in enumerate(ranges)], axis=0)
        if not weights.sum() > 0:
            raise GameError(f"no deal of these ranges is possible at {self.game.name_of(self.state)}; widen a range")
        values = self.payoffs * (weights / weights.sum())[self.deal]
        names = tuple({int(action): str(action) for action in np.unique(self.action_ids)} for _ in range(self.game.players))
        payoff = Payoff(Sparse(self.pointers, self.others, values), empty_dense())
        return CompiledGame(
            "", self.game.players, self.tree, payoff, self.infostates, self.action_ids, names, self._size, constant=None
        )

    def table(self, policy: Floats, state: State) -> Floats:
        """Tabulate a policy [Q] at a public state with a player to act, float64 [A, H] over all of the game's actions.

        The table is 0 for actions outside the subgame, and uniform over the subgame's actions for impossible hands.
        """
        sequences, labels = self.sequences[state], self.game.options(state).labels
        table = np.zeros((len(labels), sequences.shape[1]))
        table[self.rows(state)] = np.where(sequences >= 0, policy[sequences], 1.0 / len(sequences))
        return table

    def rows(self, state: State) -> list[int]:
        """Indices of the subgame's actions among all of the game's actions at a public state."""
        labels = list(self.game.options(state).labels)
        return [labels.index(label) for label in self.labels[state]]


def cut_round(game: CardGame, state: State, leaf: Leaf, considered: Considered | None = None) -> RoundSubgame:
    """Cut the subgame from a public state to the next chance event.

    Args:
        game: the public game.
        state: a state with a player to act.
        leaf: payoffs at the cut, where chance moves.
        considered: the actions that the subgame has; None for all.

    Returns:
        The subgame.

    Raises:
        GameError: no player is to act at ``state``, or the tables are too large.
    """
    if game.options(state).player < 0:
        raise GameError(f"no betting round begins at {game.name_of(state)}; give a state with a player to act")
    check_entries(game.name_of(state), len(game.hands) ** game.players)
    deals = np.argwhere(game.joint(state, game.possible(state)) > 0)
    return RoundCutter(game, deals, leaf, considered).cut(state)


class RoundCutter:
    """A traversal of public states that numbers infosets and collects payoffs.

    Attributes:
        found: infosets, with provisional sequence numbers.
        sequences, labels: as in :class:`RoundSubgame`, with provisional sequences.
        ends: for all payoff entries, in parts: provisional sequences int64 [E, N], payoffs float64 [E, N] and deals int64 [E].
    """

    def __init__(self, game: CardGame, deals: Ints, leaf: Leaf, considered: Considered | None) -> None:
        self.game, self.deals, self.leaf, self.considered = game, deals, leaf, considered
        self.labels: dict[State, Sequence[int]] = {}
        self.found = Discovery(game.players)
        self.sequences: dict[State, Ints] = {}
        self.ends: list[tuple[Ints, Floats, Ints]] = []

    def cut(self, root: State) -> RoundSubgame:
        """Cut the subgame at a public state."""
        everyone = [np.full(len(self.game.hands), player, np.int64) for player in range(self.game.players)]
        self.held = [np.unique(self.deals[:, player]) for player in range(self.game.players)]
        self._visit(root, everyone)
        layout = lay_out(self.found)
        final = np.append(layout.final, -1)  # a provisional -1 stays -1
        ends, payoffs, deals = (np.concatenate(part) for part in zip(*self.ends, strict=True))
        ends = final[ends]
        pointers = np.zeros(len(layout.final) + 1, np.int64)
        rows: list[tuple[NDArray[np.int32], Floats, Ints]] = []
        for player in range(self.game.players):
            order = np.argsort(ends[:, player], kind="stable")
            rest = [other for other in range(self.game.players) if other != player]
            rows.append((ends[order][:, rest].astype(np.int32), payoffs[order, player], deals[order]))
            pointers[1:] += np.bincount(ends[:, player], minlength=len(layout.final))
        np.cumsum(pointers, out=pointers)
        return RoundSubgame(
            self.game, root, self.deals, layout.tree, layout.infostates, layout.action_ids,
            {state: final[numbers] for state, numbers in self.sequences.items()}, self.labels,
            pointers, *(np.concatenate(part) for part in zip(*rows, strict=True)),
        )  # fmt: skip

    def _visit(self, state: State, before: Sequence[Ints]) -> None:
        """Traverse from a public state; ``before`` has each player's sequences that lead to it, int64 [H]."""
        options = self.game.options(state)
        if options.player == TERMINAL:
            self._end(before, self.game.payoffs_of(state, self.deals))
        elif options.player == CHANCE:
            self._choose(state, before)
        else:
            player = options.player
            texts = {hand: self.game.infostate_at(state, player, hand) for hand in self.held[player].tolist()}
            labels = list(options.labels if self.considered is None else self.considered(state))
            sequences = self._add(player, before[player], texts, labels)
            self.sequences[state], self.labels[state] = sequences, labels
            for number, label in enumerate(labels):
                after = [sequences[number] if seat == player else earlier for seat, earlier in enumerate(before)]
                self._visit(self.game.after(state, label), after)

    def _choose(self, state: State, before: Sequence[Ints]) -> None:
        """Add the choices among continuations where chance moves."""
        values = self.leaf(state, self.deals)
        counts = values.shape[: self.game.players]
        chosen = []
        for player, count in enumerate(counts):
            texts = {hand: f"continuation of {hand} at {self.game.name_of(state)}" for hand in self.held[player].tolist()}
            sequences = before[player][None] if count == 1 else self._add(player, before[player], texts, list(range(count)))
            chosen.append(sequences)
        for picks in np.ndindex(counts):
            self._end([sequences[pick] for sequences, pick in zip(chosen, picks, strict=True)], values[picks])

    def _add(self, player: int, before: Ints, texts: Mapping[int, str], labels: list[int]) -> Ints:
        """Add an infoset for each possible hand of a player; returns the sequences of the actions, int64 [A, H]."""
        sequences = np.full((len(labels), len(before)), -1, np.int64)
        for hand, text in texts.items():
            infoset = self.found.add(player, int(before[hand]), text, labels)
            sequences[:, hand] = self.found.first[infoset] + np.arange(len(labels))
        return sequences

    def _end(self, before: Sequence[Ints], payoffs: Floats) -> None:
        sequences = np.stack([of_player[self.deals[:, player]] for player, of_player in enumerate(before)], axis=1)
        self.ends.append((sequences, payoffs, np.arange(len(self.deals))))
