"""Reach, action values and regrets of a policy at every history and infoset.

With pi the policy's probabilities, c those of chance and u_i the payoff of player i, over the histories h of an infoset I of i:

    others' reach   pi_-i(I) = sum over h of c(h) prod over j other than i of pi_j(h)
    value           Q(I, a)  = sum over h of c(h) prod over j other than i of pi_j(h) u_i(h a) / pi_-i(I)
    regret          r(I)     = pi_-i(I) (max over a of Q(I, a) - sum over a of pi_i(I, a) Q(I, a))

(Zinkevich, Johanson, Bowling and Piccione 2007, section 3). All quantities are passes over the arrays of all histories, so the
game must be small enough to walk.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL
from treeplex.errors import PolicyError
from treeplex.forms.compile.views.histories import HistoryTree
from treeplex.forms.policies.tabular import Policy


@dataclass(frozen=True, eq=False)
class HistoryValues:
    """Values of a policy at all histories of a game.

    Attributes:
        tree: H histories and I infosets; parents come before children.
        policy: a policy of the same game.
    """

    tree: HistoryTree
    policy: Policy

    @cached_property
    def parent(self) -> Ints:
        """Parent of each history, int64 [H]; -1 for the root."""
        nodes = self.tree.histories.nodes
        inner = np.flatnonzero(nodes[:, CHILDREN])
        counts = nodes[inner, CHILDREN]
        parents = np.full(len(nodes), -1, np.int64)
        parents[self._spread(nodes[inner, CHILD], counts)] = np.repeat(inner, counts)
        return parents

    @cached_property
    def place(self) -> Ints:
        """Index of each history among its siblings, int64 [H]; 0 for the root."""
        places = np.arange(len(self.parent)) - self.tree.histories.nodes[self.parent, CHILD]
        places[0] = 0
        return np.asarray(places, np.int64)

    @cached_property
    def levels(self) -> tuple[Ints, ...]:
        """Histories at each depth, from the root down."""
        nodes, levels = self.tree.histories.nodes, [np.zeros(1, np.int64)]
        while True:
            above = levels[-1][nodes[levels[-1], CHILDREN] > 0]
            if not len(above):
                return tuple(levels)
            levels.append(self._spread(nodes[above, CHILD], nodes[above, CHILDREN]))

    @cached_property
    def probabilities(self) -> tuple[Floats, ...]:
        """Action probabilities at each infoset, float64 [A] each.

        Raises:
            PolicyError: the policy lacks an infostate of the game.
        """
        game, rows = self.policy.game, []
        for player, infostate in zip(self.tree.infoset_player.tolist(), self.tree.infostates, strict=True):
            if (player, infostate) not in game.lookup:
                raise PolicyError(f"the policy lacks infostate {infostate!r} of player {player}; give a policy for this game")
            rows.append(self.policy.probabilities[game.sequences_at(game.lookup[player, infostate])])
        return tuple(rows)

    @cached_property
    def chances(self) -> Floats:
        """Probability of each history given its parent, float64 [H]; 1 at the root."""
        histories, parent, index = self.tree.histories, self.parent, self.place
        actor, key = histories.nodes[parent, ACTOR], histories.nodes[parent, KEY]
        first = np.cumsum([0, *map(len, self.probabilities)])[:-1]
        chances = np.ones(len(parent))
        moved, dealt = np.flatnonzero(actor >= 0), np.flatnonzero(actor == CHANCE)
        moved, dealt = moved[moved > 0], dealt[dealt > 0]
        flat = np.concatenate(self.probabilities) if self.probabilities else np.zeros(0)
        chances[moved] = flat[first[key[moved]] + index[moved]]
        chances[dealt] = histories.chance[key[dealt] + index[dealt]]
        return chances

    @cached_property
    def reach(self) -> Floats:
        """Reach of each history by player, and by chance in the last row, float64 [N + 1, H]."""
        actor = self.tree.histories.nodes[self.parent, ACTOR]
        row = np.where(actor < 0, self.tree.players, actor)
        reach = np.ones((self.tree.players + 1, len(actor)))
        for level in self.levels[1:]:
            reach[:, level] = reach[:, self.parent[level]]
            reach[row[level], level] *= self.chances[level]
        return reach

    @cached_property
    def values(self) -> Floats:
        """Expected payoffs at each history under the policy, float64 [H, N]."""
        histories = self.tree.histories
        values = np.zeros((len(histories.nodes), self.tree.players))
        ends = np.flatnonzero(histories.nodes[:, ACTOR] == TERMINAL)
        values[ends] = histories.payoffs[histories.nodes[ends, KEY]]
        for level in reversed(self.levels[1:]):
            np.add.at(values, self.parent[level], self.chances[level, None] * values[level])
        return values

    @cached_property
    def _decisions(self) -> Ints:
        """Return the indices of the decision histories."""
        return np.flatnonzero(self.tree.histories.nodes[:, ACTOR] >= 0)

    @cached_property
    def _weights(self) -> Floats:
        """Return the counterfactual reach of each decision history."""
        actor = self.tree.histories.nodes[self._decisions, ACTOR]
        reach = self.reach[:, self._decisions].copy()
        reach[actor, np.arange(len(actor))] = 1.0
        return np.asarray(reach.prod(axis=0))

    @cached_property
    def others_reach(self) -> Floats:
        """Counterfactual reach of each infoset, float64 [I]."""
        keys = self.tree.histories.nodes[self._decisions, KEY]
        return np.bincount(keys, self._weights, len(self.tree.infostates)).astype(np.float64)

    @cached_property
    def own_reach(self) -> Floats:
        """Own reach of each infoset, float64 [I]."""
        nodes, reach = self.tree.histories.nodes, np.zeros(len(self.tree.infostates))
        reach[nodes[self._decisions, KEY]] = self.reach[nodes[self._decisions, ACTOR], self._decisions]
        return reach

    @cached_property
    def action_values(self) -> tuple[Floats, ...]:
        """Action values at each infoset for its player, in the game's units, float64 [A] each.

        At zero counterfactual reach, the infoset's histories are weighted equally.
        """
        nodes, decisions = self.tree.histories.nodes, self._decisions
        keys, sizes = nodes[decisions, KEY], np.array([*map(len, self.probabilities)], np.int64)
        weights = np.where(self.others_reach[keys] > 0, self._weights, 1.0)
        totals = np.bincount(keys, weights, len(sizes))
        first, counts = np.cumsum([0, *sizes])[:-1], nodes[decisions, CHILDREN].astype(np.int64)
        children, of = self._spread(nodes[decisions, CHILD], counts), np.repeat(np.arange(len(decisions)), counts)
        worth = self.values[children, nodes[decisions, ACTOR][of]] * weights[of]
        flat: Floats = np.bincount(first[keys[of]] + self.place[children], worth, int(sizes.sum())).astype(np.float64)
        flat /= np.repeat(totals, sizes)
        return tuple(np.split(flat, first[1:])) if len(sizes) else ()

    @cached_property
    def regrets(self) -> Floats:
        """The immediate counterfactual regret of each infoset, float64 [I]. See :func:`treeplex.policies.infostate_regrets`."""
        rows = zip(self.action_values, self.probabilities, strict=True)
        gained = np.array([worth.max() - float(worth @ policy) for worth, policy in rows], np.float64)
        return np.asarray(self.others_reach * gained, np.float64)

    @cached_property
    def infosets(self) -> dict[tuple[int, str], int]:
        """Map from (player, infostate string) to infoset."""
        named = zip(self.tree.infoset_player.tolist(), self.tree.infostates, strict=True)
        return {key: number for number, key in enumerate(named)}

    @staticmethod
    def _spread(first: "NDArray[np.int32] | Ints", counts: "NDArray[np.int32] | Ints") -> Ints:
        """Return the concatenated ranges ``first, first + 1, ...`` of ``counts`` numbers each."""
        whole = counts.astype(np.int64)
        within = np.arange(int(whole.sum())) - np.repeat(np.cumsum(whole) - whole, whole)
        return np.asarray(np.repeat(first.astype(np.int64), whole) + within, np.int64)
