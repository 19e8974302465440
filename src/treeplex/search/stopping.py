"""Searches that stop at a random iteration, whose policy is followed by self-play and playthroughs."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.search.methods import average_weights
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.batch import Subgames, place
from treeplex.solvers.rules.fictitious import FictitiousRule


def training_iterations(
    draw: str, method: str, iterations: int, count: int, generator: np.random.Generator, *, first: int = 0
) -> Ints:
    """Draw the numbers of iterations after which self-play adopts the current policy, int64 [count].

    Args:
        draw: one of :data:`treeplex.search.settings.DRAWS`. ``uniform``: from ``first`` to ``iterations``, as in the code
            released with Brown et al. 2020. ``average``: with the weights of the average, where the policy after t iterations
            has the weight of iteration t + 1; for linear CFR this is algorithm 2.
        method, iterations: the search's method and number of iterations.
        count: number of draws.
        generator: random generator.
        first: number of iterations for which the search's warm start counts.
    """
    if draw == "uniform":
        return generator.integers(first, iterations + 1, count)
    weights = average_weights(method, iterations)[first:]
    return first + generator.choice(len(weights), count, p=weights / weights.sum())


class SelfPlayPolicies(NamedTuple):
    """Results of searches for self-play, each stopped at its own iteration.

    Attributes:
        policy: float64 [Q], current policies, or in fictitious play average policies.
        average: float64 [Q], the average strategies, including these policies, in sequence form and up to a factor; None unless
            requested.
    """

    policy: Floats
    average: Floats | None = None


def policies_at(
    search: SubgameSearch,
    iterations: int,
    stops: Ints,
    *,
    values: bool = True,
    average: bool = False,
    copies: "Replicas | None" = None,
) -> SelfPlayPolicies:
    """Run a search; returns each subgame's policy at its stop, and optionally the average.

    Stop t means the policy after t updates, which enters averages as iteration t + 1; stop 0 is the initial uniform policy. A
    search with a warm start plays its guess in all iterations for which the guess counts. If the ``values`` at the roots are
    not needed, each subgame is dropped at its stop: its ranges become 0, so that its leaves have zero reach. With ``copies``,
    stops and policies are those of the copies.
    """
    averaging = isinstance(search.method.scheme, FictitiousRule)
    owners = search.subgames.owners if copies is None else copies.subgames.owners
    source = np.arange(len(owners)) if copies is None else copies.source
    at = np.where(owners >= 0, stops[owners], 0)
    results = SelfPlayPolicies(search.policy[source], search.next_average()[source] if average else None)
    wanted = set(stops.tolist())
    for t in range(search.iteration + 1, iterations + 1 if values else int(stops.max()) + 1):
        search.run(1)
        if t in wanted:
            now = at == t
            results.policy[now] = (search.average_policy() if averaging else search.policy)[source[now]]
            if results.average is not None:
                results.average[now] = search.next_average()[source[now]]
            if not values:
                for sequences in search.subgames.roots.sequences:
                    place(sequences[stops == t], np.zeros(sequences[stops == t].shape), search.strategy)
    return results


@dataclass(frozen=True, eq=False)
class Replicas:
    """A batch with copies of another batch's subgames.

    Attributes:
        subgames: the batch.
        source: int64 [Q], for each sequence the one that it copies from the other batch.
    """

    subgames: Subgames
    source: Ints

    @classmethod
    def of(cls, subgames: Subgames, searched: Subgames, which: Ints) -> "Replicas":
        """Make subgame k of the batch a copy of subgame ``which[k]`` of ``searched``.

        The order of a subgame's sequences is the same in every batch.
        """
        order = np.argsort(searched.owners, kind="stable")
        sequences = np.split(order, np.searchsorted(searched.owners[order], np.arange(len(searched.roots))))
        source = np.empty(len(subgames.owners), np.int64)
        source[np.argsort(subgames.owners, kind="stable")] = np.concatenate([sequences[0], *(sequences[k + 1] for k in which)])
        return cls(subgames, source)
