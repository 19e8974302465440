"""Values where the turn's betting ends in hold'em: an interface, zero, and the rivers solved by the hand engine."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.holdem.form import ACTIONS, COUNT, ENDS, REACH, ROOTS, HoldemForm, Workspace
from treeplex.engine.holdem.passes import EXPECT, answer, descend, improve
from treeplex.engine.tree.regret import AVERAGE, AVERAGE_DISCOUNT
from treeplex.errors import AlgorithmError
from treeplex.forms.holdem.split_turn import SplitTurn
from treeplex.search.beliefs import normalised_range
from treeplex.search.holdem.beliefs import HoldemRules
from treeplex.search.leaf import with_trace
from treeplex.solvers.holdem.solver import HoldemSolver
from treeplex.solvers.rules.variants import Variant

Floats = NDArray[np.float64]
Ranges = tuple[Floats, Floats]
REMEMBERED = 2
"""Solutions kept: a search asks for one player's values, then perhaps for the other's or for the policies."""


@dataclass(frozen=True, eq=False)
class HoldemPlaces:
    """Ends of the turn's betting after which players act again, before the river is seen.

    Attributes:
        rules: the spot and its betting, which say what is in the pot and behind.
        nodes: the street ends, nodes of the betting tree; K of them.
        board: the cards on the table.
    """

    rules: HoldemRules
    nodes: tuple[int, ...]
    board: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.nodes)


class HoldemLeaf(Protocol):
    """What hands are worth where the turn's betting ends: :class:`treeplex.search.leaf.LeafValue` without pairs of hands."""

    def __call__(self, places: HoldemPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Values of every hand of both players at each place.

        Args:
            places: K places.
            believed: for each player float64 [K, H], reach by the policies on which the play below is based.
            reached: the same by the policies whose values are wanted; the same arrays in all but CFR-AVG.
            player: whose values are wanted, the other's may be left out; None for both players'.

        Returns:
            For each player float64 [K, H], its expected chips with each hand against the other's hands as ``reached`` and the
            cards make them likely, the river still to come. Hands that cannot be there may have any finite value.
        """
        ...


class HoldemZeroLeaf:
    """Nothing: what comes after the turn is ignored."""

    def __call__(self, places: HoldemPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        return np.zeros_like(believed[0]), np.zeros_like(believed[1])


class RiverLeaf:
    """All rivers below all open ends, solved anew for each belief; exact as ``iterations`` grow.

    They are compiled once. A solve writes the ranges into the rows with which the river's boards begin.

    Attributes:
        turn: the turn; :attr:`HoldemPlaces.nodes` must be its open ends.
        iterations: of each solve.
        solver: of ``turn.below``: arrays, threads and weights of iterations.
        solved: how often rivers were solved.
    """

    def __init__(
        self, turn: SplitTurn, *, method: str = "dcfr", iterations: int = 200, threads: int = 1, storage: str = "float64"
    ) -> None:
        """Prepare the arrays.

        Args:
            turn: the compiled turn.
            method: a variant of CFR with fixed weights.
            iterations: of each solve.
            threads: that boards are shared out to.
            storage: kind of numbers, ``float32`` or ``float64``; see :data:`treeplex.solvers.holdem.solver.STORAGE`.

        Raises:
            AlgorithmError: another kind of algorithm, or storage int16, which this does not do.
        """
        self.turn, self.iterations, self.solved = turn, iterations, 0
        self.rules = HoldemRules(turn.game.spot, turn.game.betting)
        self.solver = HoldemSolver(turn.below, method, threads=threads, storage=storage, horizon=iterations)
        if not isinstance(self.solver.rule, Variant) or storage == "int16":
            raise AlgorithmError(f"rivers are solved by a variant of CFR in float32 or float64, not by {method} in {storage}")
        self._rows = self.solver.rule.rows(range(1, iterations + 1), iterations)
        self._known: OrderedDict[bytes, NDArray[Any]] = OrderedDict()

    def __call__(self, places: HoldemPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if list(places.nodes) != self.turn.nodes:
            raise AlgorithmError("rivers were compiled for other ends of betting than the search has; give both the same turn")
        average = self.solution(believed)
        self.enter(reached)
        values = np.zeros_like(reached[0]), np.zeros_like(reached[1])
        for own in (0, 1) if player is None else (player,):
            crew, store = self.solver.crew, self.solver.store
            crew.ascend_groups(answer, own, EXPECT, average, store.average_scales, store)
            hands = held(self.turn, own)
            entries = rows_of(crew.form, crew.work, own, gathered=True)
            mass = self.rules.compatible(reached[1 - own])[:, hands]
            values[own][:, hands] = np.divide(entries, mass, out=np.zeros(entries.shape), where=mass > 0)
        return values

    def solution(self, believed: Ranges) -> NDArray[Any]:
        """The average strategy of the rivers for ranges [K, H] with which they begin, [Q], up to a factor; do not write to it.

        It is laid out as :class:`treeplex.engine.holdem.form.Store` has it for ``turn.below``.
        """
        key = believed[0].tobytes() + believed[1].tobytes()
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        store, crew = self.solver.store, self.solver.crew
        for array in {id(array): array for array in (store.regrets, store.guesses, store.average)}.values():
            array[:] = 0
        possible = self.rules.possible(self.turn.game.spot.board)
        first, second = (normalised_range(with_trace(own), can) for own, can in zip(believed, possible, strict=True))
        self.enter((first, second))
        self.walk(0, store.guesses, store.average, keep=self._rows[0, AVERAGE_DISCOUNT], add=self._rows[0, AVERAGE])
        for k, row in enumerate(self._rows):
            ahead = self._rows[min(k + 1, len(self._rows) - 1)]
            last = k + 1 == len(self._rows)
            for player, against in ((0, row), (1, ahead)):
                keep, add = against[AVERAGE_DISCOUNT], 0.0 if player == 1 and last else against[AVERAGE]
                crew.ascend_groups(improve, player, store, row, keep, add)
        self.solved += 1
        if len(self._known) >= REMEMBERED:
            self._known.popitem(last=False)
        self._known[key] = store.average.copy()
        return self._known[key]

    def enter(self, reached: Ranges) -> None:
        """Let both players come to the rivers with these reaches, float64 [K, H]."""
        for player in (0, 1):
            rows_of(self.solver.crew.form, self.solver.crew.work, player)[:] = reached[player][:, held(self.turn, player)]

    def walk(self, player: int, source: NDArray[Any], average: NDArray[Any], *, keep: float, add: float) -> None:
        """Discount ``average`` by ``keep`` and add ``add`` times own reach by ``source``, both [Q], from where one entered."""
        crew, store = self.solver.crew, self.solver.store
        first, last = crew.boards(1)
        target = store._replace(average=average)
        descend(crew.form, 1, first, last, player, source, store.average_scales, target, keep, add, 0.0, crew.work, 0)


def held(turn: SplitTurn, player: int) -> NDArray[np.int16]:
    """The hands of a player in the order of the compiled turn, numbers of the format's hands."""
    hands: NDArray[np.int16] = turn.game.boards[0][0].hands[player]
    return hands


def rows_of(form: HoldemForm, work: Workspace, player: int, *, gathered: bool = False) -> NDArray[Any]:
    """A player's rows at the first board, a view [sequences, hands]: own reach, or what came back at each end of the street."""
    row, streets = form.boards[0], form.streets[0]
    hands, start = int(row[COUNT + player]), int(row[REACH + player])
    count = int(streets[ENDS + 1] - streets[ENDS]) if gathered else int(streets[ROOTS] + streets[ACTIONS + player])
    return (work.gathered if gathered else work.reach)[start : start + count * hands].reshape(count, hands)
