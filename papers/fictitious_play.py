"""Fictitious linear optimistic play as ReBeL's released solver weights it, written with the library's ``Play``.

Appendix H starts the average at the first reply: ``avg_t = (t-1)/(t+1) avg_{t-1} + 2/(t+1) reply_t`` gives the uniform start
weight zero, and the library's ``flop`` does that. The released solver keeps the uniform start with weight 2 beside
replies of weight ``t + 1``, answers the average with its last reply counted once more (weight ``t + 2``), and reports that
same optimistic average.
"""

from treeplex.forms.policy import Policy, normalised
from treeplex.solvers import Play, Solver


def total(t: int) -> float:
    """Weights after t replies: 2 for the uniform start and s + 1 for reply s."""
    return 2.0 + t * (t + 3.0) / 2.0


def share_of_last(t: int) -> float:
    """The share of the last reply, counted once more, in the optimistic average after t replies."""
    return (t + 2.0) / (total(t) + t + 2.0)


KEPT_START = Play(
    name="flop, start kept",
    summary="FLOP with the uniform start kept in the average",
    reference="Brown, Bakhtin, Lerer and Gong 2020, the released solver",
    step=lambda t: (t + 1.0) / total(t),
    optimism=lambda t: share_of_last(t - 1),
)


def optimistic_average(solver: Solver) -> Policy:
    """The average with the last reply counted once more, which the released solver reports."""
    state, share = solver.state(), share_of_last(solver.iteration)
    return Policy(solver.game, normalised(solver.game, (1.0 - share) * state["average"] + share * state["reply"]))
