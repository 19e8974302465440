"""Solving depth-limited subgames by any member of the CFR family or fictitious play, many at once."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.fictitious import mix
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.leaves import gather, scatter, write_opposing_mass
from treeplex.engine.tree.regret import FIXED, Weights, accumulate, update
from treeplex.engine.tree.sweeps import backup, best_response, normalise, reach, workspace
from treeplex.forms.subgames.batch import Places, Subgames
from treeplex.search.beliefs import normalised_range, possible_hands
from treeplex.search.leaf import LeafValue, Ranges
from treeplex.solvers.rules.fictitious import FICTITIOUS_RULES, FictitiousRule
from treeplex.solvers.rules.variants import VARIANTS, Variant

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Method:
    """How a depth-limited subgame is solved.

    Attributes:
        name: what the command line calls it.
        scheme: a variant of CFR, or a kind of fictitious play.
        leaves: the policies whose beliefs leaf values are for: ``current`` (CFR-D), ``average`` (fictitious play, and CFR-AVG
            in its sound form, where play below a leaf is for the average policy's beliefs and valued against the current
            one's), or ``modified`` (CFR-AVG as Brown et al. 2020 use it, appendix I: differences of ``t v(average t)``).
        updates: ``alternating``, player 0 and then player 1, who faces player 0's new policy, as in all experiments of that
            paper; or ``simultaneous``, both against the policies with which the iteration began.
    """

    name: str
    scheme: Variant | FictitiousRule
    leaves: str
    updates: str = "alternating"


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        *(Method(name, variant, "current") for name, variant in VARIANTS.items() if not variant.adaptive),
        *(Method(f"{name}-avg", VARIANTS[name], "average") for name in ("cfr", "lcfr", "dcfr")),
        *(Method(f"{name}-avg-modified", VARIANTS[name], "modified") for name in ("cfr", "lcfr", "dcfr")),
        *(Method(f"{name}-avg-simultaneous", VARIANTS[name], "average", "simultaneous") for name in ("cfr", "lcfr", "dcfr")),
        *(
            Method(f"{name}-avg-modified-simultaneous", VARIANTS[name], "modified", "simultaneous")
            for name in ("cfr", "lcfr", "dcfr")
        ),
        *(Method(name, play, "average") for name, play in FICTITIOUS_RULES.items()),
    )
}
"""Methods by name: those of the CFR family are CFR-D with that variant. Updates alternate unless the name says otherwise."""


class Search(ABC):
    """Iterations of a method, whatever they run on; one updates both players, in the method's order.

    Attributes:
        method: how it is solved.
        horizon: iterations planned, for schedules that need it.
        iteration: iterations done.
    """

    method: Method
    horizon: int
    iteration: int

    def run(self, iterations: int) -> None:
        """Do so many more iterations."""
        scheme = self.method.scheme
        for t in range(self.iteration + 1, self.iteration + iterations + 1):
            if isinstance(scheme, FictitiousRule):
                for player in (0, 1):
                    self._reply_step(scheme, player, t)
            else:
                row = scheme.schedule(t, self.horizon, **scheme.parameters)
                self._alternating(row) if self.method.updates == "alternating" else self._simultaneous(row)
            self.iteration = t

    @abstractmethod
    def _alternating(self, row: Weights) -> None:
        """One iteration of CFR-D or CFR-AVG: each player in turn, the second against the first one's new policy.

        In CFR-AVG the average that leaves are valued for is, of the player who updates, that of its own policies up to this
        iteration's, and of the other that of the policies faced, this one included. So the differences of the modified form
        add up to the value at the average of just what was faced.
        """

    @abstractmethod
    def _simultaneous(self, row: Weights) -> None:
        """One iteration of CFR-D or CFR-AVG: both players at once, so that the average holds just what was faced."""

    @abstractmethod
    def _reply_step(self, play: FictitiousRule, player: int, t: int) -> None:
        """One best response of one player, moved into the average."""


class SubgameSearch(Search):
    """A batch of subgames being solved; an iteration updates both players in all of them.

    Attributes:
        subgames: the batch.
        iteration: iterations done.
        policy: float64 [Q], the current behaviour policy (of fictitious play the last best responses).
        strategy: float64 [Q], its sequence form; root sequences hold the ranges.
        average: float64 [Q], the average strategy, up to a factor.
        faced: float64 [Q], the same of the strategies that the other player faced; kept by CFR-AVG with alternating updates,
            where the second player faces the first one's next strategy.
        regrets: float64 [Q], as the variant of CFR keeps them.
        sums, sum_weights: for each player float64 [B, H_i] and a number, root values of iterations so far, weighted as the
            average policy, and the sum of those weights.
        last_leaf: for each player float64 [leaves, H_i], what modified CFR-AVG takes differences from.
    """

    def __init__(self, subgames: Subgames, method: Method, leaf: LeafValue, ranges: Ranges, *, horizon: int = 1000) -> None:
        """Start from the uniform policy.

        Args:
            subgames: the batch.
            method: one of :data:`METHODS`.
            leaf: values at the leaves.
            ranges: for each player float64 [B, H_i], with which the subgames begin, up to a factor.
            horizon: iterations planned, for schedules that need it.
        """
        self.subgames, self.method, self.leaf, self.horizon = subgames, method, leaf, horizon
        tree = subgames.tree
        size = int(tree.sequence_offsets[-1])
        inner = tree.sequence_infoset >= 0
        self.policy = np.ones(size)
        self.policy[inner] = 1.0 / tree.infoset_layout[tree.sequence_infoset[inner], 2]
        self.strategy, self.average, self.faced, self.regrets = (np.zeros(size) for _ in range(4))
        self.iteration = 0
        self.ranges = begun(subgames.roots, ranges)
        for player in (0, 1):
            place(subgames.roots.sequences[player], self.ranges[player], self.strategy)
            reach(tree, player, self.policy, self.strategy)
        self._values, self._infoset_values = workspace(tree)
        self._totals = np.empty_like(self._infoset_values)
        self._unused = np.zeros(0), np.zeros((2, 0))
        if isinstance(method.scheme, FictitiousRule):
            self.average[:] = self.strategy
        self.sums = [np.zeros(own.shape) for own in subgames.roots.sequences]
        self.sum_weights = [0.0, 0.0]
        self.last_leaf = [np.zeros(own.shape) for own in subgames.leaves.sequences]

    def _alternating(self, row: Weights) -> None:
        """One iteration: each player in turn, the second against the first one's new policy."""
        tree, leaves = self.subgames.tree, self.subgames.leaves
        for player in (0, 1):
            accumulate(tree, player, row.average_discount, row.average, self.strategy, self.average)
            gradient(tree, self.subgames.payoff, player, self.strategy, self._values)
            if len(leaves) and self.method.leaves == "current":
                self._add_leaves(player, self.strategy)
            elif len(leaves):
                accumulate(tree, 1 - player, row.average_discount, row.average, self.strategy, self.faced)
                own, other = reach_at(leaves, self.average), reach_at(leaves, self.faced)
                thought = (own[0], other[1]) if player == 0 else (other[0], own[1])
                reached = thought if self.method.leaves == "modified" else reach_at(leaves, self.strategy)
                self._add_entries(player, self.leaf(leaves, thought, reached, player)[player], reached, row)
            self._update(player, row)
            reach(tree, player, self.policy, self.strategy)

    def _simultaneous(self, row: Weights) -> None:
        """One iteration: both players at once, against the policies with which it began."""
        tree, leaves = self.subgames.tree, self.subgames.leaves
        for player in (0, 1):
            accumulate(tree, player, row.average_discount, row.average, self.strategy, self.average)
            gradient(tree, self.subgames.payoff, player, self.strategy, self._values)
        if len(leaves):
            arrived = reach_at(leaves, self.strategy)
            thought = arrived if self.method.leaves == "current" else reach_at(leaves, self.average)
            reached = thought if self.method.leaves == "modified" else arrived
            values = self.leaf(leaves, thought, reached)
            for player in (0, 1):
                self._add_entries(player, values[player], reached, row)
        for player in (0, 1):
            self._update(player, row)
        for player in (0, 1):
            reach(tree, player, self.policy, self.strategy)

    def _add_entries(self, player: int, values: Floats, reached: Ranges, row: Weights) -> None:
        """Add values at the leaves [K, H] to the gradient of a player; of modified CFR-AVG by how much these grew."""
        leaves = self.subgames.leaves
        entries = values * opposing_mass(leaves, reached, player)
        if self.method.leaves == "modified":
            entries, self.last_leaf[player] = difference(entries, self.last_leaf[player], row), entries
        scatter(leaves.sequences[player], entries, self._values)

    def _update(self, player: int, row: Weights) -> None:
        """Regrets and next policy of a player from its gradient."""
        scratch = self._values, self._infoset_values, self._totals
        update(self.subgames.tree, player, np.array(row), FIXED, self.regrets, self.policy, *self._unused, *scratch)
        self._count_values(player, row.average_discount, row.average)

    def _reply_step(self, play: FictitiousRule, player: int, t: int) -> None:
        """One best response of one player, moved into the average."""
        tree, other = self.subgames.tree, 1 - player
        target = self.average.copy()
        mix(tree, other, play.optimism(t), self.average, self.strategy, target)
        gradient(tree, self.subgames.payoff, player, target, self._values)
        self._add_leaves(player, target)
        best_response(tree, player, self._values, self._infoset_values, self.policy)
        self._count_values(player, 1.0 - play.step(t), play.step(t))
        reach(tree, player, self.policy, self.strategy)
        mix(tree, player, play.step(t), self.average, self.strategy, self.average)

    def _add_leaves(self, player: int, strategy: Floats) -> None:
        """Add to the gradient of a player what the leaves are worth against a strategy."""
        leaves = self.subgames.leaves
        if len(leaves):
            arrived = reach_at(leaves, strategy)
            entries = self.leaf(leaves, arrived, arrived, player)[player] * opposing_mass(leaves, arrived, player)
            scatter(leaves.sequences[player], entries, self._values)

    def _count_values(self, player: int, discount: float, weight: float) -> None:
        """Move the mean of root values on, with the weights of the average policy."""
        found = np.zeros_like(self.sums[player])
        gather(self.subgames.roots.sequences[player], self._values, found)
        self.sums[player] = discount * self.sums[player] + weight * found
        self.sum_weights[player] = discount * self.sum_weights[player] + weight

    def root_values(self) -> Ranges:
        """The value of each hand at the roots, for each player float64 [B, H_i], in the game's units.

        The mean over iterations with the weights of the average policy (Brown et al. 2020, section 5.1) of what the hand gets
        against the other's range, given that it is held; 0 where the other cannot be there at all.
        """
        found = []
        for player in (0, 1):
            mass = opposing_mass(self.subgames.roots, self.ranges, player)
            mean = self.sums[player] / max(self.sum_weights[player], 1e-300)
            found.append(np.divide(mean, mass, out=np.zeros_like(mean), where=mass > 0))
        return found[0], found[1]

    def average_policy(self) -> Floats:
        """The average policy, float64 [Q]; uniform where its own average does not go."""
        policy = self.policy.copy()
        for player in (0, 1):
            normalise(self.subgames.tree, player, self.average, policy)
        return policy

    def values_of_average(self, ranges: Ranges) -> Ranges:
        """What each root hand gets when both follow the average policy from other ranges; for subgames without leaves."""
        return self.values_of(self.average_policy(), begun(self.subgames.roots, ranges))

    def values_of(self, policy: Floats, ranges: Ranges) -> Ranges:
        """What each root hand gets under a policy, float64 [B, H_i]; for subgames without leaves."""
        tree, roots = self.subgames.tree, self.subgames.roots
        strategy = np.zeros_like(policy)
        for player in (0, 1):
            place(roots.sequences[player], ranges[player], strategy)
            reach(tree, player, policy, strategy)
        found = []
        for player in (0, 1):
            gradient(tree, self.subgames.payoff, player, strategy, self._values)
            backup(tree, player, policy, self._values, self._infoset_values)
            got = np.zeros(roots.sequences[player].shape)
            gather(roots.sequences[player], self._values, got)
            mass = opposing_mass(roots, ranges, player)
            found.append(np.divide(got, mass, out=np.zeros_like(got), where=mass > 0))
        return found[0], found[1]

    def policy_at(self, decision: int, policy: Floats) -> Floats:
        """How each hand plays at a decision of the batch, float64 [A, H]; uniform for hands that cannot be there."""
        infosets = self.subgames.infosets[decision]
        actions = int(self.subgames.tree.infoset_layout[infosets[infosets >= 0][0], 2])
        table = np.full((actions, len(infosets)), 1.0 / actions)
        for hand in np.flatnonzero(infosets >= 0):
            first, stride, _ = self.subgames.tree.infoset_layout[infosets[hand]]
            table[:, hand] = policy[first : first + stride * actions : stride]
        return table


def difference(entries: Floats, last: Floats, row: Weights) -> Floats:
    """What modified CFR-AVG counts in an iteration: by how much leaf values of averages grew, over the iteration's weight.

    Both are values times the other's mass in an average strategy that is not normalised, [K, H].
    """
    return (entries - row.average_discount * last) / row.average


def begun(roots: Places, ranges: Ranges) -> Ranges:
    """Ranges at roots, each summing to one over possible hands, float64 [B, H_i]."""
    found = []
    for player in (0, 1):
        possible = np.zeros(roots.sequences[player].shape)
        for k, state in enumerate(roots.states):
            can = possible_hands(state.weight)[player]
            possible[k, : len(can)] = can
        found.append(normalised_range(np.asarray(ranges[player], np.float64), possible))
    return found[0], found[1]


def place(sequences: Ints, entries: Floats, strategy: Floats) -> None:
    """Write ``entries`` [K, H] to ``strategy`` at ``sequences``, skipping -1."""
    there = sequences >= 0
    strategy[sequences[there]] = entries[there]


def reach_at(places: Places, strategy: Floats) -> Ranges:
    """The reach of every hand of both players at public states inside a batch, float64 [K, H_i]."""
    found = []
    for own in places.sequences:
        arrived = np.empty(own.shape)
        gather(own, strategy, arrived)
        found.append(arrived)
    return found[0], found[1]


def opposing_mass(places: Places, reached: Ranges, player: int) -> Floats:
    """For each hand of a player, how likely chance and the other make it that this place is reached, float64 [K, H]."""
    mass = np.zeros(places.sequences[player].shape)
    write_opposing_mass(places.weights, player, reached[1 - player], mass)
    return mass
