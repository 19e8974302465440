"""Depth-limited search of the turn in hold'em: its betting round, all hands at once, with values where it ends.

The round runs on the hand engine's kernels, which never enumerate pairs of hands. A subgame ends before the river is seen;
after an all-in the rivers are dealt here. Methods and their order of updates are those of
:class:`treeplex.search.subgame.SubgameSearch`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.holdem.form import COUNT, STORE, Store
from treeplex.engine.holdem.passes import EXPECT, REPLY, BoardPool, answer, improve
from treeplex.engine.holdem.workspace import make_workspace
from treeplex.engine.tree.regret import Weights
from treeplex.errors import GameError
from treeplex.evaluate.holdem.node_values import HoldemValues
from treeplex.forms.holdem.compile_spot import CompiledSpot
from treeplex.forms.holdem.split_turn import SplitTurn
from treeplex.forms.holdem.spot_form import store_of
from treeplex.games.poker.betting.tree import Decision
from treeplex.search.beliefs import normalised_range
from treeplex.search.holdem.beliefs import HoldemRules
from treeplex.search.holdem.leaf import HoldemLeaf, HoldemPlaces, held, rows_of
from treeplex.search.leaf import Ranges
from treeplex.search.subgame import Method, Search, difference
from treeplex.solvers.rules.fictitious import FictitiousRule

Floats = NDArray[np.float64]


class HoldemSearch(Search):
    """A turn being solved to the end of its betting round; an iteration updates both players.

    Attributes:
        turn: the compiled turn.
        places: where the round ends and play goes on.
        iteration: iterations done.
        ranges: for each player float64 [H], with which the turn begins, summing to one.
        store: regrets, guesses and average of the round, float64 [Q] each, as :class:`treeplex.engine.holdem.form.Store` has
            them for ``turn.top``; of fictitious play the regrets are the last best responses.
        strategy: float64 [Q], the current policy in sequence form; of fictitious play the last best responses.
        faced: float64 [Q], the average of the strategies that the other player faced, up to a factor, as
            :class:`treeplex.search.subgame.SubgameSearch` keeps it.
        sums, sum_weights: for each player float64 [hands] and a number, root values of iterations so far, weighted as the
            average policy, and the sum of those weights.
        last_leaf: for each player float64 [K, H], what modified CFR-AVG takes differences from.
    """

    def __init__(self, turn: SplitTurn, method: Method, leaf: HoldemLeaf, ranges: Ranges, *, horizon: int = 1000) -> None:
        """Start from the uniform policy.

        Args:
            turn: the compiled turn.
            method: one of :data:`treeplex.search.subgame.METHODS`.
            leaf: values where the betting round ends.
            ranges: for each player float64 [H], with which the turn begins, up to a factor; within those of ``turn``'s spot.
            horizon: iterations planned, for schedules that need it.

        Raises:
            GameError: a range that the compiled turn has no place for.
        """
        self.turn, self.method, self.leaf, self.horizon = turn, method, leaf, horizon
        spot, raked = turn.game.spot, turn.game.raked
        self.rules = HoldemRules(spot, turn.game.betting)
        self.places = HoldemPlaces(self.rules, tuple(turn.nodes), spot.board)
        self.ranges = checked(self.rules, ranges)
        self._hands = held(turn, 0), held(turn, 1)
        weights = np.concatenate([own[hands] for own, hands in zip(self.ranges, self._hands, strict=True)])
        form = turn.top.form._replace(weights=weights)
        self.crew = BoardPool(form, make_workspace(form, 1, np.float64, raked=raked), raked=raked)
        self.store = Store(**store_of(turn.top, method.scheme.needs, np.float64))
        self.iteration = 0
        self.strategy, self.faced = np.zeros_like(self.store.average), np.zeros_like(self.store.average)
        for player in (0, 1):
            self._play(player)
        if isinstance(method.scheme, FictitiousRule):
            self.store.average[:] = self.strategy
        self._ends = np.array(turn.game.forests[0].ends)[turn.open_ends]
        self.sums = [np.zeros(len(hands)) for hands in self._hands]
        self.sum_weights = [0.0, 0.0]
        self.last_leaf = [np.zeros((len(self.places), len(own))) for own in self.ranges]

    def _alternating(self, row: Weights) -> None:
        """One iteration: each player in turn, the second against the first one's new policy."""
        for player in (0, 1):
            self._face(self.strategy)
            self._accumulate(self.average, player, row.average_discount, row.average)
            if self.method.leaves == "current":
                self._value_ends(player, self.strategy)
            else:
                self._accumulate(self.faced, 1 - player, row.average_discount, row.average)
                own, other = self.reach_at_ends(self.average), self.reach_at_ends(self.faced)
                thought = (own[0], other[1]) if player == 0 else (other[0], own[1])
                reached = thought if self.method.leaves == "modified" else self.reach_at_ends(self.strategy)
                self._write_ends(player, self._entries(player, self.leaf(self.places, thought, reached, player), reached, row))
            self._update(player, row)
            self._play(player)

    def _simultaneous(self, row: Weights) -> None:
        """One iteration: both players at once, against the policies with which it began."""
        for player in (0, 1):
            self._accumulate(self.average, player, row.average_discount, row.average)
        self._face(self.strategy)
        arrived = self.reach_at_ends(self.strategy)
        thought = arrived if self.method.leaves == "current" else self.reach_at_ends(self.average)
        reached = thought if self.method.leaves == "modified" else arrived
        values = self.leaf(self.places, thought, reached)
        for player in (0, 1):
            self._write_ends(player, self._entries(player, values, reached, row))
            self._update(player, row)
        for player in (0, 1):
            self._play(player)

    def _entries(self, player: int, values: Ranges, reached: Ranges, row: Weights) -> Floats:
        """Values at the ends times the other's compatible reach, [K, H]; of modified CFR-AVG by how much these grew."""
        entries: Floats = values[player] * self.rules.compatible(reached[1 - player])
        if self.method.leaves == "modified":
            entries, self.last_leaf[player] = difference(entries, self.last_leaf[player], row), entries
        return entries

    def _reply_step(self, play: FictitiousRule, player: int, t: int) -> None:
        """One best response of one player, moved into the average."""
        target, other, share = self.store.average.copy(), self.own(1 - player), play.optimism(t)
        target[other] = (1.0 - share) * target[other] + share * self.strategy[other]
        self._face(target)
        self._value_ends(player, target)
        crew, store = self.crew, self.store
        answer(crew.form, 0, 0, 1, player, REPLY, target, store.average_scales, store, crew.raked, crew.work, 0, 0)
        self._count_values(player, 1.0 - play.step(t), play.step(t))
        self._play(player)
        self._accumulate(self.average, player, 1.0 - play.step(t), play.step(t))

    @property
    def average(self) -> Floats:
        """The average strategy, float64 [Q], up to a factor."""
        return self.store.average

    def own(self, player: int) -> slice:
        """Where a player's numbers are in the arrays of the store."""
        return own_part(self.turn.top, player)

    def _play(self, player: int) -> None:
        """Set the strategy of a player from its current policy."""
        store = self.store
        self.crew.descend(player, store.guesses, store.guess_scales, store, streets=1)
        self.strategy[self.own(player)] = rows_of(self.crew.form, self.crew.work, player)[1:].ravel()

    def _face(self, strategy: Floats) -> None:
        """Let both players' reach be that of a strategy."""
        for player in (0, 1):
            rows = rows_of(self.crew.form, self.crew.work, player)
            rows[0] = self.ranges[player][self._hands[player]]
            rows[1:] = strategy[self.own(player)].reshape(-1, rows.shape[1])

    def _accumulate(self, average: Floats, player: int, discount: float, weight: float) -> None:
        """Move an average of a player's strategies on by its strategy."""
        own = self.own(player)
        average[own] = discount * average[own] + weight * self.strategy[own]

    def reach_at_ends(self, strategy: Floats) -> Ranges:
        """The reach of every hand of both players where the round ends and play goes on, float64 [K, H]."""
        found = np.zeros((2, len(self.places), len(self.ranges[0])))
        for player in (0, 1):
            hands = self._hands[player]
            rows = strategy[self.own(player)].reshape(-1, len(hands))
            found[player][:, hands] = rows[self._ends[:, player] - 1]
        return found[0], found[1]

    def _value_ends(self, player: int, strategy: Floats) -> None:
        """Set what the ends of the round are worth to a player when both follow a strategy."""
        arrived = self.reach_at_ends(strategy)
        values = self.leaf(self.places, arrived, arrived, player)[player]
        self._write_ends(player, values * self.rules.compatible(arrived[1 - player]))

    def _write_ends(self, player: int, entries: Floats) -> None:
        """The same from values times the other's compatible reach, [K, H]; all-ins from the reach as it stands."""
        store, empty = self.store, self.store.average[:0]
        self.crew.ascend_groups(answer, player, EXPECT, empty, store.average_scales, store)
        returned = rows_of(self.crew.form, self.crew.work, player, gathered=True)
        returned[self.turn.open_ends] = entries[:, self._hands[player]]

    def _update(self, player: int, row: Weights) -> None:
        """Regrets and next policy of a player from what the ends are worth."""
        crew = self.crew
        improve(crew.form, 0, 0, 1, player, self.store, np.array(row), 1.0, 0.0, crew.raked, crew.work, 0, 0)
        self._count_values(player, row.average_discount, row.average)

    def _count_values(self, player: int, discount: float, weight: float) -> None:
        """Move the mean of root values on, with the weights of the average policy."""
        found = self.crew.root_values(player)
        self.sums[player] = discount * self.sums[player] + weight * found
        self.sum_weights[player] = discount * self.sum_weights[player] + weight

    def root_values(self) -> Ranges:
        """The value of each hand at the root, for each player float64 [H], in chips; 0 for hands that cannot be there.

        The mean over iterations with the weights of the average policy (Brown et al. 2020, section 5.1) of what the hand gets
        against the other's range, given that it is held.
        """
        found = np.zeros((2, len(self.ranges[0])))
        for player in (0, 1):
            mass = self.rules.compatible(self.ranges[1 - player])[self._hands[player]]
            mean = self.sums[player] / max(self.sum_weights[player], 1e-300)
            found[player][self._hands[player]] = np.divide(mean, mass, out=np.zeros_like(mean), where=mass > 0)
        return found[0], found[1]

    def average_values(self) -> HoldemValues:
        """Values of the average policy at every node of the round, where its ends are worth what the leaf says.

        Reach and ranges are those of the turn's spot.
        """
        average = np.zeros_like(self.strategy)
        for player in (0, 1):
            self.crew.descend(player, self.average, self.store.average_scales, self.store, streets=1)
            average[self.own(player)] = rows_of(self.crew.form, self.crew.work, player)[1:].ravel()
        self._face(average)
        for player in (0, 1):
            self._value_ends(player, average)
            entries = rows_of(self.crew.form, self.crew.work, player, gathered=True)
            hands = self._hands[1 - player]
            entries *= self.turn.game.spot.ranges[1 - player][hands].sum() / self.ranges[1 - player][hands].sum()
        return HoldemValues(self.turn.game, self.average.astype(np.float32), ends=self.crew.work.gathered.copy())

    def policy_at(self, node: int, source: Floats) -> Floats:
        """How each hand plays at a decision of the round, float64 [A, H]; see :func:`policy_table`.

        Args:
            node: the decision, a node of the betting tree.
            source: float64 [Q], what the policy is proportional to: ``store.guesses`` for the current one, ``store.average``.
        """
        return policy_table(self.turn.top, node, source)


def own_part(game: CompiledSpot, player: int) -> slice:
    """Where a player's numbers for the first street are in the arrays that a solver stores for a game."""
    row, (first, second) = game.form.boards[0], game.forests[0].actions
    start = int(row[STORE + player])
    return slice(start, start + (first, second)[player] * int(row[COUNT + player]))


def policy_table(game: CompiledSpot, node: int, source: NDArray[Any]) -> Floats:
    """How each hand plays at a decision of a game's first street, float64 [A, H]; uniform for hands that cannot be there.

    Args:
        game: the compiled game.
        node: the decision, a node of its betting tree.
        source: [Q], what the policy is proportional to, as a solver stores it for the game.

    Raises:
        GameError: the node is no decision of that street.
    """
    event, forest = game.betting.nodes[node], game.forests[0]
    if not isinstance(event, Decision) or node not in forest.numbers[event.player]:
        raise GameError(f"node {node} of the betting is no decision of this round")
    hands = game.boards[0][0].hands[event.player]
    _, first, count = forest.nodes[event.player][forest.numbers[event.player].index(node)]
    rows = np.maximum(source[own_part(game, event.player)].reshape(-1, len(hands))[first : first + count], 0.0)
    total = rows.sum(axis=0)
    table = np.full((count, len(game.spot.ranges[0])), 1.0 / count)
    table[:, hands] = np.divide(rows, total, out=table[:, hands], where=total > 0)
    return table


def checked(rules: HoldemRules, ranges: Ranges) -> Ranges:
    """Ranges that sum to one over possible hands, float64 [H]."""
    possible = rules.possible(rules.spot.board)
    found = []
    for player, (own, can) in enumerate(zip(ranges, possible, strict=True)):
        own = np.asarray(own, np.float64)
        if own.shape != can.shape or not (np.isfinite(own) & (own >= 0)).all() or not own @ can > 0:
            raise GameError(f"the range of player {player} must be {len(can)} numbers >= 0, with a hand that the turn has")
        if ((own > 0) & (can == 0) & rules.free(rules.spot.board)).any():
            raise GameError(f"the range of player {player} has hands that the turn was compiled without; compile it with them")
        found.append(normalised_range(own, can))
    return found[0], found[1]
