"""Public belief states drawn at random: what a value network is trained on in place of self-play, for comparison.

Brown et al. 2020 (Figure 2, "random beliefs") do not say how theirs are drawn. DeepStack (Moravčík et al. 2017, supplement)
draws ranges by halving: the hands in order of strength are cut in two halves, the probability is split between these at
a uniform point, and so on down to single hands. That is done here where the rules know an order of hands. Elsewhere ranges are
uniform over all ranges (a flat Dirichlet distribution).
"""

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.games.public import PublicState, PublicTree
from treeplex.search.subgames.beliefs import Belief


def random_belief(rules: PublicTree, state: PublicState, generator: np.random.Generator) -> Belief:
    """The public state with ranges drawn at random, for each player by itself."""
    ranges = []
    for player, possible in enumerate(rules.possible(state)):
        hands, drawn = np.flatnonzero(possible), np.zeros(len(possible))
        strengths = rules.strengths(state.node, player)
        if strengths is None:
            drawn[hands] = generator.dirichlet(np.ones(len(hands)))
        else:
            shuffled = generator.permutation(hands)  # equal strengths in any order
            drawn[shuffled[np.argsort(strengths[shuffled], kind="stable")]] = split(len(hands), generator)
        ranges.append(drawn)
    return Belief.of(rules, state, ranges)


def split(count: int, generator: np.random.Generator) -> Floats:
    """Random probabilities of ``count`` hands in order: halves share at a uniform point, and so on within each."""
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
