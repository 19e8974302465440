"""Values at every node of a solved spot under the average strategy, and equities.

Values are *counterfactual*: chips times the opponent's reach with hands that share no card with the player's hand. Divided by
that reach (:meth:`HoldemValues.compatible`) they are the hand's expected chips. One betting tree on one board is cheap to
evaluate; the values of boards below come from one pass over the whole spot, computed on first use.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.holdem.betting.tree import Decision, Fold, Showdown, StreetEnd, payoffs
from treeplex.holdem.engine.form import COUNT, HANDS, REACH, SCALES, STORE
from treeplex.holdem.engine.node import TILE
from treeplex.holdem.engine.passes import BEST, EXPECT
from treeplex.holdem.engine.showdowns.terminal import CARDS, folds, raked_showdowns
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.spot_form import store_of_policy
from treeplex.holdem.policies.judge import judging_crew
from treeplex.holdem.rules.run_outs import pot_shares

Array = NDArray[Any]
Pair = tuple[Floats, Floats]

MOST_TREES = 64
"""Number of betting trees in the LRU cache."""

NOISE = 1e-11
"""Share of the total reach below which compatible reach is treated as zero (rounding error)."""

SHARE = np.array([[1.0], [0.0], [0.5]])
"""Equity of a showdown: a win, a loss, a tie."""


@dataclass(frozen=True, eq=False)
class StreetValues:
    """The betting tree of one street on one board; hands are in the order of the board's lists.

    Attributes:
        policy: for each decision, the acting player's average strategy, float64 [actions, hands].
        reach: for each node, both players' range weights times own reach, float64 [hands] each.
        values: for each node, both players' counterfactual values, float64 [hands] each, in chips relative to half the
            starting pot.
    """

    policy: dict[int, Floats]
    reach: dict[int, Pair]
    values: dict[int, Pair]


class HoldemValues:
    """The values of one strategy in a compiled spot.

    Attributes:
        game: the compiled spot.
        average: [Q], the unnormalised strategy (uniform where it is zero), as in :class:`Store`. It may cover only the first
            streets if ``ends`` is given.
        scales: float32, for 16-bit numbers; else empty.
        responder: the player who plays a best response to the other's strategy; the other's values are then undefined. None if
            both follow the strategy.
    """

    def __init__(
        self,
        game: CompiledSpot,
        average: Array,
        scales: Array | None = None,
        *,
        threads: int = 1,
        ends: Floats | None = None,
        responder: int | None = None,
    ) -> None:
        """Set up the values, without computing any.

        Args:
            game: the compiled spot.
            average: [Q], the strategy.
            scales: scales of 16-bit numbers.
            threads: threads for the pass over the whole spot.
            ends: [R], the values at the ends of streets if already known; see :attr:`ends`.
            responder: see the attributes.
        """
        self.game, self.average, self.threads, self.responder = game, average, threads, responder
        self.scales: Array = np.zeros(0, np.float32) if scales is None else scales
        self._known_ends = ends
        self._trees: dict[tuple[int, int], StreetValues] = {}
        self._rows = [
            {number: row for numbers in forest.numbers for row, number in enumerate(numbers)} for forest in game.forests
        ]
        self._ends = [{below: end for end, below in enumerate(forest.below)} for forest in game.forests]

    @cached_property
    def ends(self) -> Floats:
        """Counterfactual values at the ends of all streets, float64 [R].

        Player p's hand j of n at end k of board b is at ``form.boards[b, REACH + p] + k * n + j``; other entries are undefined.
        """
        if self._known_ends is not None:
            return self._known_ends
        crew = judging_crew(self.game, self.threads)
        store = store_of_policy(self.game, self.average, self.scales)
        for player in (0, 1) if self.responder is None else (self.responder,):
            crew.answer(player, EXPECT if self.responder is None else BEST, self.average, self.scales, store)
        return crew.work.gathered

    def board_number(self, street: int, index: int) -> int:
        """The index in ``form.boards`` of a board, given its street (counted from the spot's first) and its index there."""
        return self.game.first_boards[street] + index

    def root_reach(self) -> Pair:
        """Both players' range weights on the first board."""
        board, ranges = self.game.boards[0][0], self.game.spot.ranges
        return ranges[0][board.hands[0]], ranges[1][board.hands[1]]

    def below(self, street: int, index: int, reach: Pair) -> Pair:
        """The reach of the hands on a board, from the reach on its parent board."""
        source = self.game.boards[street][index].source
        return reach[0][source[0]], reach[1][source[1]]

    def tree(self, street: int, index: int, root: int, reach: Pair) -> StreetValues:
        """The betting tree that begins at node ``root`` of a street, on one of its boards.

        Args:
            street, index: the board.
            root: number of the node in ``game.betting``.
            reach: both players' reach there; the same at every call for a board and root.
        """
        key = (self.board_number(street, index), root)
        street_values = self._trees.pop(key, None)
        if street_values is None:
            street_values = self._descend(street, key[0], root, reach)
            self._ascend(street, key[0], street_values)
        self._trees[key] = street_values
        while len(self._trees) > MOST_TREES:
            del self._trees[next(iter(self._trees))]
        return street_values

    def policy(self, street: int, board: int, number: int) -> Floats:
        """The strategy at a decision, float64 [actions, hands of the acting player]."""
        node = self.game.betting.nodes[number]
        assert isinstance(node, Decision)
        first = self.game.forests[street].nodes[node.player][self._rows[street][number]][1]
        weights = np.maximum(self.rows(board, node.player, first, len(node.actions)), 0.0)
        total = weights.sum(axis=0)
        probabilities: Floats = np.divide(weights, total, out=np.full(weights.shape, 1.0 / len(weights)), where=total > 0)
        return probabilities

    def rows(self, board: int, player: int, first: int, actions: int) -> Floats:
        """The numbers stored for some of a player's actions on a board, float64 [actions, hands]."""
        row = self.game.form.boards[board]
        hands = int(row[COUNT + player])
        start = int(row[STORE + player]) + first * hands
        numbers = self.average[start : start + actions * hands].reshape(actions, hands).astype(np.float64)
        if self.scales.size:
            tiles = -(-hands // TILE)
            start = int(row[SCALES + player]) + first * tiles
            scales = self.scales[start : start + actions * tiles].reshape(actions, tiles)
            numbers *= np.repeat(scales, TILE, axis=1)[:, :hands]
        return numbers

    def compatible(self, board: int, player: int, reach: Floats) -> Floats:
        """For each hand of ``player``, the opponent's reach with hands that share no card with it.

        Args:
            board: index of the board.
            player: the player whose hands they are.
            reach: float64 [other's hands] or [T, other's hands].

        Returns:
            float64 [own hands] or [own hands, T].
        """
        columns = self._columns(np.atleast_2d(reach))
        cards, _, twin = self._lists(board, player)
        other_cards, _, _ = self._lists(board, 1 - player)
        values = np.empty((len(cards), columns.shape[1]))
        total, by_card = np.empty(columns.shape[1]), np.empty((CARDS, columns.shape[1]))
        folds(cards, twin, other_cards, columns, values, total, by_card)
        values[values < NOISE * np.atleast_2d(reach).sum(axis=1)] = 0.0
        return values[:, 0] if reach.ndim == 1 else values

    def equity(self, street: int, index: int, reach: Pair) -> Pair:
        """Each hand's share of the pot at a showdown without further betting, over all cards to come.

        Args:
            street, index: the board.
            reach: both players' reach there.

        Returns:
            For both players float64 [hands], in [0, 1]; NaN for a hand with no compatible opposing hand.
        """
        board = self.board_number(street, index)
        some = self.game.cut_short or self.game.spot.runouts
        shares = self._shown_at_once(street, index, reach) if some else self._shares(street, index, reach)
        met = self.compatible(board, 0, reach[1]), self.compatible(board, 1, reach[0])
        return ratio(shares[0], met[0]), ratio(shares[1], met[1])

    def _shown_at_once(self, street: int, index: int, reach: Pair) -> Pair:
        """Equities times the opponent's compatible reach, for spots compiled without all of the following boards."""
        format, board, shares = self.game.spot.format, self.game.boards[street][index], []
        for player in (0, 1):
            other = np.zeros((1, len(format.hands)))
            other[0, board.hands[1 - player]] = reach[1 - player]
            met = self.compatible(self.board_number(street, index), player, reach[1 - player])
            shares.append(pot_shares(format, board.cards, other)[0, board.hands[player]] * met)
        return shares[0], shares[1]

    def _shares(self, street: int, index: int, reach: Pair) -> Pair:
        """Equities times the opponent's compatible reach."""
        board = self.board_number(street, index)
        if street == len(self.game.boards) - 1:
            return self._shown(board, 0, reach[1][None], SHARE)[:, 0], self._shown(board, 1, reach[0][None], SHARE)[:, 0]
        totals = np.zeros(len(reach[0])), np.zeros(len(reach[1]))
        for child in self.game.boards[street][index].children:
            shares = self._shares(street + 1, child, self.below(street + 1, child, reach))
            chance = self.game.form.factors[self.board_number(street + 1, child)]
            for targets in self.game.boards[street + 1][child].targets:
                totals[0][targets[0]] += chance * shares[0]
                totals[1][targets[1]] += chance * shares[1]
        return totals

    def _shown(self, board: int, player: int, reach: Floats, chips: Floats) -> Floats:
        """Showdown values, [own hands, T], from the opponent's reach [T, hands] and the chips for a win, a loss and a tie,
        [3, T].
        """
        columns = self._columns(reach)
        cards, order, twin = self._lists(board, player)
        other_cards, other_order, _ = self._lists(board, 1 - player)
        values = np.empty((len(cards), columns.shape[1]))
        total, by_card = np.empty(columns.shape[1]), np.empty((CARDS, columns.shape[1]))
        raked_showdowns(cards, order, twin, other_cards, other_order, columns, chips, values, total, by_card)
        return values

    def _lists(self, board: int, player: int) -> tuple[NDArray[np.uint8], NDArray[np.int16], NDArray[np.int16]]:
        """A player's hands on a board: their cards, order by strength and twins."""
        form = self.game.form
        first, count = int(form.boards[board, HANDS + player]), int(form.boards[board, COUNT + player])
        here = slice(first, first + count)
        return form.cards[here], form.order[here], form.twin[here]

    @staticmethod
    def _columns(reach: Floats) -> Floats:
        """Reach [T, hands] in the layout of the terminal operators: [hands + 1, T], with a last row of zeros."""
        columns = np.zeros((reach.shape[1] + 1, reach.shape[0]))
        columns[:-1] = reach.T
        return columns

    def _descend(self, street: int, board: int, root: int, reach: Pair) -> StreetValues:
        """Compute policies and reach, from the root of a betting tree to the end of the street; values are left empty."""
        tree, nodes, waiting = StreetValues({}, {}, {}), self.game.betting.nodes, [(root, reach)]
        while waiting:
            number, here = waiting.pop()
            tree.reach[number] = here
            node = nodes[number]
            if isinstance(node, Decision):
                policy = tree.policy[number] = self.policy(street, board, number)
                for a in range(len(node.actions) - 1, -1, -1):
                    mine = here[node.player] * policy[a]
                    waiting.append((node.children[a], (mine, here[1]) if node.player == 0 else (here[0], mine)))
        return tree

    def _ascend(self, street: int, board: int, tree: StreetValues) -> None:
        """Fill in the values of all nodes, starting at the ends."""
        nodes = self.game.betting.nodes
        self._value_terminals(street, board, tree)
        for number in reversed(tree.reach):
            node = nodes[number]
            if isinstance(node, Decision):
                children = [tree.values[child] for child in node.children]
                worth = np.array([child[node.player] for child in children])
                mine = worth.max(axis=0) if node.player == self.responder else (tree.policy[number] * worth).sum(axis=0)
                other = np.sum([child[1 - node.player] for child in children], axis=0)
                tree.values[number] = (mine, other) if node.player == 0 else (other, mine)
            elif number not in tree.values:
                tree.values[number] = self._end_values(street, board, number)

    def _end_values(self, street: int, board: int, number: int) -> Pair:
        """Both players' values returned to the end of a street before the last."""
        node, row = self.game.betting.nodes[number], self.game.form.boards[board]
        end = self._ends[street][node.child if isinstance(node, StreetEnd) else number]
        end_values = []
        for player in (0, 1):
            hands = int(row[COUNT + player])
            start = int(row[REACH + player]) + end * hands
            end_values.append(self.ends[start : start + hands].astype(np.float64))
        return end_values[0], end_values[1]

    def _value_terminals(self, street: int, board: int, tree: StreetValues) -> None:
        """Fill in the values of folds and, on the last street, of showdowns, vectorised by kind."""
        nodes, rake = self.game.betting.nodes, self.game.spot.rake
        folded = [number for number in tree.reach if isinstance(nodes[number], Fold)]
        shown = [number for number in tree.reach if isinstance(nodes[number], Showdown)]
        if street < len(self.game.forests) - 1:
            shown = []
        pays = {number: payoffs(node, rake) for number in folded + shown if isinstance(node := nodes[number], Fold | Showdown)}
        sides = []
        for player in (0, 1):
            values: dict[int, Floats] = {}
            if folded:
                against = np.array([tree.reach[number][1 - player] for number in folded])
                met = self.compatible(board, player, against)
                values |= {number: pays[number][player] * met[:, k] for k, number in enumerate(folded)}
            if shown:
                against = np.array([tree.reach[number][1 - player] for number in shown])
                worth = self._shown(board, player, against, np.array([pays[number] for number in shown]).T.copy())
                values |= {number: worth[:, k] for k, number in enumerate(shown)}
            sides.append(values)
        tree.values.update({number: (sides[0][number], sides[1][number]) for number in pays})


def ratio(values: Floats, met: Floats) -> Floats:
    """Convert counterfactual values to expected values: divide by the compatible reach; NaN where that is zero."""
    quotient: Floats = np.divide(values, met, out=np.full(values.shape, np.nan), where=met > 0)
    return quotient
