"""Compiled hold'em spots as forms: states over hands, types of storage, and the passes that iterate on them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.spec import nearest
from treeplex.engine.threads import checked_threads
from treeplex.engine.tree.learned import (
    FEATURES,
    INITIAL,
    LATEST,
    LEFT,
    LOWEST,
    MEMORY,
    NORM,
    OUTSIDE,
    SET,
    DiscountNetwork,
    decide,
    outside_theorem,
    weigh,
)
from treeplex.engine.tree.regret import PREDICTED_NEGATIVE, PREDICTED_POSITIVE, PREDICTION, Weights
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.form import NEXT_OPTIMISM, OPTIMISM, STEP, RuleKind
from treeplex.holdem.engine.form import BOARDS, COUNT, HANDS, INFOSETS, STORE, Store
from treeplex.holdem.engine.passes import BEST, EXPECT, BoardPool
from treeplex.holdem.engine.workspace import make_workspace, workspace_sizes
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.spot_size import SpotSize

PACKED, DISK = "packed", "disk:"
"""Storage names of packed 16-bit numbers, and their prefix for a folder (``holdem.forms.split``)."""
SMALL_INTEGERS = ("int16", "int8")
"""Integer storage with one scale per row of up to 128 hands (``holdem.engine.storage``)."""
STORAGE = {"float32": np.float32, "float64": np.float64, "int16": np.int16, "int8": np.int8, PACKED: np.int16}
"""Storage of regrets and averages."""
ON_DEVICE = ("float32", "float64")
"""Storage on a GPU."""
PACKED_BYTES = 1.0
"""Approximate bytes of a packed number; 0.75 to 0.96 were measured."""

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class FixedStrategy:
    """A locked policy at one node of one board.

    Attributes:
        board: index of the board in ``game.form.boards``.
        player: the player to act.
        node: row of the node in the player's list of the street.
        strategy: [actions, hands], probabilities; NaN columns are not locked.
    """

    board: int
    player: int
    node: int
    strategy: Floats


class SpotState(NamedTuple):
    """The arrays of a run on a spot.

    Attributes:
        store: the arrays of the engine.
        memory: float64 [MEMORY], the last features and decisions of a learned rule; else empty.
        network: float64 [P], the rule's network; else empty.
    """

    store: Store
    memory: Floats
    network: Floats


class ValuedAtRoot(ABC):
    """A form that evaluates average strategies by the values of hands at the root.

    Attributes:
        game: the compiled spot.
    """

    game: CompiledSpot

    @abstractmethod
    def root_values(self, state: Any, player: int, mode: int) -> Floats:
        """Values of a player's hands at the root against the average strategy, float64 [hands].

        ``mode`` is ``BEST`` or ``EXPECT``; chips times the opponent's compatible range weight.
        """

    def values(self, state: Any, *, best: bool) -> Floats:
        """The value of each player's average strategy against the other's, in chips, [2]."""
        player_values = np.empty(2)
        for player in (0, 1):
            first, count = self.game.form.boards[0, HANDS + player], self.game.form.boards[0, COUNT + player]
            weights = self.game.form.weights[first : first + count]
            player_values[player] = weights @ self.root_values(state, player, BEST if best else EXPECT) / self.game.compatible
        return player_values

    def exploitability(self, state: Any) -> float:
        """The exploitability of the average strategy, in chips."""
        best = self.values(state, best=True)
        expected = self.values(state, best=False) if self.game.raked else np.zeros(2)
        return float((best - expected).sum() / 2)


class SpotForm:
    """A compiled spot as a :class:`treeplex.forms.form.Form` for update rules with alternating updates.

    Attributes:
        game: the compiled spot.
        storage: see :data:`STORAGE`.
        threads: threads that share the boards.
        locks: locked policies.
        crew: the thread pool and its scratch space.
        unit: scale of exploitability for learned rules, in chips: the starting pot (1 if it is empty).
        folder, moved: see :class:`treeplex.holdem.forms.split.form.SplitForm`; None and zeros.
    """

    folder: Path | None = None
    moved = (0, 0.0)

    def __init__(
        self, game: CompiledSpot, *, storage: str = "float32", threads: int | None = None, locks: Sequence[FixedStrategy] = ()
    ) -> None:
        """Check the options and allocate scratch space.

        Args:
            game: the compiled spot.
            storage: see :data:`STORAGE`; sums over chance are always float64.
            threads: None for one per available core.
            locks: locked policies; ``game`` must then be compiled without isomorphism.

        Raises:
            SpecError: an unknown storage, or threads below 1.
            AlgorithmError: locks in a spot compiled with isomorphism, or in 16-bit or 8-bit storage.
        """
        self.game, self.threads = game, checked_threads(threads)
        if locks and game.isomorphism and len(game.boards[0][0].symmetries) > 1:
            raise AlgorithmError("locks need a spot compiled with isomorphism=False")
        if locks and storage in SMALL_INTEGERS:
            raise AlgorithmError(f"storage {storage} does not support locks; use float32")
        self.storage, self.locks = checked_storage(storage), tuple(locks)
        self.unit = game.spot.pot or 1.0
        number = np.float64 if storage == "float64" else np.float32
        work = make_workspace(game.form, self.threads, number, raked=game.raked, packed=storage in SMALL_INTEGERS)
        self.crew = BoardPool(game.form, work, raked=game.raked, if_useful=True)
        self._activations = np.empty(0)

    @property
    def identity(self) -> str:
        """A hash that identifies the spot."""
        return self.game.spot.identity

    @property
    def players(self) -> int:
        """The number of players; always 2."""
        return 2

    def allocate(
        self, kind: RuleKind, needs: frozenset[str], averages: int = 1, network: DiscountNetwork | None = None
    ) -> SpotState:
        """The initial state at the uniform policy, with one average.

        Raises:
            AlgorithmError: the rule needs features that are not available on spots, or does not support this storage.
            SpecError: a lock's shape differs from its node's.
        """
        if "seen" in needs:
            raise AlgorithmError("observes how fast policies change, which hold'em spots do not measure; use another algorithm")
        if self.storage in SMALL_INTEGERS and (kind not in (RuleKind.REGRETS, RuleKind.LEARNED) or "previous" in needs):
            raise AlgorithmError(f"does not support storage {self.storage}; use float32")
        store = Store(**store_of(self.game, needs, STORAGE[self.storage], self.locks))
        for k, position in enumerate(store.lock_places):
            store.regrets[position] = store.guesses[position] = store.lock_values[k]
        if network is not None:
            self._activations = np.empty(int(network.sizes.sum()))
        if kind is RuleKind.REPLIES:  # averages start at the uniform policy
            streets = len(self.game.form.streets)
            for player in (0, 1):
                self.crew.descend(player, store.regrets, store.regret_scales, store, keep=0.0, add=1.0, streets=streets)
        return SpotState(
            store,
            memory=np.zeros(0 if network is None else MEMORY),
            network=np.empty(0) if network is None else network.parameters.copy(),
        )

    def iterate(self, kind: RuleKind, rows: Floats, state: SpotState, *, alternating: bool = True) -> None:
        """Run one iteration per row of weights.

        Raises:
            SpecError: a row predicts, but the state has no guesses.
        """
        store = state.store
        if kind is RuleKind.REPLIES:
            self.crew.iterate_replies(rows[:, STEP], rows[:, OPTIMISM], rows[:, NEXT_OPTIMISM], store)
            return
        plain = (1.0, 1.0, 0.0)
        if store.guesses is store.regrets and (rows[:, [PREDICTED_POSITIVE, PREDICTED_NEGATIVE, PREDICTION]] != plain).any():
            raise SpecError(
                "the update rule starts to predict in the middle of a run; make it predict from the first iteration"
            )
        self.crew.iterate(rows, store)

    def iterate_learned(
        self, network: DiscountNetwork, state: SpotState, done: int, iterations: int, horizon: int, *, alternating: bool = True
    ) -> None:
        """Run iterations with weights set by a network, which observes the run between iterations."""
        network, last = network._replace(parameters=state.network), done + iterations
        if not iterations:
            self.crew.iterate(np.empty((0, len(Weights._fields))), state.store)
        while done < last:
            rows = self._decided(network, state, done, last - done, horizon)
            self.crew.iterate(rows, state.store)
            done += len(rows)

    def _decided(self, network: DiscountNetwork, state: SpotState, done: int, iterations: int, horizon: int) -> Floats:
        """Rows of :class:`treeplex.engine.tree.regret.Weights` for up to ``iterations`` iterations, float64 [K, 9]."""
        memory, exponents = state.memory, state.memory[SET : SET + 4]
        if memory[LEFT] <= 0:
            self._observe(network, state, done, horizon)
            memory[LEFT] = decide(network, self._activations, np.empty(0), done + 1, horizon, exponents)
        rows = np.empty((min(iterations, int(memory[LEFT])), len(Weights._fields)))
        for k, row in enumerate(rows):
            memory[OUTSIDE] += outside_theorem(exponents, done + k + 1, horizon)
            weigh(exponents, network.floor, done + k + 1, row)
        memory[LEFT] -= len(rows)
        return rows

    def _observe(self, network: DiscountNetwork, state: SpotState, done: int, horizon: int) -> None:
        """Write the network's features, as :func:`treeplex.engine.tree.learned.observe` does."""
        memory = state.memory
        for index, code in enumerate(network.features):
            feature = FEATURES[code]
            if feature == "iteration":
                seen = done / horizon
            elif feature == "exploitability":
                exploitability = max(self.exploitability(state) / self.unit, LOWEST)
                if done == 0:
                    memory[INITIAL] = exploitability
                memory[LATEST] = exploitability
                scale = np.log10(memory[INITIAL]) + 12.0
                seen = (np.log10(exploitability) + 12.0) / scale if scale > 0.0 else 0.0
            else:
                norm = max(float(np.linalg.norm(np.maximum(state.store.regrets, 0).astype(np.float64))), LOWEST)
                if memory[NORM] <= LOWEST:
                    memory[NORM] = norm
                seen = np.log10(norm / memory[NORM]) / np.log10(max(horizon, 2))
            self._activations[index] = seen

    def arrays(self, state: SpotState) -> dict[str, Array]:
        """The arrays that determine the next iteration, by name, without copying."""
        store = state.store
        arrays: dict[str, Array] = {"regrets": store.regrets, "average": store.average}
        if store.guesses is not store.regrets:
            arrays |= {"guesses": store.guesses} | ({"guess_scales": store.guess_scales} if store.guess_scales.size else {})
        more = {name: getattr(store, name) for name in ("previous", "changes", "target", "regret_scales", "average_scales")}
        more |= {"memory": state.memory, "network": state.network}
        return arrays | {name: array for name, array in more.items() if array is not None and array.size}

    def restore(self, state: SpotState, iteration: int, arrays: Mapping[str, Array]) -> None:
        """Restore the state from saved :meth:`arrays`."""
        for name, array in self.arrays(state).items():
            array[...] = arrays[name]

    def average(self, state: SpotState) -> tuple[Array, Array]:
        """The unnormalised average strategy, [Q], and its scales if it is stored in 16-bit numbers."""
        return state.store.average, state.store.average_scales

    def close(self) -> None:
        """Do nothing, because there is nothing to release."""

    def policy(self, state: SpotState) -> Array:
        """The average strategy, weighted by own reach, as stored in :class:`treeplex.holdem.engine.form.Store`; not a copy."""
        return state.store.average

    def values(self, state: SpotState, *, best: bool) -> Floats:
        """The value of each player's average strategy against the other's, in chips, [2], in the run's own precision."""
        form, store, player_values = self.game.form, state.store, np.empty(2)
        for player in (0, 1):
            first, count = form.boards[0, HANDS + player], form.boards[0, COUNT + player]
            weights = form.weights[first : first + count]
            self.crew.answer(player, BEST if best else EXPECT, store.average, store.average_scales, store)
            player_values[player] = (
                float(weights @ np.asarray(self.crew.root_values(player), np.float64)) / self.game.compatible
            )
        return player_values

    def exploitability(self, state: SpotState) -> float:
        """The exploitability of the average strategy in chips, from :meth:`values`."""
        best = self.values(state, best=True)
        if not self.game.raked:
            return float(best.sum() / 2)
        expected = self.values(state, best=False)
        return float(((best[0] - expected[0]) + best[1] - expected[1]) / 2)


def checked_storage(storage: str) -> str:
    """Check a type of storage and return it.

    Raises:
        SpecError: the storage is unknown.
    """
    if storage == DISK:
        raise SpecError("storage disk: needs a folder; write disk:FOLDER")
    if storage not in STORAGE and not storage.startswith(DISK):
        raise SpecError(f"storage is {storage!r}{nearest(storage, [*STORAGE, DISK])}")
    return storage


def numbers_needed(size: SpotSize, needs: frozenset[str]) -> dict[str, int]:
    """The size of each stored array; fictitious play stores its best responses in ``regrets``."""
    sizes = dict.fromkeys(("regrets", "average", "guesses", "previous", "target"), size.stored) | {"changes": 2 * size.infosets}
    names = needs | {"regrets"}
    return {name: number for name, number in sizes.items() if name in names}


def store_of(game: CompiledSpot, needs: frozenset[str], kind: Any, locks: Sequence[FixedStrategy] = ()) -> dict[str, Any]:
    """The arrays of a :class:`Store`, all zero except for locks."""
    sizes = numbers_needed(game.size, needs)
    arrays: dict[str, Any] = {name: np.zeros(sizes.get(name, 0), kind) for name in ("regrets", "average")}
    arrays |= {name: np.zeros(sizes[name], kind) if name in sizes else None for name in ("previous", "changes", "target")}
    if arrays["changes"] is not None:
        arrays["changes"] = arrays["changes"].reshape(2, -1)
    arrays["guesses"] = np.zeros(sizes["guesses"], kind) if "guesses" in sizes else arrays["regrets"]
    for name, scales in (("regrets", "regret_scales"), ("guesses", "guess_scales"), ("average", "average_scales")):
        arrays[scales] = np.zeros(game.scales if kind in (np.int16, np.int8) else 0, np.float32)
        if name == "guesses" and arrays["guesses"] is arrays["regrets"]:
            arrays[scales] = arrays["regret_scales"]
    return arrays | locked_arrays(game, kind, locks)


def store_of_policy(game: CompiledSpot, average: Array, scales: Array, locks: Sequence[FixedStrategy] = ()) -> Store:
    """A store that holds only a policy, for use in evaluation passes.

    Args:
        game: the compiled spot.
        average: [Q], the policy.
        scales: float32, for short numbers; else empty.
        locks: locked policies, which best responses keep; they are stored as regrets.
    """
    fixed = locked_arrays(game, average.dtype, locks)
    regrets = np.zeros(average.size if locks else 0, average.dtype)
    regrets[fixed["lock_places"]] = fixed["lock_values"]
    return Store(
        regrets=regrets,
        guesses=regrets,
        average=average,
        regret_scales=scales,
        guess_scales=scales,
        average_scales=scales,
        previous=None,
        changes=None,
        target=None,
        **fixed,
    )


def locked_arrays(game: CompiledSpot, kind: Any, locks: Sequence[FixedStrategy]) -> dict[str, Array]:
    """The arrays of a :class:`Store` that hold the locks."""
    locked = np.zeros(game.infosets if locks else 0, np.uint8)
    places, values = [np.empty(0, np.int64)], [np.empty(0)]
    for lock in locks:
        board = game.form.boards[lock.board]
        street = int(np.searchsorted(game.form.streets[:, BOARDS], lock.board, side="right")) - 1
        _, first, actions = game.forests[street].nodes[lock.player][lock.node]
        hands = int(board[COUNT + lock.player])
        if lock.strategy.shape != (actions, hands):
            raise SpecError(f"a lock has shape {lock.strategy.shape}, but its node needs {(actions, hands)}")
        fixed = np.flatnonzero(~np.isnan(lock.strategy).any(axis=0))
        start = int(board[INFOSETS + lock.player]) + lock.node * hands
        locked[start + fixed] = 1
        for action in range(actions):
            places.append(int(board[STORE + lock.player]) + (first + action) * hands + fixed)
            values.append(lock.strategy[action, fixed])
    return {"locked": locked, "lock_places": np.concatenate(places), "lock_values": np.concatenate(values).astype(kind)}


def bytes_needed(size: SpotSize, needs: frozenset[str], *, storage: str, threads: int) -> int:
    """Bytes needed for a run on a spot of this size: stored arrays, scratch space and the compiled spot."""
    on_disk, numbers = storage.startswith(DISK), numbers_needed(size, needs)
    packed = on_disk or storage == PACKED or storage in SMALL_INTEGERS
    entry_bytes = 0.0 if on_disk else PACKED_BYTES if storage == PACKED else np.dtype(STORAGE[storage]).itemsize
    stored = int(sum(numbers.values()) * entry_bytes) + (4 * size.scales * len(numbers) if storage in SMALL_INTEGERS else 0)
    sizes = {name: prod(shape) for name, shape in workspace_sizes(size.extent, threads, packed=packed).items()}
    scratch = sizes.pop("gathered") * 8 + sum(sizes.values()) * (8 if storage == "float64" else 4)
    return stored + scratch + size.form_bytes
