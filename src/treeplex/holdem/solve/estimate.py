"""Estimates of the time and memory for solving a spot, made before anything large is built."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from time import perf_counter
from typing import Any

from treeplex.base import notebook
from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.base.wings import named, provided_by_name
from treeplex.engine.threads import checked_threads
from treeplex.errors import SpecError
from treeplex.holdem.betting.tree_size import check_nodes
from treeplex.holdem.engine.workspace import workspace_sizes
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.spot_form import PACKED, STORAGE
from treeplex.holdem.forms.spot_size import SpotSize, check_boards, spot_size
from treeplex.holdem.solve.solver import CPU, HoldemSolver, method_of, predicted_memory, resolved
from treeplex.holdem.spots.fields import street_names
from treeplex.holdem.spots.files import load_spot
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.spots.spot_table import TURN_ENDGAME
from treeplex.run.solve.solvable import Estimate
from treeplex.solvers.registry import DEFAULT_ALGORITHM, AnyAlgorithm

SHOWN = ("float32", "int16")
"""Storage types shown in an estimate."""
SMALLER = ("int16", "int8", PACKED)
"""Storage types to suggest if ``float32`` does not fit into memory, best first."""
SECONDS_A_NUMBER = 4.2e-9
"""CPU seconds per iteration and array entry, measured on flops, turns and rivers."""
DEFAULT_SHARE = 0.005
"""Default target: exploitability as a share of the pot, blinds included."""
TYPICAL, TYPICAL_POWER = 110, 0.75
"""Iterations of DCFR to an exploitability of half a percent of the pot, and the exponent for lower targets; measured on turns
and flops, accurate within a factor of two."""
START_SECONDS, JUDGED = 2.0, 1.2
"""Seconds to start and build a spot, and the factor for evaluations after every tenth iteration, each as long as two
iterations."""


def needed_memory(size: SpotSize, algorithm: AnyAlgorithm, *, storage: str, threads: int) -> int:
    """Memory in bytes for solving and evaluating a spot of this size."""
    judging = 8 * sum(prod(shape) for shape in workspace_sizes(size.extent, threads, packed=True).values())
    return predicted_memory(size, algorithm, storage=storage, threads=threads) + judging


def storages_of(size: SpotSize) -> list[str]:
    """Storage types for a spot of this size; packed storage needs more than one street."""
    return [kind for kind in STORAGE if kind != PACKED or len(size.boards) > 1]


def check_memory(size: SpotSize, algorithm: AnyAlgorithm, *, storage: str, threads: int, most: float | None = None) -> int:
    """The memory needed, in bytes, after checking that it is available.

    Args:
        size: size of the spot, compiled or estimated.
        algorithm, storage, threads: settings of the solve.
        most: available bytes; None for the machine's free memory.

    Raises:
        SpecError: the solve does not fit into memory; the message suggests remedies.
    """
    needed = needed_memory(size, algorithm, storage=storage, threads=threads)
    free = available_memory() if most is None else most
    if free is None or needed <= free:
        return needed
    remedies = ["offer fewer sizes", "narrow the ranges"]
    for other in storages_of(size):
        smaller = needed_memory(size, algorithm, storage=other, threads=threads)
        if smaller < needed:
            remedies.append(f"use storage={other} ({megabytes(smaller)})")
    what = "are free" if most is None else "are allowed"
    raise SpecError(
        f"this spot needs {megabytes(needed)} of memory, {size.stored:,} numbers per array, but {megabytes(free)} {what}; "
        + " or ".join([", ".join(remedies[:-1]), remedies[-1]])
    )


def check_spot(
    spot: Spot, algorithm: AnyAlgorithm, *, isomorphism: bool, storage: str, threads: int, most: float | None = None
) -> None:
    """Reject a spot that is too large; takes a second or two and builds nothing.

    Raises:
        SpecError: too many bets, too many boards, or as in :func:`check_memory`.
    """
    check_boards(spot, isomorphism=isomorphism)
    size = spot_size(spot, isomorphism=isomorphism)
    check_nodes(size.nodes)
    check_memory(size, algorithm, storage=storage, threads=threads, most=most)


@dataclass(frozen=True)
class SpotEstimate(Estimate):
    """Estimate of solving a spot.

    Attributes:
        spot: the spot.
        size: its size.
        algorithm: the algorithm.
        threads: the number of threads.
        memory: bytes for each kind of storage.
        available: bytes that are free; None if unknown.
        seconds: approximate seconds per iteration, on a CPU core from 2023.
        refusal: why the spot cannot be solved, whatever the memory; None if it can.
        device: where it is solved; if not the CPU, ``memory`` and ``available`` are those of the device.
    """

    spot: Spot
    size: SpotSize
    algorithm: str
    threads: int
    memory: Mapping[str, int]
    available: int | None
    seconds: float
    refusal: str | None = None
    device: str = CPU

    def fits(self, storage: str = "float32") -> bool:
        """Whether it can be solved on this machine."""
        return self.refusal is None and (self.available is None or self.memory[storage] <= self.available)

    @property
    def title(self) -> str:
        """The spot as text."""
        return str(self.spot)

    def to_json(self) -> dict[str, Any]:
        """The estimate as fields for ``--json``."""
        size = self.size
        return {
            "nodes": size.nodes,
            "boards": size.boards,
            "decisions": size.decisions,
            "infosets": size.infosets,
            "numbers": size.stored,
            "memory_mb": {kind: needed / 1e6 for kind, needed in self.memory.items()},
            "available_mb": None if self.available is None else self.available / 1e6,
            "seconds_per_iteration": self.seconds if self.device == CPU else None,
            "device": self.device,
            "threads": self.threads,
            "fits": {kind: self.fits(kind) for kind in self.memory},
        }

    def at_pace_here(self) -> "SpotEstimate":
        """The estimate at this machine's speed, measured by two iterations on a small named spot; on the spot's device only
        its memory is estimated.

        Raises:
            SpecError: the device does not exist here.
        """
        if (device := resolved(self.spot.settings.device or CPU)) != CPU:
            predict = named(provided_by_name("spot_devices")["memory"])
            memory, free = predict(self.spot, self.size.boards, device, method_of(self.algorithm)[0].needs)
            return replace(self, device=device, memory=memory, available=free)
        known = load_spot(TURN_ENDGAME)
        solver = HoldemSolver(compile_spot(known), threads=self.threads)
        solver.run(1)
        begun = perf_counter()
        solver.run(2)
        pace = (perf_counter() - begun) / 2 / estimate_spot(known, threads=self.threads).seconds
        return replace(self, seconds=pace * self.seconds)

    def facts(self) -> dict[str, str]:
        """The estimate as human-readable fields, by name."""
        size = self.size
        streets = [street_names(self.spot.format)[street] for street in self.spot.streets]
        places = [
            name if name == "preflop" else f"on the {name}" if name.isalpha() else f"on street {name}" for name in streets
        ]
        counted = [f"{count:,} {where}" for count, where in zip(size.boards, places, strict=True)]
        shown = SHOWN if self.device == CPU else self.memory
        kinds = ", ".join(f"{megabytes(self.memory[kind])} in {kind}" for kind in shown)
        free = "" if self.available is None else f"; {megabytes(self.available)} are free"
        facts = {
            "betting": f"{'' if size.exact else 'about '}{size.nodes:,} nodes",
            "boards": ", ".join(counted),
            "decisions": f"{size.decisions:,} public nodes, {size.infosets:,} infosets",
            "numbers": f"{size.stored:,} per array",
            "memory": kinds + free,
            "time": f"about {self.seconds:.2g} s per iteration of {self.algorithm}, threads: {self.threads}",
        }
        if self.device != CPU:
            facts |= {"device": self.device, "time": f"not estimated on {self.device}"}
        if not self.fits():
            smaller = next((kind for kind in SMALLER if kind in self.memory and self.fits(kind)), None)
            facts["verdict"] = self.refusal or (f"fits in {smaller} only" if smaller else "does not fit")
        return facts

    def _repr_html_(self) -> str:
        return notebook.facts(self.facts())

    def __str__(self) -> str:
        return "\n".join(f"{name:<10} {text}" for name, text in self.facts().items())


def typical_iterations(spot: Spot) -> int:
    """Approximate number of iterations to reach the spot's target, or the default target."""
    how, pot = spot.settings, spot.opening_pot
    share = DEFAULT_SHARE if how.target is None or not pot else how.target.chips(pot) / pot
    most = how.iterations if how.iterations is not None else math.inf
    if how.target is None and how.iterations is not None:
        return how.iterations
    return int(min(most, TYPICAL * (DEFAULT_SHARE / max(share, 1e-6)) ** TYPICAL_POWER, 100_000))


def solving_seconds(estimate: SpotEstimate) -> float:
    """Approximate seconds to start, build and solve a spot to its target."""
    return START_SECONDS + JUDGED * typical_iterations(estimate.spot) * estimate.seconds


def estimate_spot(
    spot: Spot | str | os.PathLike[str],
    algorithm: AnyAlgorithm = DEFAULT_ALGORITHM,
    *,
    threads: int | None = None,
    isomorphism: bool = True,
) -> SpotEstimate:
    """Estimate the memory and time for solving a spot, within a second or two, without building it.

    Args:
        spot: the spot, or its file.
        algorithm: as for :func:`treeplex.holdem.solve.solve_spot.solve_spot`.
        threads: default: one per available core.
        isomorphism: as for :func:`treeplex.holdem.solve.solve_spot.solve_spot`; False with locks.

    Returns:
        Sizes of the betting tree and arrays, bytes for each storage type, and seconds per iteration.

    Raises:
        SpecError: unknown algorithm or parameter, too many threads, or too many bets to count.
    """
    spot = spot if isinstance(spot, Spot) else load_spot(spot)
    threads = checked_threads(threads)
    name, size, refusal = method_of(algorithm)[1], spot_size(spot, isomorphism=isomorphism), None
    try:
        check_nodes(size.nodes)
        check_boards(spot, isomorphism=isomorphism)
    except SpecError as error:
        refusal = str(error)
    memory = {kind: needed_memory(size, algorithm, storage=kind, threads=threads) for kind in storages_of(size)}
    seconds = SECONDS_A_NUMBER * size.stored / threads
    return SpotEstimate(spot, size, name, threads, memory, available_memory(), seconds, refusal)
