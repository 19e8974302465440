"""Solving depth-limited subgames of any kind with a CFR variant or fictitious play."""

import warnings
from collections.abc import Sequence

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.leaves import gather
from treeplex.engine.tree.regret import Weights
from treeplex.engine.tree.sweeps import backup
from treeplex.errors import AlgorithmError
from treeplex.search.leaf import LeafValue, ManyValued, leaf_name, leaf_values
from treeplex.search.leaf_choices import LeafChoices
from treeplex.search.methods import Method
from treeplex.search.subgames.batch import Subgames
from treeplex.search.subgames.gadgets import GadgetArrays
from treeplex.search.subgames.subgame import Ranges, Subgame
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.variants import Variant

SETTLED = 32
"""Number of iterations after which the players' root values should sum to zero, if leaf values are consistent."""
CONTRADICTION = 0.2
"""Tolerated deviation of the sum of root values from zero, relative to the mean size of hand values."""


class SubgameSearch:
    """A subgame being solved by a CFR variant or fictitious play; each iteration updates both players.

    Attributes:
        subgame: the subgame.
        method: the solution method.
        leaf: values at the leaves.
        horizon: planned number of iterations, for schedules that need it.
        iteration: number of iterations done.
        arrays: policies, strategies, averages and regrets.
        ranges: float64 [B, H_i] for each player, the initial ranges, summing to one; with a gadget the opponent's range
            changes during the solve.
        gadget: the gadget in front of the roots, solved with the subgame; None for none.
        choices: the players' choices below the leaves, solved with the subgame; None if there are none.
        sums, sum_weights: for each player the sum of root values over iterations, with the weights of the average policy,
            float64 [B, H_i], and the sum of those weights.
        last_leaf: float64 [K, H_i] for each player, the previous iteration's values, for the differences in modified CFR-AVG.
        leaf_sums: float64 [2, K, H_i] for each player, sums of counterfactual leaf values and of the probability that an
            opponent reaches the leaf, with the weights of the average policy; None if they are not kept.
    """

    def __init__(
        self,
        subgame: Subgame,
        method: Method,
        leaf: LeafValue,
        ranges: Ranges | None = None,
        *,
        horizon: int = 1000,
        keep_leaf_values: bool = False,
    ) -> None:
        """Start from the uniform policy.

        Args:
            subgame: the subgame.
            method: one of :data:`METHODS`.
            leaf: values at the leaves.
            ranges: float64 [B, H_i] for each player, the initial ranges, up to a factor; None for the subgame's own.
            horizon: planned number of iterations, for schedules that need it.
            keep_leaf_values: whether :meth:`leaf_values` will be needed.

        Raises:
            GameError: the ranges do not fit the subgame.
        """
        self.subgame, self.method, self.leaf, self.horizon = subgame, method, leaf, horizon
        plays = isinstance(method.scheme, FictitiousRule)
        self.arrays = subgame.start(ranges, predicts=isinstance(method.scheme, Variant) and method.scheme.predicts)
        self.ranges = self.arrays.ranges
        self.gadget: GadgetArrays | None = None
        if subgame.gadget is not None:
            if plays and not subgame.plays_behind_gadgets:
                raise AlgorithmError("this subgame's gadgets need a CFR variant; choose one, such as cfr+")
            self.gadget = GadgetArrays(subgame.gadget, subgame.roots, subgame.admitted, self.ranges)
            self._play(self.gadget.opponent)
        if plays:
            self.arrays.average[:] = self.arrays.strategy
        self.choices: LeafChoices | None = None
        if isinstance(leaf, ManyValued) and max(leaf.continuations) > 1 and len(subgame.leaves):
            if not plays and method.leaves != "current":
                raise AlgorithmError(
                    f"{method.name} does not support choices of continuations at leaves; use another method, such as cfr+"
                )
            self.choices = LeafChoices(leaf, subgame.leaves, self.arrays.reach_at_leaves(self.arrays.strategy))
        self.iteration, self.players = 0, range(subgame.game.players)
        self.sums = [np.zeros((len(subgame.roots), width)) for width in subgame.roots.widths]
        self.sum_weights = [0.0 for _ in self.players]
        self.last_leaf = [np.zeros((len(subgame.leaves), width)) for width in subgame.leaves.widths]
        self.leaf_sums: list[Floats] | None = None
        if keep_leaf_values:
            self.leaf_sums = [np.zeros((2, len(subgame.leaves), width)) for width in subgame.leaves.widths]

    def __repr__(self) -> str:
        return f"<search by {self.method.name}: {self.iteration:,} iterations on {self.subgame!r}>"

    @property
    def subgames(self) -> Subgames:
        """Return the subgame as a batch of compiled public trees.

        Raises:
            AlgorithmError: the subgame is not in a public tree.
        """
        return self.subgame.trees

    def check_plain(self, what: str) -> None:
        """Raise an error if the search has a gadget or choices below leaves; ``what`` is the feature that does not support
        these.

        Raises:
            AlgorithmError: the search has a gadget or choices.
        """
        if self.gadget is not None or self.choices is not None:
            raise AlgorithmError(f"{what} supports neither gadgets nor choices of continuations at leaves; search without them")

    @property
    def policy(self) -> Floats:
        """The current policy, float64 [Q], see :class:`treeplex.search.subgames.subgame.SubgameArrays`."""
        return self.arrays.policy

    @property
    def strategy(self) -> Floats:
        """The current policy in sequence form, float64 [Q]; in fictitious play the last best responses."""
        return self.arrays.strategy

    @property
    def average(self) -> Floats:
        """The unnormalised average strategy, float64 [Q]."""
        return self.arrays.average

    @property
    def faced(self) -> Floats:
        """Unnormalised average of the strategies that the other players faced, float64 [Q].

        Only CFR-AVG with alternating updates keeps it, where the second player faces the first player's next strategy.
        """
        return self.arrays.faced

    @property
    def regrets(self) -> Floats:
        """Regrets in the form that the CFR variant stores, float64 [Q]."""
        return self.arrays.regrets

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations."""
        scheme = self.method.scheme
        for t in range(self.iteration + 1, self.iteration + iterations + 1):
            if isinstance(scheme, FictitiousRule):
                self._replies(scheme, t)
            else:
                row = scheme.schedule(t, self.horizon, **scheme.parameters)
                self._alternating(row) if self.method.updates == "alternating" else self._simultaneous(row)
            self.iteration = t

    def _alternating(self, row: Weights) -> None:
        """Run one iteration of CFR-D or CFR-AVG, updating the players in turn, each against the new policies of those before
        it.

        In CFR-AVG the leaves are valued for average policies: for the updating player the average of its own policies including
        this iteration, and for the others the average of the policies that it has faced, including the present ones. So the
        differences in the modified form sum to the value of exactly the average that was faced.
        """
        arrays = self.arrays
        for player in self.players:
            arrays.write_gradient(player, self.strategy)
            arrays.accumulate(player, row.average_discount, row.average, self.average, self.strategy)
            if len(self.subgame.leaves):
                self._value_leaves(player, row)
            self._improve(player, row)
            self._play(player)

    def _value_leaves(self, player: int, row: Weights) -> None:
        """Add the leaf values of a player in an alternating update."""
        arrays, leaves = self.arrays, self.method.leaves
        if self.choices is not None:
            reached = arrays.reach_at_leaves(self.strategy)
            self._write_choices(player, reached, self.choices.chosen(reached), row)
            return
        if leaves == "current":
            believed = reached = arrays.reach_at_leaves(self.strategy)
        else:
            for other in self.players:
                if other != player:
                    arrays.accumulate(other, row.average_discount, row.average, self.faced, self.strategy)
            averaged, faced = arrays.reach_at_leaves(self.average), arrays.reach_at_leaves(self.faced)
            believed = tuple((averaged if i == player else faced)[i] for i in self.players)
            reached = believed if leaves == "modified" else arrays.reach_at_leaves(self.strategy)
        values = leaf_values(self.leaf, self.subgame.leaves, believed, reached, player)
        arrays.write_leaves(player, self._entries(player, values, reached, row))

    def _simultaneous(self, row: Weights) -> None:
        """Run one iteration of CFR-D or CFR-AVG, updating all players at once, so that the average faced is the average
        policy.
        """
        arrays, leaves, choices = self.arrays, self.subgame.leaves, self.choices
        for player in self.players:
            arrays.accumulate(player, row.average_discount, row.average, self.average, self.strategy)
        values = reached = arrays.reach_at_leaves(self.strategy)
        chosen = choices.chosen(reached) if choices is not None else ()
        if len(leaves) and choices is None:
            believed = reached if self.method.leaves == "current" else arrays.reach_at_leaves(self.average)
            reached = believed if self.method.leaves == "modified" else reached
            values = leaf_values(self.leaf, leaves, believed, reached)
        for player in self.players:
            arrays.write_gradient(player, self.strategy)
            if choices is not None:
                self._write_choices(player, reached, chosen, row)
            elif len(leaves):
                arrays.write_leaves(player, self._entries(player, values, reached, row))
            self._improve(player, row)
        for player in self.players:
            self._play(player)

    def _write_choices(self, player: int, reached: Ranges, chosen: Sequence[Floats], row: Weights) -> None:
        """Update a player's choices below the leaves, and add its hands' leaf values under the old choices."""
        assert self.choices is not None
        entries = self.choices.improve(player, chosen, row)
        self._count_leaves(player, entries, reached, row.average_discount, row.average)
        self.arrays.write_leaves(player, entries)

    def _entries(self, player: int, values: Ranges, reached: Ranges, row: Weights) -> Floats:
        """Counterfactual values of hands at the leaves, [K, H]; in modified CFR-AVG their increase."""
        entries: Floats = values[player] * self.subgame.leaves.opposing(reached, player)
        self._count_leaves(player, entries, reached, row.average_discount, row.average)
        if self.method.leaves == "modified":
            entries, self.last_leaf[player] = difference(entries, self.last_leaf[player], row), entries
        return entries

    def _play(self, player: int) -> None:
        """Set a player's strategy from its policies in the gadget and in the subgame."""
        if self.gadget is not None and player == self.gadget.opponent:
            self.arrays.enter(player, self.gadget.entered())
        self.arrays.play(player)

    def _improve(self, player: int, row: Weights) -> None:
        """Update a player's regrets and policy from its action values, and also its choices in a gadget."""
        self.arrays.improve(player, row)
        if self.gadget is not None and player == self.gadget.opponent:
            self.gadget.improve(self.arrays.root_entries(player), row)
        self._count_values(player, row.average_discount, row.average)

    def _replies(self, play: FictitiousRule, t: int) -> None:
        """Run one iteration of fictitious play; best responses enter the average at once or after all have responded."""
        share, step, together = play.optimism(t), play.step(t), self.method.updates == "simultaneous"
        chosen: Sequence[Floats] = ()
        for player in self.players:
            if self.choices is not None and (player == 0 or not together):
                chosen = self.choices.averaged(share, self.arrays.reach_at_leaves(self.strategy))
            self._respond(player, self._faced_by(player, share), step, chosen)
            if not together:
                self._move(player, step)
        for player in self.players if together else ():
            self._move(player, step)

    def _faced_by(self, player: int, share: float) -> Floats:
        """Strategies to respond to: the other players' averages, moved towards their latest best responses."""
        target = self.average.copy()
        for other in self.players:
            if other != player:
                self.arrays.accumulate(other, 1.0 - share, share, target, self.strategy)
        return target

    def _respond(self, player: int, target: Floats, step: float, chosen: Sequence[Floats]) -> None:
        """Compute a player's best response to a strategy and to the others' choices below the leaves."""
        arrays = self.arrays
        arrays.write_gradient(player, target)
        if len(self.subgame.leaves):
            arrived = arrays.reach_at_leaves(target)
            if self.choices is not None:
                entries = self.choices.respond(player, chosen)
            else:
                values = leaf_values(self.leaf, self.subgame.leaves, arrived, arrived, player)[player]
                entries = values * self.subgame.leaves.opposing(arrived, player)
            self._count_leaves(player, entries, arrived, 1.0 - step, step)
            arrays.write_leaves(player, entries)
        arrays.respond(player)
        if self.gadget is not None and player == self.gadget.opponent:
            self.gadget.respond(arrays.root_entries(player))
        self._count_values(player, 1.0 - step, step)

    def _move(self, player: int, step: float) -> None:
        """Move a player's best response into its average."""
        arrays = self.arrays
        self._play(player)
        arrays.accumulate(player, 1.0 - step, step, self.average, self.strategy)
        if self.choices is not None:
            self.choices.accumulate(player, 1.0 - step, step, arrays.reach_at_leaves(self.strategy)[player])

    def _count_values(self, player: int, discount: float, weight: float) -> None:
        """Update the mean root values, with the weights of the average policy."""
        self.sums[player] = discount * self.sums[player] + weight * self.arrays.root_entries(player)
        self.sum_weights[player] = discount * self.sum_weights[player] + weight

    def _count_leaves(self, player: int, entries: Floats, reached: Ranges, discount: float, weight: float) -> None:
        """Update the mean leaf values, from counterfactual values [K, H] and the other players' reach."""
        if self.leaf_sums is not None:
            counted = np.stack((entries, self.subgame.leaves.opposing(reached, player)))
            self.leaf_sums[player] = discount * self.leaf_sums[player] + weight * counted

    def leaf_values(self, player: int) -> Floats:
        """Mean leaf values of a player's hands, float64 [K, H_player], in the game's units.

        Each iteration is weighted by its weight in the average policy times the probability that an opponent reaches the leaf;
        values are 0 if none ever does. Needs ``keep_leaf_values``.
        """
        assert self.leaf_sums is not None
        entries, mass = self.leaf_sums[player]
        return np.asarray(np.divide(entries, mass, out=np.zeros_like(entries), where=mass > 0))

    def forget_average(self) -> None:
        """Restart the average policy and all means, after warm-up iterations.

        Raises:
            AlgorithmError: the method is fictitious play, whose policy is its average, or modified CFR-AVG, whose leaf
                values are differences between averages.
        """
        if isinstance(self.method.scheme, FictitiousRule) or self.method.leaves == "modified":
            raise AlgorithmError(f"{self.method.name} cannot skip iterations, since it needs its whole average; set skip=0")
        self.arrays.average[:] = self.arrays.faced[:] = 0.0
        for sums in (*self.sums, *(self.leaf_sums or ())):
            sums[:] = 0.0
        self.sum_weights = [0.0 for _ in self.players]

    def root_values(self) -> Ranges:
        """Mean value of each hand at the roots, float64 [B, H_i] for each player, in the game's units.

        The mean is over iterations, with the weights of the average policy (Brown et al. 2020, section 5.1). A hand's value is
        its payoff against the others' ranges, given that it is held; 0 for impossible hands, and if the others have no possible
        hands. NaN for the player who re-solves with a gadget, since the gadget determines the hands that it faces.
        """
        values = []
        for player in self.players:
            if self.gadget is not None and player != self.gadget.opponent:
                values.append(np.full(self.sums[player].shape, np.nan))
                continue
            mass = self.subgame.roots.opposing(self.ranges, player)
            mean = self.sums[player] / max(self.sum_weights[player], 1e-300)
            values.append(np.divide(mean, mass, out=np.zeros_like(mean), where=mass > 0))
        return tuple(values)

    def root_beliefs(self) -> Ranges:
        """Beliefs about each player's hand at the roots, float64 [B, H_i] for each player."""
        beliefs = [weights * self.subgame.roots.opposing(self.ranges, player) for player, weights in enumerate(self.ranges)]
        return tuple(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300) for weights in beliefs)

    def mean_values(self) -> tuple[Floats, ...]:
        """Value of the roots for each player, float64 [B], in the game's units.

        Warns if the values do not sum to zero in a two-player zero-sum game, since then the leaf values are inconsistent.
        """
        beliefs, values = self.root_beliefs(), self.root_values()
        means = tuple((belief * worth).sum(axis=1) for belief, worth in zip(beliefs, values, strict=True))
        if len(means) == 2 and len(self.subgame.leaves) and self.iteration >= SETTLED:
            sizes = sum((belief * np.abs(worth)).sum(axis=1) for belief, worth in zip(beliefs, values, strict=True))
            if (np.abs(means[0] + means[1]) > CONTRADICTION * sizes).any():  # NaN with a gadget is no contradiction
                warnings.warn(
                    f"values of {leaf_name(self.leaf)} are inconsistent: the players' values at the root, "
                    f"{means[0][0]:+.3g} and {means[1][0]:+.3g}, should add up to 0; check that it fits these states",
                    stacklevel=2,
                )
        return means

    def root_actions(self) -> Floats:
        """Range-weighted action frequencies of the average policy at the first root, float64 [A].

        Raises:
            AlgorithmError: no player acts at the first root.
        """
        player, (kind, number) = self.subgame.game.options(self.subgame.roots.states[0]).player, self.subgame.find(0, ())
        if kind != "decision":
            raise AlgorithmError("no player acts at the root of the subgame")
        return np.asarray(self.policy_at(number, self.average_policy()) @ self.root_beliefs()[player][0])

    def average_policy(self) -> Floats:
        """The average policy, float64 [Q], for :meth:`policy_at`; uniform at infosets with zero reach."""
        return self.arrays.as_policy(self.average)

    def next_average(self) -> Floats:
        """The unnormalised average strategy, including the current strategy, float64 [Q].

        In CFR-AVG this is the strategy for which leaves are valued while the current policy is played (Brown et al. 2020,
        section 5.2).
        """
        scheme = self.method.scheme
        if isinstance(scheme, FictitiousRule):
            return self.average
        row = scheme.schedule(self.iteration + 1, self.horizon, **scheme.parameters)
        return row.average_discount * self.average + row.average * self.strategy

    def policy_at(self, decision: int, policy: Floats) -> Floats:
        """The policy by hand at a decision, float64 [A, H]; see :meth:`treeplex.search.subgames.subgame.Subgame.policy_at`."""
        return self.subgame.policy_at(decision, policy)

    def values_of_average(self, ranges: Ranges) -> Ranges:
        """Values of root hands under the average policy for other ranges; only for subgames without leaves."""
        return subgame_values(self.subgames, self.average_policy(), self.subgames.checked(ranges))


def subgame_values(subgames: Subgames, policy: Floats, ranges: Ranges) -> Ranges:
    """Value of each root hand under a policy [Q], given ranges, float64 [B, H_i]; only for subgames without leaves."""
    tree, roots, results = subgames.tree, subgames.roots, []
    strategy, (values, infoset_values, _) = subgames.reach_from(ranges, policy), workspace(tree)
    for player in (0, 1):
        gradient(tree, subgames.payoff, player, strategy, values)
        backup(tree, player, policy, values, infoset_values)
        got, mass = np.zeros(roots.sequences[player].shape), roots.opposing(ranges, player)
        gather(roots.sequences[player], values, got)
        results.append(np.divide(got, mass, out=np.zeros_like(got), where=mass > 0))
    return tuple(results)


def difference(entries: Floats, last: Floats, row: Weights) -> Floats:
    """Leaf values of an iteration in modified CFR-AVG: the increase in the average's values, divided by its weight.

    ``entries`` and ``last`` are values times the others' reach in an unnormalised average strategy, [K, H].
    """
    return (entries - row.average_discount * last) / row.average
