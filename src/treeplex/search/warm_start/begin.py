"""Warm starts of searches from a guess (Brown et al. 2020, section 5.3, appendix J).

The guess is treated as the policy of the first ``warm`` iterations: it enters the average with the weight that the method
gives these, and so do the values at the roots. The search continues with iteration ``warm + 1``, in which the guess is the
current policy. Regrets are the gain of each action over the guess at its infoset, with an exact best response below, summed
over ``warm`` iterations. In plain CFR this is ``warm`` times the gain, as in appendix J; other variants weight these
iterations in their own way. Leaves are valued for the guess's beliefs throughout.

If the current policy is derived from regrets, as in hold'em, the search continues with the policy of these regrets.
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
class Guided(Protocol):
    """Leaf values that come with guesses of the policies.

    Attributes:
        warm: iterations that a guess counts as, 15 in the paper; 0 for uniform starts.
        guess: the guesses, None for none; in street search :class:`treeplex.holdem.street_search.warm_start.StreetGuess`.
    """

    warm: int
    guess: Guess | Any


def guess_of(leaf: LeafValue) -> Any:
    """The guesses that come with leaf values; None without any."""
    return leaf.guess if isinstance(leaf, Guided) else None


def begin_search(
    subgame: Subgame, method: Method, leaf: LeafValue, ranges: Ranges | None, iterations: int, warm: int | None = None
) -> SubgameSearch:
    """A search planned for ``iterations`` iterations; a :class:`Guided` leaf warm-starts it.

    The guess counts as ``warm`` iterations (default: the leaf's number), at most all but the last.
    """
    search = SubgameSearch(subgame, method, leaf, ranges, horizon=iterations)
    if isinstance(leaf, Guided) and leaf.guess is not None:
        start_warm(search, leaf.guess, min(leaf.warm if warm is None else warm, iterations - 1))
    return search


def start_warm(search: SubgameSearch, guess: Any, warm: int) -> None:
    """Put a new search in the state after ``warm`` iterations of a guess.

    Raises:
        AlgorithmError: a search with a gadget, or with choices behind leaves.
    """
    if warm < 1:
        return
    search.check_plain("a warm start")
    search.subgame.write_guess(search, guess)
    scheme = search.method.scheme
    kept, weight = average_after(scheme, search.horizon, warm)
    search.average[:] = kept * search.average + weight * search.strategy
    search.faced[:] = search.average
    found = search.subgame.regrets_of_guess(search, weight)
    for player in (0, 1):
        values = found.best if isinstance(scheme, FictitiousRule) else found.values
        search.sums[player] = weight * values[player]
        search.sum_weights[player] = weight
    if isinstance(scheme, Variant):
        search.regrets[:] = added_up(scheme, search.horizon, warm, found.regrets)
        for player in (0, 1) if search.subgame.policy_from_regrets else ():
            search.arrays.play(player)
    search.iteration = warm
