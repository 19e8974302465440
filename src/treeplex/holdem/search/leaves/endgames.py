"""Endgames below the leaves of a hold'em subgame, solved with the hold'em engine for exact values and policies."""

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.regret import AVERAGE, AVERAGE_DISCOUNT
from treeplex.errors import AlgorithmError
from treeplex.holdem.engine.passes import EXPECT, answer, improve
from treeplex.holdem.forms.layout import rows_of
from treeplex.holdem.forms.spot_form import SMALL_INTEGERS
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.search.subgames.beliefs import normalised_range, with_trace
from treeplex.search.subgames.subgame import Places, Ranges
from treeplex.solvers.rules.variants import Variant

if TYPE_CHECKING:
    from treeplex.holdem.search.subgames.subgame import HoldemSubgame

REMEMBERED = 2
"""Number of solutions in the cache: a search may request both players' values and the policies for the same beliefs."""


class HoldemEndgames:
    """All streets below a subgame's leaves, solved separately for each belief; values become exact as ``iterations`` grows.

    They are compiled once. A solve writes the ranges into the first rows of their boards.

    Attributes:
        subgame: the subgame.
        iterations: iterations of each solve.
        solver: solver of ``subgame.below``: arrays, threads and iteration weights.
        solved: number of solves.
    """

    def __init__(
        self,
        subgame: "HoldemSubgame",
        *,
        method: str = "dcfr",
        iterations: int = 200,
        threads: int = 1,
        storage: str = "float64",
    ) -> None:
        """Prepare the arrays.

        Args:
            subgame: the compiled subgame.
            method: a CFR variant with a fixed schedule of weights.
            iterations: iterations of each solve.
            threads: threads that share the boards.
            storage: kind of numbers, ``float32`` or ``float64``; see :data:`treeplex.holdem.forms.spot_form.STORAGE`.

        Raises:
            AlgorithmError: another kind of algorithm, or storage int16 or int8.
        """
        self.subgame, self.iterations, self.solved = subgame, iterations, 0
        self.solver = HoldemSolver(subgame.below, method, threads=threads, storage=storage, horizon=iterations)
        if not isinstance(self.solver.rule, Variant) or storage in SMALL_INTEGERS:
            raise AlgorithmError(
                f"endgame solving needs a CFR variant and float32 or float64 storage, not {method} and {storage}"
            )
        self._rows = self.solver.rule.rows(range(1, iterations + 1), iterations)
        self._known: OrderedDict[bytes, NDArray[Any]] = OrderedDict()
        self._first, self._streets = subgame.streets, len(subgame.below.forests)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Leaf values as defined by :class:`treeplex.search.leaf.LeafValue`.

        Raises:
            AlgorithmError: the places are not those of the subgame.
        """
        mine = self.subgame.leaves
        if places is not mine and places.states != mine.states:
            raise AlgorithmError("the endgames were compiled for the leaves of another subgame; compile them for this one")
        return self.values(believed, reached, player)

    def values(self, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Both players' values if they follow the solution for the beliefs, float64 [K, H] each."""
        average = self.solution(believed)
        self.enter(reached)
        crew, store = self.solver.crew, self.solver.store
        for seat in (0, 1):
            crew.descend(seat, average, store.average_scales, store, first=self._first, streets=self._streets - 1)
        values = tuple(np.zeros_like(reach) for reach in reached)
        for owner in (0, 1) if player is None else (player,):
            crew.ascend(answer, owner, EXPECT, average, store.average_scales, store, first=self._first)
            mass = self.subgame.leaves.opposing(reached, owner)
            for number, (board, rows) in enumerate(self._boards(owner, gathered=True)):
                taken = slice(number * rows.shape[0], (number + 1) * rows.shape[0])
                met = mass[taken][:, board]
                values[owner][taken, board] = np.divide(rows, met, out=np.zeros(rows.shape), where=met > 0)
        return values

    def solution(self, believed: Ranges) -> NDArray[Any]:
        """The unnormalised average strategy of the endgames for starting ranges [K, H], [Q], read-only.

        It has the layout of :class:`treeplex.holdem.engine.form.Store` for ``subgame.below``.
        """
        key = b"".join(reach.tobytes() for reach in believed)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        store, crew = self.solver.store, self.solver.crew
        for array in {id(array): array for array in (store.regrets, store.guesses, store.average)}.values():
            array[:] = 0
        possible = self.subgame.leaves.possible
        self.enter(tuple(normalised_range(with_trace(reach), can) for reach, can in zip(believed, possible, strict=True)))
        self.walk(0, store.guesses, store.average, keep=self._rows[0, AVERAGE_DISCOUNT], add=self._rows[0, AVERAGE])
        for k, row in enumerate(self._rows):
            ahead = self._rows[min(k + 1, len(self._rows) - 1)]
            last = k + 1 == len(self._rows)
            for player, against in ((0, row), (1, ahead)):
                keep, add = against[AVERAGE_DISCOUNT], 0.0 if player == 1 and last else against[AVERAGE]
                self.walk(1 - player, store.guesses, store.average, keep=keep, add=add, streets=self._streets - 1)
                crew.ascend(improve, player, store, row, keep, add, first=self._first)
        self.solved += 1
        if len(self._known) >= REMEMBERED:
            self._known.popitem(last=False)
        self._known[key] = store.average.copy()
        return self._known[key]

    def enter(self, reached: Ranges) -> None:
        """Set both players' reach at the start of the endgames, float64 [K, H]."""
        for player in (0, 1):
            for number, (board, rows) in enumerate(self._boards(player)):
                rows[:] = reached[player][number * rows.shape[0] : (number + 1) * rows.shape[0]][:, board]

    def walk(
        self, player: int, source: NDArray[Any], average: NDArray[Any], *, keep: float, add: float, streets: int | None = None
    ) -> None:
        """Discount ``average`` by ``keep`` and add ``add`` times own reach under ``source``, both [Q].

        It covers streets up to ``streets``; None for all.
        """
        crew, store = self.solver.crew, self.solver.store
        target, upto = store._replace(average=average), self._streets if streets is None else streets
        crew.descend(player, source, store.average_scales, target, keep=keep, add=add, first=self._first, streets=upto)

    def _boards(self, player: int, *, gathered: bool = False) -> list[tuple[NDArray[np.int16], NDArray[Any]]]:
        """For each board with leaves: a player's hands, and rows of its reach or returned values, [leaves, hands]."""
        crew, street = self.solver.crew, self.subgame.streets - 1
        return [
            (board.hands[player], rows_of(crew.form, crew.work, player, number, street=street, gathered=gathered))
            for number, board in enumerate(self.subgame.last_boards)
        ]
