"""Street searches over many boards, in which each row stops at its own iteration."""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.holdem.street_search.betting import ROOT
from treeplex.holdem.street_search.street import StreetSubgame
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.subgame import Ranges
from treeplex.solvers.rules.fictitious import FictitiousRule


class StoppedRows(NamedTuple):
    """Policies of N copies of rows, each at its own iteration.

    Attributes:
        policies: for each decision float64 [A, N, H], its policy.
        arrived: float64 [ends, N, H] for each player, its reach at the street's ends.
    """

    policies: list[Floats]
    arrived: Ranges


def run_stopping(search: SubgameSearch, iterations: int, rows: Ints, stops: Ints, *, average: bool = False) -> StoppedRows:
    """Run a street search to completion and return the policies of copies of its rows.

    Iteration t is the policy after t updates, 0 the policy at the start; see :func:`treeplex.search.stopping.policies_at`.

    Args:
        search: search of a :class:`StreetSubgame`.
        iterations: T.
        rows: int64 [N], the row of each copy.
        stops: int64 [N], the iteration of each copy.
        average: whether reach is that of the average policy up to that iteration, as in CFR-AVG, instead of the current
            policy's.
    """
    street = search.subgame
    assert isinstance(street, StreetSubgame)
    plays = isinstance(search.method.scheme, FictitiousRule)
    hands, ends = street.roots.widths[0], len(street.betting.ends)
    policies = [np.empty((len(decision.actions), len(rows), hands)) for decision in street.betting.decisions]
    arrived = np.empty((2, ends, len(rows), hands))
    begun = search.iteration
    for t in range(begun, iterations + 1):
        if t > search.iteration:
            search.run(1)
        now = np.flatnonzero(stops <= t if t == begun else stops == t)
        if not len(now):
            continue
        source = search.average_policy() if plays else search.policy
        for number, table in enumerate(policies):
            table[:, now] = street.block(source, number)[:, rows[now]]
        averaged = plays or (average and search.method.averaging)
        reached = search.arrays.reach_at_leaves(search.next_average() if averaged else search.strategy)
        for target, reach in zip(arrived, reached, strict=True):
            target[:, now] = reach.reshape(ends, len(street.boards), hands)[:, rows[now]]
    return StoppedRows(policies, (arrived[0], arrived[1]))


def played_through(street: StreetSubgame, policies: list[Floats], reaches: Ranges) -> tuple[list[Floats], Ranges]:
    """Reach at the end of a street under given policies, from given initial reaches.

    Args:
        street: the street, of which only the betting is used.
        policies: for each decision [A, N, H].
        reaches: for each player [N, H].

    Returns:
        For each decision own reach times policy, [A, N, H]; and each player's reach at the ends, [ends, N, H].
    """
    betting, played = street.betting, list[Floats]()
    for number, decision in enumerate(betting.decisions):
        reach = reaches[decision.player] if decision.last == ROOT else played[decision.last[0]][decision.last[1]]
        played.append(policies[number] * reach)
    arrived = []
    for player in (0, 1):
        end_reach = [
            reaches[player] if end.last[player] == ROOT else played[end.last[player][0]][end.last[player][1]]
            for end in betting.ends
        ]
        arrived.append(np.stack(end_reach) if end_reach else np.empty((0, *reaches[player].shape)))
    return played, (arrived[0], arrived[1])
