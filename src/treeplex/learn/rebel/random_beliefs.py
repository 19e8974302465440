"""Random public belief states, used in place of self-play as a training baseline.

Brown et al. 2020 (Figure 2, "random beliefs") do not say how these are drawn. DeepStack (Moravčík et al. 2017, supplement)
splits ranges recursively: hands sorted by strength are cut into two halves, the probability is split between them at a uniform
point, and so on down to single hands. This is used if the rules define an order of hands. Otherwise ranges are drawn from a
flat Dirichlet distribution.
"""

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.games.public import PublicState, PublicTree
from treeplex.search.subgames.beliefs import Belief


def random_belief(rules: PublicTree, state: PublicState, generator: np.random.Generator) -> Belief:
    """Draw independent random ranges of both players at a public state."""
    ranges = []
    for player, possible in enumerate(rules.possible(state)):
        hands, drawn = np.flatnonzero(possible), np.zeros(len(possible))
        strengths = rules.strengths(state.node, player)
        if strengths is None:
            drawn[hands] = generator.dirichlet(np.ones(len(hands)))
        else:
            shuffled = generator.permutation(hands)  # random order of equal strengths
            drawn[shuffled[np.argsort(strengths[shuffled], kind="stable")]] = split(len(hands), generator)
        ranges.append(drawn)
    return Belief.of(rules, state, ranges)


def split(count: int, generator: np.random.Generator) -> Floats:
    """Random probabilities of ``count`` sorted hands, split recursively between halves at uniform points."""
    shares = np.ones(count)
    parts = [(0, count)]
    while parts:
        begin, end = parts.pop()
        if end - begin < 2:
            continue
        middle, point = (begin + end) // 2, generator.random()
        shares[begin:middle] *= point
        shares[middle:end] *= 1.0 - point
        parts += [(begin, middle), (middle, end)]
    return shares
