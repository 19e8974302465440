"""Warm starts of searches from a guess (Brown et al. 2020, section 5.3, appendix J).

The guess is treated as the policy of the first ``warm`` iterations: the guess and its root values enter the averages with the
total weight that the method gives these iterations. The search continues with iteration ``warm + 1``, in which the guess is the
current policy. Regrets are the gain of each action over the guess at its infoset, with an exact best response below, summed
over ``warm`` iterations. In vanilla CFR this is ``warm`` times the gain, as in appendix J; other variants weight these
iterations according to their own schedules. Leaves are always valued for the guess's beliefs.

If the current policy is derived from regrets, as in hold'em, the search continues with the policy that follows from these
regrets.
"""

from typing import Any, Protocol, runtime_checkable

from treeplex.search.leaf import LeafValue
from treeplex.search.methods import Method
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.subgame import Ranges, Subgame
from treeplex.search.warm_start.guess import Guess
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.rule import average_after
from treeplex.solvers.rules.variants import Variant, added_up


@runtime_checkable
class WarmStartLeaf(Protocol):
    """Leaf values that provide guesses of the policies.

    Attributes:
        warm: number of iterations for which a guess counts, 15 in the paper; 0 for uniform starts.
        guess: provides the guesses, None for none; in street search a
            :class:`treeplex.holdem.street_search.warm_start.StreetGuess`.
    """

    warm: int
    guess: Guess | Any


def guess_of(leaf: LeafValue) -> Any:
    """Return the guesses that leaf values provide; None if they provide none."""
    return leaf.guess if isinstance(leaf, WarmStartLeaf) else None


def begin_search(
    subgame: Subgame, method: Method, leaf: LeafValue, ranges: Ranges | None, iterations: int, warm: int | None = None
) -> SubgameSearch:
    """Create a search for ``iterations`` iterations, warm-started if the leaf is :class:`WarmStartLeaf`.

    The guess counts as ``warm`` iterations, but at most ``iterations - 1``. By default, ``warm`` is the leaf's own number.
    """
    search = SubgameSearch(subgame, method, leaf, ranges, horizon=iterations)
    if isinstance(leaf, WarmStartLeaf) and leaf.guess is not None:
        start_warm(search, leaf.guess, min(leaf.warm if warm is None else warm, iterations - 1))
    return search


def start_warm(search: SubgameSearch, guess: Any, warm: int) -> None:
    """Set a new search to the state after ``warm`` iterations that played a guess.

    Raises:
        AlgorithmError: the search has a gadget or choices below leaves.
    """
    if warm < 1:
        return
    search.check_plain("a warm start")
    search.subgame.write_guess(search, guess)
    scheme = search.method.scheme
    discount, weight = average_after(scheme, search.horizon, warm)
    search.average[:] = discount * search.average + weight * search.strategy
    search.faced[:] = search.average
    regrets = search.subgame.regrets_of_guess(search, weight)
    for player in (0, 1):
        values = regrets.best if isinstance(scheme, FictitiousRule) else regrets.values
        search.sums[player] = weight * values[player]
        search.sum_weights[player] = weight
    if isinstance(scheme, Variant):
        search.regrets[:] = added_up(scheme, search.horizon, warm, regrets.regrets)
        for player in (0, 1) if search.subgame.policy_from_regrets else ():
            search.arrays.play(player)
    search.iteration = warm
