"""Solve a compiled spot: the same variants and plays as everywhere, on the hand engine."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.holdem.form import BOARDS, COUNT, INFOSETS, STORE, Store
from treeplex.engine.holdem.passes import BoardPool
from treeplex.engine.holdem.workspace import make_workspace, workspace_sizes
from treeplex.engine.tree.regret import ADAPTIVE, Weights
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.forms.holdem.compile_spot import CompiledSpot
from treeplex.forms.holdem.spot_size import SpotSize
from treeplex.solvers.holdem.learned import learned_method, learned_schedule_of
from treeplex.solvers.registry import POKER, algorithm_spec, algorithms, checked_parameters, resolved
from treeplex.solvers.rules.discount_policy import DiscountPolicy
from treeplex.solvers.rules.fictitious import FICTITIOUS_RULES, FictitiousRule
from treeplex.solvers.rules.learned import LEARNED
from treeplex.solvers.rules.value_tested import NAME as VALUE_TESTED
from treeplex.solvers.rules.value_tested import ValueTesting
from treeplex.solvers.rules.variants import VARIANTS, Variant
from treeplex.solvers.synonyms import unknown_algorithm
from treeplex.spec import Spec, nearest

STORAGE = {"float32": np.float32, "float64": np.float64, "int16": np.int16}
"""Kinds of numbers in which regrets and averages are kept; int16 has a scale for each row of up to 128 hands."""

LOOK_AHEAD = 32
"""Iterations that are looked at to see whether a variant predicts."""

OFFERED = (*VARIANTS, *LEARNED, VALUE_TESTED, *FICTITIOUS_RULES)
"""The names of all algorithms that run on the hand engine."""

Array = NDArray[Any]
Method = Variant | FictitiousRule | ValueTesting


@dataclass(frozen=True, eq=False)
class Lock:
    """A fixed policy at one node of one board.

    Attributes:
        board: number of the board in ``game.form.boards``.
        player: who acts there.
        node: row of the node in the player's own list of its street.
        strategy: [actions, hands], probabilities; NaN columns are free.
    """

    board: int
    player: int
    node: int
    strategy: NDArray[np.float64]


class HoldemSolver:
    """A run of one algorithm on a compiled spot; updates alternate.

    Attributes:
        game: the compiled spot.
        algorithm: canonical text of the algorithm and its parameters.
        iteration: iterations done.
        threads: threads that boards are shared out to.
        storage: ``float32`` or ``float64``.
    """

    def __init__(
        self,
        game: CompiledSpot,
        algorithm: str | Variant | FictitiousRule | DiscountPolicy = "dcfr",
        *,
        threads: int | None = None,
        storage: str = "float32",
        horizon: int = 1000,
        locks: Sequence[Lock] = (),
    ) -> None:
        """Start from the uniform policy.

        Args:
            game: the compiled spot.
            algorithm: a spec such as ``dcfr(gamma=3)``, or your own :class:`Variant`, :class:`FictitiousRule` or
                :class:`DiscountPolicy`.
            threads: None for one per core that this process may use.
            storage: see :data:`STORAGE`; sums over chance are float64 in either case.
            horizon: iterations planned, for schedules that depend on it.
            locks: policies that stay as they are; ``game`` must be compiled without isomorphism then.

        Raises:
            SpecError: an unknown algorithm, parameter or storage, or threads below 1.
            AlgorithmError: an algorithm that does not run on the hand engine.
        """
        self.game, self.horizon, self.iteration = game, horizon, 0
        self.threads = checked_threads(threads)
        self.storage = checked_storage(storage)
        self.method, self.parameters, self.algorithm = method_of(algorithm)
        spec = resolved(algorithm_spec(algorithm), POKER) if isinstance(algorithm, str) else None
        self.steering = learned_schedule_of(algorithm, spec, planned=horizon, unit=game.spot.pot or 1.0)
        self.locks = tuple(locks)
        if locks and game.isomorphism and len(game.boards[0][0].symmetries) > 1:
            raise AlgorithmError("locks need a spot compiled with isomorphism=False")
        kind = STORAGE[storage]
        check_packing(self.method, storage, locks)
        self.store = Store(**store_of(game, self.method, kind, locks))
        packed, number = storage == "int16", np.float64 if storage == "float64" else np.float32
        self.crew = BoardPool(
            game.form, make_workspace(game.form, self.threads, number, raked=game.raked, packed=packed), raked=game.raked
        )
        for k, place in enumerate(self.store.lock_places):
            self.store.regrets[place] = self.store.guesses[place] = self.store.lock_values[k]
        if isinstance(self.method, FictitiousRule):
            self._start_play()

    @property
    def longest(self) -> int | None:
        """The most iterations that it can do in all; None for any number."""
        return self.steering.horizon if self.steering else None

    def run(self, iterations: int) -> None:
        """Do so many more iterations; none, and only the kernels are made ready (compiled, on their first use).

        Raises:
            SpecError: the variant's schedule fails or gives a weight that is not finite.
        """
        times = range(self.iteration + 1, self.iteration + iterations + 1)
        if self.steering:
            self._run_steered(iterations)
            return
        if isinstance(self.method, FictitiousRule):
            steps = np.array([self.method.step(t) for t in times], np.float64)
            optimism = np.array([self.method.optimism(t) for t in times], np.float64)
            self.crew.iterate_replies(steps, optimism, float(self.method.optimism(times.stop)), self.store)
        else:
            self.crew.iterate(self.weights(times), self.store)
        self.iteration += iterations

    def _run_steered(self, iterations: int) -> None:
        assert self.steering is not None
        last = self.iteration + iterations
        if not iterations:
            self.crew.iterate(np.empty((0, len(Weights._fields))), self.store)
        while self.iteration < last:
            rows = self.steering.weights(self, last - self.iteration)
            self.crew.iterate(rows, self.store)
            self.iteration += len(rows)

    def weights(self, times: Sequence[int]) -> NDArray[np.float64]:
        """The rows of :class:`treeplex.engine.tree.regret.Weights` of these iterations, float64 [K, 9]; of vt-cfr+ [K, 12]."""
        if isinstance(self.method, ValueTesting):
            return self.method.hand_rows(times)
        assert isinstance(self.method, Variant)
        rows = np.empty((len(times), len(Weights._fields)))
        for k, t in enumerate(times):
            try:
                rows[k] = self.method.schedule(t, self.horizon, **self.parameters)
            except (ArithmeticError, ValueError, TypeError) as error:
                raise SpecError(f"{self.algorithm} has no weights at iteration {t} ({error}); change its parameters") from error
        if not np.isfinite(rows).all():
            raise SpecError(f"{self.algorithm} has weights that are not finite; change its parameters")
        if self.store.guesses is self.store.regrets and not (rows[:, 4:7] == (1.0, 1.0, 0.0)).all():
            raise SpecError(f"{self.algorithm} begins to predict after iteration {LOOK_AHEAD}; let it predict from the start")
        return rows

    def arrays(self) -> dict[str, Array]:
        """The arrays that the next iteration depends on, by name; not copies."""
        arrays = {"regrets": self.store.regrets, "average": self.store.average}
        if self.store.guesses is not self.store.regrets:
            arrays["guesses"] = self.store.guesses
            if self.store.guess_scales.size:
                arrays["guess_scales"] = self.store.guess_scales
        for name in ("previous", "changes", "target", "regret_scales", "average_scales"):
            if getattr(self.store, name).size:
                arrays[name] = getattr(self.store, name)
        if self.steering:
            arrays |= {"steering": self.steering.memory, "network": self.steering.scheme.parameters}
        return arrays

    def restore(self, iteration: int, arrays: Mapping[str, Array]) -> None:
        """Continue from saved arrays.

        Raises:
            FileError: an array is missing or has another shape or kind; nothing has changed then.
        """
        mine = self.arrays()
        for name, array in mine.items():
            found = arrays.get(name)
            if found is None or found.shape != array.shape or found.dtype != array.dtype:
                what = "none" if found is None else f"{found.dtype} {found.shape}"
                raise FileError(f"solver state does not fit: {name!r} should be {array.dtype} {array.shape}, found {what}")
        for name, array in mine.items():
            array[...] = arrays[name]
        self.iteration = iteration

    def _start_play(self) -> None:
        """Fictitious play begins with the average at the uniform policy."""
        for player in (0, 1):
            self.crew.descend(
                player,
                self.store.regrets,
                self.store.regret_scales,
                self.store,
                keep=0.0,
                add=1.0,
                streets=len(self.game.form.streets),
            )


def available_cores() -> int:
    """The cores that this process may use: those of its affinity mask where the system has one, else the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    """A number of threads for which there are cores; None for one per core that this process may use.

    Raises:
        SpecError: fewer than one, or more than :func:`available_cores`.
    """
    most = available_cores()
    if threads is None:
        return most
    if not 1 <= threads <= most:
        raise SpecError(f"threads is {threads}; this process may use {most} core{'s' if most > 1 else ''}: give 1 to {most}")
    return threads


def checked_storage(storage: str) -> str:
    """A kind of storage that there is.

    Raises:
        SpecError: there is none of that name.
    """
    if storage not in STORAGE:
        raise SpecError(f"storage is {storage!r}{nearest(storage, STORAGE)}")
    return storage


def method_of(algorithm: str | Variant | FictitiousRule | DiscountPolicy) -> tuple[Method, dict[str, float], str]:
    """The variant (of a learned scheme, the one it steers), play or value test, its parameters and its canonical text."""
    if isinstance(algorithm, DiscountPolicy):
        variant = VARIANTS[algorithm.base]
        return variant, dict(variant.parameters), f"learned {algorithm.base}"
    if isinstance(algorithm, Variant):
        return algorithm, dict(algorithm.parameters), algorithm.name
    if isinstance(algorithm, FictitiousRule):
        return algorithm, {}, algorithm.name
    spec = resolved(algorithm_spec(algorithm), POKER)
    known = algorithms()
    if spec.name not in known:
        raise unknown_algorithm(spec.name, OFFERED)
    given = checked_parameters(known[spec.name], spec)
    if spec.name in VARIANTS:
        variant = VARIANTS[spec.name]
        return variant, {**variant.parameters, **given}, str(Spec(spec.name, dict(given)))
    if spec.name in FICTITIOUS_RULES:
        return FICTITIOUS_RULES[spec.name], {}, spec.name
    if spec.name in LEARNED:
        return learned_method(spec)
    if spec.name == VALUE_TESTED:
        return ValueTesting(**given), given, str(Spec(spec.name, dict(given)))
    raise AlgorithmError(f"{spec.name} does not run on poker spots; take one of {', '.join(OFFERED)}")


def check_packing(method: Method, storage: str, locks: Sequence[Lock]) -> None:
    """Refuse what 16-bit storage cannot do."""
    if storage == "int16" and (not isinstance(method, Variant) or method.prediction_mode == ADAPTIVE or locks):
        what = "locks" if locks else method.name
        raise AlgorithmError(f"storage int16 does not work with {what}; take float32")


def needs_of(size: SpotSize, method: Method) -> dict[str, int]:
    """How many numbers of each stored array an algorithm needs."""
    numbers = size.stored
    if isinstance(method, FictitiousRule):
        optimistic = any(method.optimism(t) for t in (1, 2, 10))
        return {"regrets": numbers, "average": numbers, "target": numbers if optimistic else 0}
    needs = {"regrets": numbers, "average": numbers}
    if isinstance(method, Variant) and predicts(method):
        needs["guesses"] = numbers
    if isinstance(method, ValueTesting) or method.prediction_mode == ADAPTIVE:
        needs |= {"guesses": numbers, "previous": numbers, "changes": 2 * size.infosets}
    return needs


def predicts(variant: Variant) -> bool:
    """Whether the next policy needs more than the regrets."""
    rows = [variant.schedule(t, 1000, **variant.parameters) for t in range(1, LOOK_AHEAD + 1)]
    return any(row.predicted_positive != 1.0 or row.predicted_negative != 1.0 or row.prediction != 0.0 for row in rows)


def store_of(game: CompiledSpot, method: Method, kind: Any, locks: Sequence[Lock]) -> dict[str, Array]:
    """The arrays of :class:`Store`, all zero but for locks."""
    needs = needs_of(game.size, method)
    arrays: dict[str, Array] = {
        name: np.zeros(needs.get(name, 0), kind) for name in ("regrets", "average", "previous", "changes", "target")
    }
    arrays["changes"] = arrays["changes"].reshape(2, -1)
    arrays["guesses"] = np.zeros(needs["guesses"], kind) if "guesses" in needs else arrays["regrets"]
    for name, scales in (("regrets", "regret_scales"), ("guesses", "guess_scales"), ("average", "average_scales")):
        arrays[scales] = np.zeros(game.scales if kind is np.int16 else 0, np.float32)
        if name == "guesses" and arrays["guesses"] is arrays["regrets"]:
            arrays[scales] = arrays["regret_scales"]
    arrays["locked"] = np.zeros(game.infosets if locks else 0, np.uint8)
    places, values = [np.empty(0, np.int64)], [np.empty(0)]
    for lock in locks:
        board = game.form.boards[lock.board]
        street = int(np.searchsorted(game.form.streets[:, BOARDS], lock.board, side="right")) - 1
        _, first, actions = game.forests[street].nodes[lock.player][lock.node]
        hands = int(board[COUNT + lock.player])
        if lock.strategy.shape != (actions, hands):
            raise SpecError(f"a lock has shape {lock.strategy.shape}, its node needs {(actions, hands)}")
        fixed = np.flatnonzero(~np.isnan(lock.strategy).any(axis=0))
        start = int(board[INFOSETS + lock.player]) + lock.node * hands
        arrays["locked"][start + fixed] = 1
        for action in range(actions):
            places.append(int(board[STORE + lock.player]) + (first + action) * hands + fixed)
            values.append(lock.strategy[action, fixed])
    arrays["lock_places"], arrays["lock_values"] = np.concatenate(places), np.concatenate(values).astype(kind)
    return arrays


def predicted_memory(
    size: SpotSize,
    algorithm: str | Variant | FictitiousRule | DiscountPolicy = "dcfr",
    *,
    storage: str = "float32",
    threads: int = 1,
) -> int:
    """Bytes that a solver of a spot of this size will allocate: stored arrays, scratch space and the compiled spot."""
    packed = storage == "int16"
    needs = needs_of(size, method_of(algorithm)[0])
    stored = sum(needs.values()) * np.dtype(STORAGE[storage]).itemsize + (4 * size.scales * len(needs) if packed else 0)
    sizes = {name: prod(shape) for name, shape in workspace_sizes(size.extent, threads, packed=packed).items()}
    scratch = sizes.pop("gathered") * 8 + sum(sizes.values()) * (8 if storage == "float64" else 4)
    return stored + scratch + size.form_bytes
