"""The bucket game: chance deals both players a bucket on every street; any betting tree can be used.

A player knows its own *sequence* of buckets so far; no cards are public. Two tables over pairs of last-street sequences give
the probability of each pair and the expected showdown. Solving and exploitability refer to the game that these tables
define.

Source: Zinkevich, Johanson, Bowling and Piccione (2007), "Regret Minimization in Games with Incomplete Information", section 4.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.wings import named
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE, TERMINAL, CheckedState, Game
from treeplex.games.parameters import observer
from treeplex.holdem.betting.tree import BettingTree, Decision, Fold, Showdown, StreetEnd, betting_tree, payoffs
from treeplex.holdem.spots.spot import Spot

if TYPE_CHECKING:
    from treeplex.holdem.buckets.buckets import Buckets

Table = NDArray[np.float32]
Outcomes = Sequence[tuple[int, float]]

DEAL = -1
"""The node before the first buckets are dealt."""
TOLERANCE = 1e-3
"""Tolerance for float32 probabilities to sum to one."""


class BucketState(CheckedState):
    """Both players' bucket sequences and the node of the betting tree; :data:`DEAL` before the first deal."""

    __slots__ = ("game", "node", "sequences")

    def __init__(self, game: "BucketGame", sequences: tuple[int, int], node: int) -> None:
        self.game = game
        self.sequences = sequences
        self.node = node

    def current_player(self) -> int:
        return self.game.player_at(self.node)

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.current_player() == CHANCE:
            return [action for action, _ in self.chance_outcomes()]
        return [] if self.current_player() == TERMINAL else self.game.tree.moves[self.node]

    def chance_outcomes(self) -> Outcomes:
        game, street = self.game, self.game.dealt_at(self.node) + 1
        count = game.counts[street]
        first, second = (slice(sequence * count, (sequence + 1) * count) for sequence in self.sequences)
        pairs = game.pairs_on(street, street)[first, second].ravel()
        possible = np.flatnonzero(pairs)
        return list(zip(possible.tolist(), (pairs[possible] / pairs[possible].sum()).tolist(), strict=True))

    def after(self, action: int) -> "BucketState":
        game = self.game
        if self.current_player() == CHANCE:
            count = game.counts[game.dealt_at(self.node) + 1]
            one, two = self.sequences
            node = 0 if self.node == DEAL else game.tree.nodes[self.node]
            below = node.child if isinstance(node, StreetEnd) else 0
            return BucketState(game, (one * count + action // count, two * count + action % count), below)
        decision = game.tree.nodes[self.node]
        assert isinstance(decision, Decision)
        return BucketState(game, self.sequences, decision.children[game.tree.moves[self.node].index(action)])

    def returns(self) -> Sequence[float]:
        game, node = self.game, self.game.tree.nodes[self.node]
        assert isinstance(node, Fold | Showdown)
        payoff = payoffs(node, game.spot.rake)[0]
        if isinstance(node, Showdown):
            street = game.dealt_at(self.node)
            payoff *= float(game.wins_on(street, street)[self.sequences] / game.pairs_on(street, street)[self.sequences])
        return [payoff, -payoff]

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        if self.node == DEAL:
            return f"[Observer: {player}]"
        return self.game.infostate(player, self.node, self.sequences[player])

    def public_state(self) -> Hashable:
        return self.current_player(), self.node

    def action_to_string(self, action: int) -> str:
        if self.current_player() == CHANCE:
            count = self.game.counts[self.game.dealt_at(self.node) + 1]
            return f"Deal {action // count + 1} {action % count + 1}"
        return self.game.tree.names[action]


class BucketGame(Game):
    """Two-player poker with buckets in place of hands; payoffs in chips. Player 0 is out of position and the big blind preflop.

    Attributes:
        spot: stacks, blinds and bets; of its cards only the number of streets matters.
        counts: buckets on each street played. A sequence is a mixed-radix number with these bases, the first street most
            significant.
        tree: the betting tree; an action id is an index of its ``names``.
    """

    def __init__(
        self,
        spot: Spot,
        counts: Sequence[int],
        tables: Callable[[], tuple[Table, Table]],
        *,
        buckets: "Callable[[], Buckets] | None" = None,
        spec: str = "",
        parameters: Mapping[str, object] | None = None,
    ) -> None:
        """Describe the game; expensive parts are computed when they are first used.

        Args:
            spot: see the attributes.
            counts: see the attributes.
            tables: returns :attr:`pairs` and :attr:`wins`.
            buckets: returns :attr:`buckets`.
            spec, parameters: for games with a name.

        Raises:
            SpecError: ``counts`` does not have one entry per street, or the spot has rake.
        """
        if len(counts) != len(spot.streets) or min(counts, default=0) < 1:
            raise SpecError(f"buckets: counts are {tuple(counts)}; give an integer for each of the {len(spot.streets)} streets")
        if spot.rake.rate > 0 and spot.rake.cap > 0:
            raise SpecError("buckets: the spot has rake, so payoffs do not sum to zero; remove the rake")
        self.spot, self.counts, self.spec = spot, tuple(counts), spec
        self._tables, self._buckets, self._parameters = tables, buckets, dict(parameters or {})

    def new_initial_state(self) -> BucketState:
        return BucketState(self, (0, 0), DEAL)

    def compile_directly(self, limit: int | None) -> object:
        """Compile the game directly; see :func:`treeplex.holdem.buckets.compile_buckets.compile_buckets`."""
        compiled: object = named("treeplex.holdem.buckets.compile_buckets:compile_buckets")(self, limit=limit)
        return compiled

    def parameters(self) -> Mapping[str, object]:
        return self._parameters

    @cached_property
    def tree(self) -> BettingTree:
        return betting_tree(self.spot)

    @cached_property
    def tables(self) -> tuple[Table, Table]:
        """The tables :attr:`pairs` and :attr:`wins`, validated.

        Raises:
            GameError: the tables have the wrong shape, or the pairs are not probabilities.
        """
        pairs, wins = self._tables()
        size = prod(self.counts)
        if pairs.shape != (size, size) or wins.shape != (size, size):
            raise GameError(f"{self}: tables have shapes {pairs.shape} and {wins.shape}; give {size} by {size}")
        if pairs.min() < 0 or abs(float(pairs.sum(dtype=np.float64)) - 1) > TOLERANCE:
            raise GameError(f"{self}: pairs must be probabilities that sum to 1")
        return pairs, wins

    @cached_property
    def buckets(self) -> "Buckets":
        """The card abstraction.

        Raises:
            GameError: the game was built from tables only.
        """
        if self._buckets is None:
            raise GameError(
                f"{self} has no cards, since it was created from tables; create it with bucketed_holdem to see hands"
            )
        return self._buckets()

    @property
    def pairs(self) -> Table:
        """Probability of each pair of sequences up to the last street, float32 [S, S]: player 0's first, sum 1."""
        return self.tables[0]

    @property
    def wins(self) -> Table:
        """Probability of each pair times the expected sign of the showdown for player 0: float32 [S, S]."""
        return self.tables[1]

    @property
    def sequences(self) -> tuple[int, ...]:
        """The number of bucket sequences on each street."""
        return tuple(prod(self.counts[: street + 1]) for street in range(len(self.counts)))

    def pairs_on(self, first: int, second: int) -> Floats:
        """Probabilities of player 0's sequences up to one street and player 1's up to another (-1: none), with sum 1."""
        return self._marginal(0, first, second)

    def wins_on(self, first: int, second: int) -> Floats:
        """The probabilities of :meth:`pairs_on` times the expected sign of the showdown for player 0."""
        return self._marginal(1, first, second)

    def _marginal(self, table: int, first: int, second: int) -> Floats:
        """Sum a table over the streets after ``first`` for player 0 and after ``second`` for player 1, float64."""
        key = table, first, second
        if key not in self._marginals:
            sizes = [self.sequences[street] if street >= 0 else 1 for street in (first, second)]
            whole = self.tables[table]
            parts = whole.reshape(sizes[0], len(whole) // sizes[0], sizes[1], len(whole) // sizes[1])
            self._marginals[key] = parts.sum(axis=(1, 3), dtype=np.float64) / self.pairs.sum(dtype=np.float64)
        return self._marginals[key]

    @cached_property
    def _marginals(self) -> dict[tuple[int, int, int], Floats]:
        return {}

    def player_at(self, node: int) -> int:
        """The player to act at a node of the betting tree."""
        event = None if node == DEAL else self.tree.nodes[node]
        if isinstance(event, Decision):
            return event.player
        return CHANCE if event is None or isinstance(event, StreetEnd) else TERMINAL

    def dealt_at(self, node: int) -> int:
        """The last street dealt at a node, counted from the first street played; -1 before any deal."""
        return -1 if node == DEAL else self.tree.nodes[node].street - self.spot.street

    def infostate(self, player: int, node: int, sequence: int) -> str:
        """The infostate of a player with this bucket sequence at a node."""
        return f"[Observer: {player}][Buckets: {self.texts[self.dealt_at(node)][sequence]}][Actions: {self.tree.lines[node]}]"

    @cached_property
    def texts(self) -> list[list[str]]:
        """The text of each bucket sequence on each street; bucket 1 is the weakest."""
        texts = [[str(bucket + 1) for bucket in range(self.counts[0])]]
        for count in self.counts[1:]:
            texts.append([f"{earlier} {bucket + 1}" for earlier in texts[-1] for bucket in range(count)])
        return texts
