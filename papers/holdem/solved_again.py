"""A policy of a spot whose last streets are re-solved on all boards at once, so that it can be evaluated.

It is the policy of an agent that solves each street at its start: from the ranges of the policy, or with a gadget that has the
policy's values for the opponent's hands. Agents solve one public state at a time
(:class:`treeplex.holdem.search.subgames.endgame_search.EndgameSearch`); here all states of a street are solved at once, by the
same updates.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.holdem.later_streets import LaterStreets
from treeplex.base.arrays import Floats
from treeplex.engine.tree.regret import AVERAGE, AVERAGE_DISCOUNT
from treeplex.errors import AlgorithmError
from treeplex.holdem import HoldemSolver
from treeplex.holdem.engine.passes import BEST, answer, improve
from treeplex.holdem.forms.layout import own_parts
from treeplex.holdem.forms.spot_form import store_of_policy
from treeplex.holdem.policies.judge import judging_crew
from treeplex.search.resolving.resolved import UNSAFE
from treeplex.search.subgames.beliefs import normalised_range, with_trace
from treeplex.search.subgames.gadgets import GADGETS, GadgetArrays
from treeplex.search.subgames.subgame import Ranges
from treeplex.solvers import Variant, Weights


def solved_again(
    later: LaterStreets, average: Floats, gadget: str = UNSAFE, *, method: str = "dcfr", iterations: int = 200
) -> Floats:
    """A policy with some last streets of its spot re-solved for both players.

    With a gadget the result is at most as exploitable as the policy, up to the convergence of the solves (Burch et al. 2014,
    theorem 1; Moravčík et al. 2016, theorem 1).

    Args:
        later: the streets; with a gadget they must be entered after their cards are dealt.
        average: float64 [Q], the policy as a solver stores it for the spot.
        gadget: ``none``, or one of :data:`treeplex.search.subgames.gadgets.GADGETS`.
        method: a variant of CFR.
        iterations: of each solve.

    Returns:
        float64 [Q], as ``average``.

    Raises:
        AlgorithmError: an unknown gadget, one before the deal, or a method that is no variant of CFR with fixed weights.
    """
    if gadget not in (UNSAFE, *GADGETS):
        raise AlgorithmError(f"unknown gadget {gadget!r}; known: {', '.join((UNSAFE, *GADGETS))}")
    if gadget != UNSAFE and not later.dealt:
        raise AlgorithmError(f"gadget {gadget} needs streets that begin with a deal; use dealt=True")
    ranges, found = entering_ranges(later, average), average.copy()
    tail = found[later.stored_before :]
    if gadget == UNSAFE:
        tail[:] = LaterSolve(later, ranges, method, iterations).solution()
        return found
    for player in (0, 1):
        solve = LaterSolve(later, ranges, method, iterations)
        solve.stand_behind(gadget, player, average)
        solution = solve.solution()
        for own in own_parts(later.form, player, len(later.form.forests)):
            tail[own] = solution[own]
    return found


def entering_ranges(later: LaterStreets, average: Floats) -> Ranges:
    """A policy's ranges at the entrances of some streets, for each player float64 [K, H]; every hand has positive reach."""
    none: NDArray[Any] = np.zeros(0, np.float32)
    crew, store, found = judging_crew(later.whole, 1), store_of_policy(later.whole, average, none), []
    for player, possible in enumerate(later.entrances.possible):
        crew.descend(player, average, none, store, streets=later.street)
        found.append(normalised_range(with_trace(later.reaches(crew.work, player)), possible))
    return tuple(found)


class LaterSolve:
    """A solve of some last streets.

    Attributes:
        later: the streets.
        ranges: for each player float64 [K, H], at the start.
        rows: the weights of all iterations.
        solver: arrays and scratch space.
        gadget: at every entrance; None without gadget.
    """

    def __init__(self, later: LaterStreets, ranges: Ranges, method: str, iterations: int) -> None:
        """Start from the uniform policy.

        Raises:
            AlgorithmError: a method that is no variant of CFR with fixed weights.
        """
        self.later, self.ranges = later, ranges
        self.solver = HoldemSolver(later.form, method, threads=1, horizon=iterations)
        if not isinstance(self.solver.rule, Variant):
            raise AlgorithmError(f"streets are solved again by a variant of CFR with fixed weights, not by {method}")
        self.rows = self.solver.rule.rows(range(1, iterations + 1), iterations)
        self.gadget: GadgetArrays | None = None
        for player in (0, 1):
            self._enter(player, ranges[player])

    def stand_behind(self, gadget: str, player: int, average: Floats) -> None:
        """Add a gadget for the re-solving player, with the values of a policy of the spot, [Q]."""
        later, crew, store = self.later, self.solver.crew, self.solver.store
        other, places, old = 1 - player, later.entrances, average[later.stored_before :].astype(store.average.dtype)
        crew.descend(player, old, store.average_scales, store, first=1, streets=crew.last)
        crew.ascend(answer, other, BEST, old, store.average_scales, store, first=1)
        met = places.opposing(self.ranges, other) * places.possible[other]
        entries = self._returned(other)
        promised = np.divide(entries, met, out=np.zeros_like(entries), where=met > 0)
        self.gadget = GadgetArrays(GADGETS[gadget](player, promised), places, places.possible, self.ranges)
        self._enter(other, self.gadget.entered())

    def solution(self) -> NDArray[Any]:
        """The average strategy after all iterations, [Q], as a solver stores it for the streets."""
        store, crew, rows = self.solver.store, self.solver.crew, self.rows
        self._walk(0, rows[0], rows[0, AVERAGE])
        for k, row in enumerate(rows):
            following, last = rows[min(k + 1, len(rows) - 1)], k + 1 == len(rows)
            for player, against in ((0, row), (1, following)):
                add = 0.0 if player == 1 and last else against[AVERAGE]
                self._walk(1 - player, against, add, streets=crew.last)
                crew.ascend(improve, player, store, row, against[AVERAGE_DISCOUNT], add, first=1)
                if self.gadget is not None and player == self.gadget.opponent:
                    self.gadget.improve(self._returned(player), Weights(*row))
                    self._enter(player, self.gadget.entered())
        return store.average

    def _walk(self, player: int, row: Floats, add: float, *, streets: int | None = None) -> None:
        """Own reach by the current policy on the first streets, for the average."""
        store, crew = self.solver.store, self.solver.crew
        upto = crew.last + 1 if streets is None else streets
        keep = row[AVERAGE_DISCOUNT]
        crew.descend(player, store.guesses, store.guess_scales, store, keep=keep, add=add, first=1, streets=upto)

    def _enter(self, player: int, ranges: Floats) -> None:
        """Set a player's starting ranges, [K, H]."""
        for places, hands, rows in self.later.rows(self.solver.crew.work, player):
            rows[:] = ranges[places][:, hands]

    def _returned(self, player: int) -> Floats:
        """Returned values of a player's hands after a pass, float64 [K, H]."""
        found = np.zeros_like(self.ranges[player])
        for places, hands, rows in self.later.rows(self.solver.crew.work, player, gathered=True):
            found[places, hands] = rows
        return found
