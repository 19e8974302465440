"""Searches that start from a guess of the policies instead of the uniform one (Brown et al. 2020, section 5.3, appendix J).

The guess is played as if in the first ``warm`` iterations: the average holds it with the weight that the method gives these,
the values at the roots likewise, and the search goes on with iteration ``warm + 1``, in which the guess is the current policy.
Regrets are what each action would have gained over the guess at its infoset, with an exact best response below; they are added
up over ``warm`` iterations. In plain CFR that is ``warm`` times their value, as in appendix J; other members of the family
weigh these iterations in their own way. Leaves are valued for the guess's beliefs throughout.

In hold'em, where the current policy follows from regrets, the search goes on with the one that follows from these.
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.leaves import gather, scatter
from treeplex.engine.tree.sweeps import backup, best_value, reach
from treeplex.forms.holdem.subgame import HoldemSubgame
from treeplex.forms.subgames.subgame import Ranges, Subgame
from treeplex.forms.whole.street import StreetSubgame
from treeplex.search.holdem.guessed_street import GuessRegrets, regrets_of_street, write_street
from treeplex.search.leaf import LeafValue
from treeplex.search.methods import Method
from treeplex.search.subgame import SubgameSearch
from treeplex.search.whole.warm_start import StreetGuess, regrets_of_rows, write_rows
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.rule import average_after
from treeplex.solvers.rules.variants import Variant


class Guess(Protocol):
    """Policies of public belief states, without search."""

    def __call__(self, subgames: Any, rows: Ints, reached: Ranges, policy: Floats) -> None:
        """Write how hands play at some decisions.

        Args:
            subgames: the batch, or a street of hold'em.
            rows: the numbers of the decisions, int64 [K], as :meth:`treeplex.forms.subgames.subgame.Subgame.find` has them.
            reached: for each player float64 [decisions, H_i], reach at all decisions; those of ``rows`` are right.
            policy: float64 [Q], written at the infosets of these decisions.
        """
        ...


@runtime_checkable
class Guided(Protocol):
    """Leaf values that come with guesses of the policies.

    Attributes:
        warm: iterations that a guess counts as, 15 in the paper; 0 for searches that start uniform.
        guess: the guesses, by the kind of subgames.
    """

    warm: int
    guess: Guess | StreetGuess


def begin_search(
    subgame: Subgame, method: Method, leaf: LeafValue, ranges: Ranges | None, iterations: int, warm: int | None = None
) -> SubgameSearch:
    """A search of so many iterations in all; where the leaf is :class:`Guided`, those of the guess are done already.

    They are ``warm``, or as many as the leaf says.

    Of a search that is shorter than the guess would count, the last iteration is left.
    """
    search = SubgameSearch(subgame, method, leaf, ranges, horizon=iterations)
    if isinstance(leaf, Guided):
        start_warm(search, leaf.guess, min(leaf.warm if warm is None else warm, iterations - 1))
    return search


def start_warm(search: SubgameSearch, guess: Any, warm: int) -> None:
    """Put a search that has not begun where ``warm`` iterations of a guess would have left it.

    Raises:
        AlgorithmError: a search behind a gadget, or with choices behind leaves.
    """
    if warm < 1:
        return
    search.check_plain("a warm start")
    street = isinstance(search.subgame, HoldemSubgame)
    rows = isinstance(search.subgame, StreetSubgame)
    write_rows(search, guess) if rows else write_street(search, guess) if street else write_guess(search, guess)
    scheme = search.method.scheme
    kept, weight = average_after(scheme, search.horizon, warm)
    search.average[:] = kept * search.average + weight * search.strategy
    search.faced[:] = search.average
    found = (regrets_of_rows if rows else regrets_of_street if street else regrets_of_trees)(search, weight)
    for player in (0, 1):
        values = found.best if isinstance(scheme, FictitiousRule) else found.values
        search.sums[player] = weight * values[player]
        search.sum_weights[player] = weight
    if isinstance(scheme, Variant):
        search.regrets[:] = added_up(scheme, search.horizon, warm, found.regrets)
        for player in (0, 1) if street else ():
            search.arrays.play(player)
    search.iteration = warm


def regrets_of_trees(search: SubgameSearch, weight: float) -> GuessRegrets:
    """What the current policy is worth, and its regrets."""
    values = values_of_guess(search, weight)
    tree, roots = search.subgames.tree, search.subgames.roots
    infoset_values, better, found = workspace(tree).infoset_values, values.copy(), []
    for player in (0, 1):
        backup(tree, player, search.policy, values, infoset_values)
        best_value(tree, player, better, infoset_values)
        for source in (values, better):
            entries = np.zeros_like(search.sums[player])
            gather(roots.sequences[player], source, entries)
            found.append(entries)
    return GuessRegrets((found[0], found[2]), (found[1], found[3]), regrets_of(search, better))


def write_guess(search: SubgameSearch, guess: Guess) -> None:
    """The guess as current policy, from the roots down: beliefs below are those that the guess itself leads to."""
    tree, decisions = search.subgames.tree, search.subgames.decisions
    levels = np.array([len(path) for path in decisions.paths], np.int64)
    for level in np.unique(levels):
        guess(search.subgames, np.flatnonzero(levels == level), decisions.reach_at(search.strategy), search.policy)
        for player in (0, 1):
            reach(tree, player, search.policy, search.strategy)


def values_of_guess(search: SubgameSearch, weight: float) -> Floats:
    """Both players' gradients against the current policy, leaves included, float64 [Q]; what modified CFR-AVG keeps of them."""
    tree, leaves = search.subgames.tree, search.subgames.leaves
    values = workspace(tree).values
    for player in (0, 1):
        gradient(tree, search.subgames.payoff, player, search.strategy, values)
    if len(leaves):
        arrived = leaves.reach_at(search.strategy)
        found = search.leaf(leaves, arrived, arrived)
        for player in (0, 1):
            entries = found[player] * leaves.opposing(arrived, player)
            search.last_leaf[player] = weight * entries
            scatter(leaves.sequences[player], entries, values)
    return values


def regrets_of(search: SubgameSearch, values: Floats) -> Floats:
    """The value of each action less that of the current policy at its infoset, float64 [Q]; 0 at sequences without one."""
    infosets = search.subgames.tree.sequence_infoset
    inner = infosets >= 0
    mean = np.bincount(infosets[inner], weights=(search.policy * values)[inner])
    regrets = np.zeros_like(values)
    regrets[inner] = values[inner] - mean[infosets[inner]]
    return regrets


def added_up(scheme: Variant, horizon: int, warm: int, regrets: Floats) -> Floats:
    """The same regrets met in each of the first iterations, discounted and floored as the variant does."""
    total = np.zeros_like(regrets)
    for t in range(1, warm + 1):
        row = scheme.schedule(t, horizon, **scheme.parameters)
        total = np.where(total > 0.0, total * row.positive, total * row.negative) + row.regret * regrets
        if row.floor > 0.0:
            total = np.maximum(total, 0.0)
    return total
