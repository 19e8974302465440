"""Compiled hold'em spots as a form on tensors, whose state is that of the compiled kernels."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.threads import checked_threads
from treeplex.engine.tree.learned import DiscountNetwork
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.form import RuleKind
from treeplex.holdem.engine.form import BOARDS, STORE
from treeplex.holdem.engine.passes import BEST
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.spot_form import ON_DEVICE, FixedStrategy, ValuedAtRoot, locked_arrays
from treeplex.learn.common.device import torch_device, torch_module
from treeplex.learn.torch.form import on_host
from treeplex.learn.torch.kernels import Placement
from treeplex.learn.torch.spots.memory import arrays_for, memory_errors, plan_of, shape_of
from treeplex.learn.torch.spots.passes import Numbers
from treeplex.learn.torch.spots.run import TensorRun, supported
from treeplex.learn.torch.spots.tables import places_of, tables_of

Array = NDArray[Any]


class TensorSpotForm(ValuedAtRoot):
    """A compiled spot on a PyTorch device, a :class:`treeplex.forms.form.Form` for rules of regrets with alternating updates.

    The arrays that it returns are those of :class:`treeplex.holdem.forms.spot_form.SpotForm`, so a run can start on one and
    resume on the other.

    Attributes:
        game: the compiled spot.
        storage: ``float32`` or ``float64``.
        locks: locked policies.
        triton: see :class:`TensorRun`.
        threads: threads for evaluating solutions later; unused here.
        plan: the predicted memory.
    """

    folder = None
    moved = (0, 0.0)
    players = 2

    def __init__(
        self,
        game: CompiledSpot,
        device: Any,
        *,
        storage: str = "float32",
        locks: Sequence[FixedStrategy] = (),
        needs: frozenset[str] = frozenset(),
        threads: int | None = None,
        room: int | None = None,
        most: float | None = None,
        triton: bool | None = None,
    ) -> None:
        """Copy the spot to the device.

        Args:
            game: the compiled spot.
            device: a PyTorch device.
            storage: ``float32`` or ``float64``.
            locks: locked policies; ``game`` must then be compiled without isomorphism.
            needs: what the update rule needs, see :meth:`allocate`.
            threads: see the attribute; None for one per available core.
            room: approximate bytes for temporary tensors; None for the default.
            most: available bytes; None for the device's free memory.
            triton: see :class:`TensorRun`.

        Raises:
            SpecError: another storage, or the spot does not fit into the device's memory.
            AlgorithmError: locks in a spot compiled with isomorphism.
        """
        if storage not in ON_DEVICE:
            raise SpecError(f"storage {storage} is not supported on a GPU; use {' or '.join(ON_DEVICE)}, or device cpu")
        if locks and game.isomorphism and len(game.boards[0][0].symmetries) > 1:
            raise AlgorithmError("locks need a spot compiled with isomorphism=False")
        torch = torch_module()
        self.game, self.storage, self.locks, self.threads = game, storage, tuple(locks), checked_threads(threads)
        self.triton = triton
        self.at = Placement(device, torch.float64 if storage == "float64" else torch.float32)
        arrays, shape = arrays_for(needs, locked=bool(locks)), shape_of(game.spot, [len(boards) for boards in game.boards])
        with memory_errors(self.at):
            self.plan = plan_of(shape, self.at, arrays=arrays, room=room, most=most)
            self.tables = tables_of(game, self.at, self.plan)

    @property
    def identity(self) -> str:
        """A hash that identifies the spot."""
        return self.game.spot.identity

    def allocate(
        self, kind: RuleKind, needs: frozenset[str], averages: int = 1, network: DiscountNetwork | None = None
    ) -> TensorRun:
        """The initial state at the uniform policy, with one average.

        Raises:
            AlgorithmError: the rule is not one of regret matching, or needs more than regrets.
        """
        if not supported(kind, needs, network):
            raise AlgorithmError("does not run on a GPU; use device cpu, or a variant of CFR such as dcfr")
        with memory_errors(self.at):
            run = TensorRun(self.tables, self.at, predicts="guesses" in needs, triton=self.triton)
            if self.locks:
                locked, fixed, policy = locked_arrays(self.game, np.float64, self.locks), *np.zeros((2, self.game.stored))
                fixed[locked["lock_places"]], policy[locked["lock_places"]] = 1.0, locked["lock_values"]
                self._fill(run, {"regrets": policy, "guesses": policy, "locked": fixed})
        return run

    def iterate(self, kind: RuleKind, rows: Floats, state: TensorRun, *, alternating: bool = True) -> None:
        """Run one iteration per row of weights.

        Raises:
            SpecError: a row predicts, but the state has no guesses.
        """
        with memory_errors(self.at):
            state.iterate(rows)

    def iterate_learned(
        self, network: DiscountNetwork, state: TensorRun, done: int, iterations: int, horizon: int, *, alternating: bool = True
    ) -> None:
        """Raise an error, since learned rules observe the run.

        Raises:
            AlgorithmError: always.
        """
        raise AlgorithmError("a learned rule does not run on a GPU; use device cpu")

    def arrays(self, state: TensorRun) -> dict[str, Array]:
        """The arrays that determine the next iteration, copied to the host; see :meth:`SpotForm.arrays`."""
        return {name: self._read(state, name) for name in names_of(state)}

    def restore(self, state: TensorRun, iteration: int, arrays: Mapping[str, Array]) -> None:
        """Restore the state from saved :meth:`arrays`."""
        self._fill(state, {name: arrays[name] for name in names_of(state)})

    def average(self, state: TensorRun) -> tuple[Array, Array]:
        """The unnormalised average strategy, [Q], on the host, and no scales."""
        return self._read(state, "average"), np.zeros(0, np.float32)

    def policy(self, state: TensorRun) -> Array:
        """The average strategy, weighted by own reach, [Q], on the host."""
        return self._read(state, "average")

    def close(self) -> None:
        """Do nothing, because there is nothing to release."""

    def root_values(self, state: TensorRun, player: int, mode: int) -> Floats:
        """Values of a player's hands at the root against the average strategy, float64 [hands]; ``mode`` is ``BEST`` or
        ``EXPECT``; chips times the opponent's compatible range weight."""
        with memory_errors(self.at):
            return on_host(state.values(player, best=mode == BEST)[0, 0])

    def _parts(self, run: TensorRun) -> "Iterator[tuple[Numbers, Ints, list[tuple[slice, Ints]]]]":
        """Each player's numbers on each chunk, with the actions in the order of their rows, and for each board the slice of a
        stored array and the positions of its hands at the root."""
        game = self.game
        for index, street in enumerate(self.tables.streets):
            first = int(game.form.streets[index, BOARDS])
            for chunk, pair in zip(street.chunks, run.numbers[index], strict=True):
                for player in (0, 1):
                    parts, side = [], street.sides[player]
                    for number in range(chunk.boards.start, chunk.boards.stop):
                        start = int(game.form.boards[first + number, STORE + player])
                        places = places_of(game, game.boards[index][number], player)
                        parts.append((slice(start, start + side.actions * len(places)), places))
                    yield pair[player], side.order, parts

    def _read(self, run: TensorRun, name: str) -> Array:
        """Copy numbers to an array in the form's layout, [Q]."""
        stored = np.empty(self.game.stored, self.storage)
        for chunk, order, parts in self._parts(run):
            rows = getattr(chunk, name).cpu().numpy()[np.argsort(order)]
            for number, (part, places) in enumerate(parts):
                stored[part] = rows[:, number][:, places].ravel()
        return stored

    def _fill(self, run: TensorRun, arrays: Mapping[str, Array]) -> None:
        """Copy arrays in the form's layout to the numbers of these names."""
        for chunk, order, parts in self._parts(run):
            for name, stored in arrays.items():
                rows = np.zeros(chunk.regrets.shape)
                for number, (part, places) in enumerate(parts):
                    rows[:, number, places] = stored[part].reshape(len(rows), len(places))
                tensor = self.at.numbers(rows[order])
                if name != "locked":
                    getattr(chunk, name).copy_(tensor)
                elif tensor.any():
                    chunk.locked = tensor


def names_of(run: TensorRun) -> list[str]:
    """The names of a run's arrays."""
    return ["regrets", "average", *(["guesses"] if run.predicts else [])]


def spot_form_on(game: CompiledSpot, device: str, **options: Any) -> TensorSpotForm | None:
    """The form of a spot on one of :data:`treeplex.learn.common.device.DEVICES`; None for the CPU's compiled kernels.

    ``options`` are those of :class:`TensorSpotForm`.

    Raises:
        SpecError: the device is unknown, there is no GPU, or PyTorch is missing; or as in :class:`TensorSpotForm`.
        AlgorithmError: as in :class:`TensorSpotForm`.
    """
    target = torch_device(device)
    return None if target is None else TensorSpotForm(game, target, **options)
