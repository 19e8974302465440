"""Trace of a search: the policy of each iteration, and the average so far."""

from collections.abc import Iterator
from dataclasses import dataclass

from treeplex.base.arrays import Floats
from treeplex.search.subgame_search import SubgameSearch
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.rule import average_after


@dataclass(frozen=True)
class Step:
    """One iteration of a search.

    Attributes:
        number: number of iterations done, including this one.
        discount, weight: the iteration's weights in the average.
        played: float64 [Q], the strategy of an agent that draws this iteration, in sequence form: the iteration's policy, or in
            fictitious play the average so far.
        average: float64 [Q], the average strategy so far, up to a factor.
    """

    number: int
    discount: float
    weight: float
    played: Floats
    average: Floats


def steps(search: SubgameSearch, iterations: int) -> Iterator[Step]:
    """Run a search, yielding each iteration as it enters the average; a warm start is one step with its total weight."""
    scheme = search.method.scheme
    if search.iteration:
        weight = average_after(scheme, search.horizon, search.iteration)[1]
        guess = search.average / weight
        yield Step(search.iteration, 0.0, weight, guess, guess)
    for number in range(search.iteration + 1, iterations + 1):
        discount, weight = scheme.average_factors((number,), search.horizon)[0].tolist()
        if isinstance(scheme, FictitiousRule):
            search.run(1)
            average = search.average.copy()
            yield Step(number, discount, weight, average, average)
        else:
            played = search.strategy.copy()
            average = discount * search.average + weight * played
            yield Step(number, discount, weight, played, average)
            search.run(1)
