"""A solved spot: how well it is solved, and a look at every node of it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.evaluate.holdem.node_values import HoldemValues
from treeplex.forms.holdem.compile_spot import CompiledSpot
from treeplex.games.poker.betting.tree import BettingTree
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.locks import with_locks
from treeplex.runs.holdem.report.view import Browser, View
from treeplex.solvers.holdem.solver import Lock


@dataclass(frozen=True)
class HoldemRecord:
    """One evaluation of the average strategy.

    Attributes:
        iteration: iterations done.
        seconds: time spent in the solver (judging excluded), summed over resumes.
        exploitability: mean over players of what a best response gains, in chips; NaN if judging was broken off.
    """

    iteration: int
    seconds: float
    exploitability: float


@dataclass(frozen=True)
class HoldemSettings:
    """How a spot was solved.

    Attributes:
        storage: in which numbers, see :data:`treeplex.solvers.holdem.solver.STORAGE`.
        threads: threads used.
        horizon: iterations planned at the first start, for schedules that depend on it.
        target: stop at this exploitability, in chips; None for none.
    """

    storage: str = "float32"
    threads: int = 1
    horizon: int = 1000
    target: float | None = None


@dataclass(frozen=True, eq=False)
class HoldemSolution:
    """A solved spot.

    Attributes:
        game: the compiled spot.
        algorithm: canonical spec of the algorithm.
        settings: how it was solved.
        records: evaluations, oldest first; the last one is about this strategy.
        ev: what both players win on average, in chips against half the starting pot; NaN if judging was broken off.
        status: why solving stopped: ``finished``, ``target reached``, ``time up`` or ``interrupted``.
        average: [Q], what the strategy is proportional to, as in :class:`treeplex.engine.holdem.form.Store`; it ends after
            ``streets`` streets.
        scales: float32, of 16-bit numbers; else empty.
        state: all arrays of the solver, so that solving can go on; None if they were not saved.
        locks: strategies that were fixed.
        streets: how many streets ``average`` covers.
        ends: values at the ends of streets, where ``average`` does not cover all; see :class:`HoldemValues`.
        judging_seconds: time spent in judging, summed over resumes.
        memory: bytes that solving and judging took.
    """

    game: CompiledSpot
    algorithm: str
    settings: HoldemSettings
    records: tuple[HoldemRecord, ...]
    ev: tuple[float, float]
    status: str
    average: NDArray[Any] = field(repr=False)
    scales: NDArray[Any] = field(repr=False)
    state: Mapping[str, NDArray[Any]] | None = field(repr=False)
    locks: tuple[Lock, ...] = ()
    streets: int = 0
    ends: NDArray[np.float64] | None = None
    judging_seconds: float = 0.0
    memory: int = 0

    @property
    def spot(self) -> Spot:
        """The spot."""
        return self.game.spot

    @property
    def tree(self) -> BettingTree:
        """Its betting tree."""
        return self.game.betting

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self.records[-1].iteration

    @property
    def seconds(self) -> float:
        """Seconds in the solver, judging excluded."""
        return self.records[-1].seconds

    @property
    def exploitability(self) -> float:
        """Mean over players of what a best response gains, in chips."""
        return self.records[-1].exploitability

    @property
    def judged(self) -> bool:
        """Whether exploitability and expected values are known; not if a second Ctrl-C broke the judging off."""
        return not isnan(self.exploitability)

    @property
    def exploitability_unnormalised(self) -> float:
        """The same in the unit of papers on Libratus' end games, in chips.

        They let each range sum to one and do not divide by the probability that two hands share no card.
        """
        total = float(self.spot.ranges[0].sum() * self.spot.ranges[1].sum())
        return self.exploitability * self.game.compatible / total

    @property
    def target(self) -> float | None:
        """The exploitability at which solving was to stop, in chips."""
        return self.settings.target

    @property
    def target_reached(self) -> bool:
        """Whether there was no target or it was met."""
        return self.target is None or self.exploitability <= self.target

    @cached_property
    def values(self) -> HoldemValues:
        """The strategy's values at all nodes."""
        average = with_locks(self.game, self.average, self.locks) if self.streets == len(self.game.boards) else self.average
        return HoldemValues(self.game, average, self.scales, threads=self.settings.threads, ends=self.ends)

    @cached_property
    def _browser(self) -> Browser:
        return Browser(self.values, streets=self.streets)

    def at(self, line: str = "") -> View:
        """The node to which a line such as ``x, b50%, c, 7s`` leads; see :mod:`treeplex.runs.holdem.report.line`.

        Raises:
            SpecError: a line that the spot does not have; the message says what is possible at the step that failed.
        """
        return self._browser.view(line)

    def save(self, path: str | os.PathLike[str], *, resumable: bool | None = None, streets: int | str | None = None) -> Path:
        """Write one file; see :func:`treeplex.runs.holdem.files.save_solution`."""
        from treeplex.runs.holdem.files import save_solution

        return save_solution(self, path, resumable=resumable, streets=streets)

    def __repr__(self) -> str:
        pot = self.spot.pot
        share = f" ({100 * self.exploitability / pot:.2g}% of the pot)" if pot else ""
        return (
            f"<solution by {self.algorithm}: {self.iterations:,} iterations in {self.seconds:.3g} s, exploitability "
            f"{self.exploitability:.3g} chips{share}, EV ({self.ev[0]:+.6g}, {self.ev[1]:+.6g}), {self.status}>"
        )
