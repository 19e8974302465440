"""Solving depth-limited subgames by any member of the CFR family or fictitious play, whatever they are subgames of."""

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
"""Iterations after which the players' root values add up to zero where leaves do not contradict themselves."""
CONTRADICTION = 0.2
"""By how much root values may miss a sum of zero without a warning, as a share of the mean size of hands' values."""


class SubgameSearch:
    """A subgame being solved; an iteration updates both players, in the method's order.

    Attributes:
        subgame: the subgame.
        method: how it is solved.
        leaf: values at the leaves.
        horizon: iterations planned, for schedules that need it.
        iteration: iterations done.
        arrays: policies, strategies, averages and regrets.
        ranges: for each player float64 [B, H_i], with which the subgame begins, summing to one; a gadget lets the opponent in
            with other ones.
        gadget: what stands in front of the roots, being solved; None for nothing.
        choices: how players go on behind the leaves, being solved; None where they have no choice.
        sums, sum_weights: for each player float64 [B, H_i] and a number, root values of iterations so far, weighted as the
            average policy, and the sum of those weights.
        last_leaf: for each player float64 [K, H_i], what modified CFR-AVG takes differences from.
        leaf_sums: for each player float64 [2, K, H_i], entries at the leaves and how likely hands are met there, in iterations
            so far, weighted as the average policy; None where they are not kept.
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
            ranges: for each player float64 [B, H_i], with which it begins, up to a factor; None for those it was cut with.
            horizon: iterations planned, for schedules that need it.
            keep_leaf_values: whether :meth:`leaf_values` will be asked for.

        Raises:
            GameError: ranges that do not fit the subgame.
        """
        self.subgame, self.method, self.leaf, self.horizon = subgame, method, leaf, horizon
        plays = isinstance(method.scheme, FictitiousRule)
        self.arrays = subgame.start(ranges, predicts=isinstance(method.scheme, Variant) and method.scheme.predicts)
        self.ranges = self.arrays.ranges
        self.gadget: GadgetArrays | None = None
        if subgame.gadget is not None:
            if plays and not subgame.plays_behind_gadgets:
                raise AlgorithmError("here gadgets are solved by members of the CFR family; choose one, such as cfr+")
            self.gadget = GadgetArrays(subgame.gadget, subgame.roots, subgame.admitted, self.ranges)
            self._play(self.gadget.opponent)
        if plays:
            self.arrays.average[:] = self.arrays.strategy
        self.choices: LeafChoices | None = None
        if isinstance(leaf, ManyValued) and max(leaf.continuations) > 1 and len(subgame.leaves):
            if not plays and method.leaves != "current":
                raise AlgorithmError(f"{method.name} does not let players choose behind leaves; cfr+, for one, does")
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
        """The subgame as a batch of compiled public trees.

        Raises:
            AlgorithmError: it is none.
        """
        return self.subgame.trees

    def check_plain(self, what: str) -> None:
        """Refuse a search behind a gadget or with choices behind leaves, for what does not know them.

        Raises:
            AlgorithmError: it is one of these.
        """
        if self.gadget is not None or self.choices is not None:
            raise AlgorithmError(f"{what} knows no gadgets and no choice behind leaves; search without it")

    @property
    def policy(self) -> Floats:
        """The current policy, float64 [Q], see :class:`treeplex.search.subgames.subgame.SubgameArrays`."""
        return self.arrays.policy

    @property
    def strategy(self) -> Floats:
        """The current policy in sequence form, float64 [Q]; of fictitious play the last best responses."""
        return self.arrays.strategy

    @property
    def average(self) -> Floats:
        """The average strategy, float64 [Q], up to a factor."""
        return self.arrays.average

    @property
    def faced(self) -> Floats:
        """The average of the strategies that the others faced, float64 [Q], up to a factor.

        Kept by CFR-AVG with alternating updates, where the second player faces the first one's next strategy.
        """
        return self.arrays.faced

    @property
    def regrets(self) -> Floats:
        """Regrets, float64 [Q], as the variant of CFR keeps them."""
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
        """One iteration of CFR-D or CFR-AVG: each player in turn, the next against the new policies of those before.

        In CFR-AVG the average that leaves are valued for is, of the player who updates, that of its own policies up to this
        iteration's, and of the others that of the policies faced, this one included. So the differences of the modified form
        add up to the value at the average of just what was faced.
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
        """Add what the leaves are worth to a player who updates alone."""
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
            own, faced = arrays.reach_at_leaves(self.average), arrays.reach_at_leaves(self.faced)
            believed = tuple((own if each == player else faced)[each] for each in self.players)
            reached = believed if leaves == "modified" else arrays.reach_at_leaves(self.strategy)
        values = leaf_values(self.leaf, self.subgame.leaves, believed, reached, player)
        arrays.write_leaves(player, self._entries(player, values, reached, row))

    def _simultaneous(self, row: Weights) -> None:
        """One iteration of CFR-D or CFR-AVG: all players at once, so that the average holds just what was faced."""
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
        """Improve a player's choices behind the leaves, and add what its hands got there by the old ones."""
        assert self.choices is not None
        entries = self.choices.improve(player, chosen, row)
        self._count_leaves(player, entries, reached, row.average_discount, row.average)
        self.arrays.write_leaves(player, entries)

    def _entries(self, player: int, values: Ranges, reached: Ranges, row: Weights) -> Floats:
        """Values at the leaves times how likely they are met, [K, H]; of modified CFR-AVG by how much these grew."""
        entries: Floats = values[player] * self.subgame.leaves.opposing(reached, player)
        self._count_leaves(player, entries, reached, row.average_discount, row.average)
        if self.method.leaves == "modified":
            entries, self.last_leaf[player] = difference(entries, self.last_leaf[player], row), entries
        return entries

    def _play(self, player: int) -> None:
        """Set a player's strategy from its policies, in the gadget and below."""
        if self.gadget is not None and player == self.gadget.opponent:
            self.arrays.enter(player, self.gadget.entered())
        self.arrays.play(player)

    def _improve(self, player: int, row: Weights) -> None:
        """Regrets and next policy of a player from what its actions are worth, and of its choices in a gadget."""
        self.arrays.improve(player, row)
        if self.gadget is not None and player == self.gadget.opponent:
            self.gadget.improve(self.arrays.root_entries(player), row)
        self._count_values(player, row.average_discount, row.average)

    def _replies(self, play: FictitiousRule, t: int) -> None:
        """One iteration of fictitious play: best responses, each moved into the average at once or when all have responded."""
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
        """Strategies to respond to: the others' averages moved towards their last responses."""
        target = self.average.copy()
        for other in self.players:
            if other != player:
                self.arrays.accumulate(other, 1.0 - share, share, target, self.strategy)
        return target

    def _respond(self, player: int, target: Floats, step: float, chosen: Sequence[Floats]) -> None:
        """One best response of one player to a strategy, and to what the others choose behind the leaves."""
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
        """Move the mean of root values on, with the weights of the average policy."""
        self.sums[player] = discount * self.sums[player] + weight * self.arrays.root_entries(player)
        self.sum_weights[player] = discount * self.sum_weights[player] + weight

    def _count_leaves(self, player: int, entries: Floats, reached: Ranges, discount: float, weight: float) -> None:
        """Move the mean of leaf values on, from entries [K, H] and the others' reaches."""
        if self.leaf_sums is not None:
            counted = np.stack((entries, self.subgame.leaves.opposing(reached, player)))
            self.leaf_sums[player] = discount * self.leaf_sums[player] + weight * counted

    def leaf_values(self, player: int) -> Floats:
        """Mean leaf values of a player's hands, float64 [K, H_player], in the game's units.

        Each iteration has its weight in the average policy, times how likely the hand met anybody at the leaf; 0 where it never
        did. Needs ``keep_leaf_values``.
        """
        assert self.leaf_sums is not None
        entries, mass = self.leaf_sums[player]
        return np.asarray(np.divide(entries, mass, out=np.zeros_like(entries), where=mass > 0))

    def forget_average(self) -> None:
        """Begin the average policy and all means anew, after iterations that warmed up.

        Raises:
            AlgorithmError: fictitious play, which is its average.
        """
        if isinstance(self.method.scheme, FictitiousRule):
            raise AlgorithmError(f"{self.method.name} cannot skip iterations, for it plays against its average; skip none")
        self.arrays.average[:] = 0.0
        for sums in (*self.sums, *(self.leaf_sums or ())):
            sums[:] = 0.0
        self.sum_weights = [0.0 for _ in self.players]

    def root_values(self) -> Ranges:
        """The value of each hand at the roots, for each player float64 [B, H_i], in the game's units.

        The mean over iterations with the weights of the average policy (Brown et al. 2020, section 5.1) of what the hand gets
        against the others' ranges, given that it is held; 0 where the others cannot be there at all, and for hands that cannot
        be there themselves. NaN for the player who solves again behind a gadget, whose hands meet whom the gadget lets in.
        """
        found = []
        for player in self.players:
            if self.gadget is not None and player != self.gadget.opponent:
                found.append(np.full(self.sums[player].shape, np.nan))
                continue
            mass = self.subgame.roots.opposing(self.ranges, player)
            mean = self.sums[player] / max(self.sum_weights[player], 1e-300)
            found.append(np.divide(mean, mass, out=np.zeros_like(mean), where=mass > 0))
        return tuple(found)

    def root_beliefs(self) -> Ranges:
        """Beliefs about each player's hand at the roots, for each player float64 [B, H_i]."""
        found = [own * self.subgame.roots.opposing(self.ranges, player) for player, own in enumerate(self.ranges)]
        return tuple(own / np.maximum(own.sum(axis=1, keepdims=True), 1e-300) for own in found)

    def mean_values(self) -> tuple[Floats, ...]:
        """The search's root values of each player, float64 [B], in the game's units.

        Warns where payoffs of two players sum to zero and these values do not: where the leaves contradict themselves.
        """
        beliefs, values = self.root_beliefs(), self.root_values()
        found = tuple((own * worth).sum(axis=1) for own, worth in zip(beliefs, values, strict=True))
        if len(found) == 2 and len(self.subgame.leaves) and self.iteration >= SETTLED:
            sizes = sum((own * np.abs(worth)).sum(axis=1) for own, worth in zip(beliefs, values, strict=True))
            if (np.abs(found[0] + found[1]) > CONTRADICTION * sizes).any():  # NaN behind a gadget is not
                warnings.warn(
                    f"values of {leaf_name(self.leaf)} do not fit each other: the players' values at the root, "
                    f"{found[0][0]:+.3g} and {found[1][0]:+.3g}, should add up to 0; is it for these states?",
                    stacklevel=2,
                )
        return found

    def root_actions(self) -> Floats:
        """Range-weighted action frequencies of the average policy at the first root, float64 [A].

        Raises:
            AlgorithmError: no player acts there.
        """
        player, (kind, number) = self.subgame.game.options(self.subgame.roots.states[0]).player, self.subgame.find(0, ())
        if kind != "decision":
            raise AlgorithmError("nobody acts where the subgame begins")
        return np.asarray(self.policy_at(number, self.average_policy()) @ self.root_beliefs()[player][0])

    def average_policy(self) -> Floats:
        """The average policy, float64 [Q], for :meth:`policy_at`; uniform where its own average does not go."""
        return self.arrays.as_policy(self.average)

    def next_average(self) -> Floats:
        """The average strategy with the current one taken in, as in the next iteration, float64 [Q], up to a factor.

        In CFR-AVG that is what the leaves are valued for when the current policy is played (Brown et al. 2020, section 5.2).
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
        """Values of root hands under the average policy and other ranges; subgames without leaves."""
        return subgame_values(self.subgames, self.average_policy(), self.subgames.checked(ranges))


def subgame_values(subgames: Subgames, policy: Floats, ranges: Ranges) -> Ranges:
    """What each root hand gets under a policy [Q] from some ranges, float64 [B, H_i]; for subgames without leaves."""
    tree, roots, found = subgames.tree, subgames.roots, []
    strategy, (values, infoset_values, _) = subgames.reach_from(ranges, policy), workspace(tree)
    for player in (0, 1):
        gradient(tree, subgames.payoff, player, strategy, values)
        backup(tree, player, policy, values, infoset_values)
        got, mass = np.zeros(roots.sequences[player].shape), roots.opposing(ranges, player)
        gather(roots.sequences[player], values, got)
        found.append(np.divide(got, mass, out=np.zeros_like(got), where=mass > 0))
    return tuple(found)


def difference(entries: Floats, last: Floats, row: Weights) -> Floats:
    """What modified CFR-AVG counts in an iteration: by how much leaf values of averages grew, over the iteration's weight.

    Both are values times the others' mass in an average strategy that is not normalised, [K, H].
    """
    return (entries - row.average_discount * last) / row.average
