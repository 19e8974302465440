"""A solved spot: its accuracy, views of every node, and its file.

A *resumable* file (:mod:`treeplex.holdem.solve.files`) holds all arrays of the solver exactly, so solving resumes as if
never stopped. Other files hold the strategy with probabilities rounded to 1/65,535. They may cover only the first streets and
then include the values of the omitted streets.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.settings import Settings, setting
from treeplex.base.storage.files import replacing
from treeplex.base.version import own_version
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.holdem.betting.tree import BettingTree
from treeplex.holdem.engine.form import REACH, STORE, HoldemForm
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.first_street import compile_first_street
from treeplex.holdem.forms.spot_form import DISK, FixedStrategy, checked_storage
from treeplex.holdem.policies.mapping import HoldemMapping
from treeplex.holdem.policies.node_values import HoldemValues
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.policies.view import NodeView
from treeplex.holdem.solve.files import VERSION, Array, Header, read_file, write_file
from treeplex.holdem.solve.report import facts_of, record_of
from treeplex.holdem.spots.fields import street_names
from treeplex.holdem.spots.spot import Spot, spot_from_json
from treeplex.holdem.spots.spot_table import SOLVED_FILE, SPOTS
from treeplex.run.job.folder import JobKind
from treeplex.run.job.record import Record, real
from treeplex.run.solve.solution import Solution
from treeplex.solvers.registry import pace_of

FULL = 65_535
"""Integer that represents probability one in files that are not resumable."""

STATE = "state."
"""Prefix of the names of the solver's arrays in files."""
SHOWN = (f"{STATE}average", f"{STATE}average_scales")
"""Arrays that contain the strategy."""

SPOT = JobKind(name="spot", unit="iterations", maker="treeplex solve", numbers={"exploitability": real}, solver_time=True)
"""Runs on spots. ``exploitability``: mean over players of a best response's gain, in chips; NaN if it was interrupted."""


@dataclass(frozen=True)
class HoldemSettings(Settings):
    """Settings with which a spot was solved.

    Attributes:
        storage: storage of numbers, see :data:`treeplex.holdem.forms.spot_form.STORAGE`.
        threads: threads used.
        horizon: iterations planned at the first start, for schedules that depend on it.
        target: target exploitability in chips; None for none.
        until: the street at which the solve ends, with values of ``net``; empty if all streets are solved.
        net: the network there; see :mod:`treeplex.learn.first_street.until`.
        device: where iterations ran: ``cpu``, ``cuda`` or ``torch-cpu``.
        every: iterations between evaluations; None if unknown, as in files of earlier versions.
    """

    storage: str = "float32"
    threads: int = setting(1, low=1)
    horizon: int = setting(1000, low=0)
    target: float | None = setting(None, low=0)
    until: str = ""
    net: str = ""
    device: str = setting("cpu", choices=("cpu", "cuda", "torch-cpu"), added=True)
    every: int | None = setting(None, low=1, added=True)

    def check(self) -> None:
        checked_storage(self.storage)


@dataclass(frozen=True, eq=False, repr=False)
class HoldemSolution(Solution, HoldemMapping):
    """A solved spot, which is also a policy: ``solution["x,b50%", "AsKs"]``, ``solution.items()``.

    Attributes:
        game: the compiled spot.
        algorithm: canonical spec of the algorithm.
        settings: settings of the solve.
        records: evaluations, oldest first; the last one is that of this strategy.
        ev: both players' EVs, in chips relative to half the starting pot; NaN if evaluation was interrupted.
        status: why solving stopped: ``finished``, ``target reached``, ``time up`` or ``interrupted``; ``running`` in a file
            saved during the run.
        average: [Q], the unnormalised strategy, as in :class:`treeplex.holdem.engine.form.Store`, for the first ``streets``
            streets.
        scales: float32, for 16-bit numbers; else empty.
        state: all arrays of the solver, for resuming; None if not saved.
        locks: locked strategies.
        streets: number of streets that ``average`` covers.
        ends: values at the ends of streets if ``average`` does not cover all; see :class:`HoldemValues`.
        judging_seconds: time spent on evaluation, summed over resumed runs.
        memory: bytes for solving and evaluation.
        disk: bytes read and written in a run's folder, and the workers' seconds for it; zeros without a folder.
        best: value of each player's best response to the other; NaN if not computed.
        folder: its file; None if not written.
    """

    game: CompiledSpot
    algorithm: str
    settings: HoldemSettings
    records: tuple[Record, ...]
    ev: tuple[float, float]
    status: str
    average: NDArray[Any] = field(repr=False)
    scales: NDArray[Any] = field(repr=False)
    state: Mapping[str, NDArray[Any]] | None = field(repr=False)
    locks: tuple[FixedStrategy, ...] = ()
    streets: int = 0
    ends: NDArray[np.float64] | None = None
    judging_seconds: float = 0.0
    memory: int = 0
    disk: tuple[int, float] = (0, 0.0)
    best: tuple[float, float] = (nan, nan)
    folder: Path | None = None
    solvable = SPOTS
    suffix = SOLVED_FILE

    @property
    def spot(self) -> Spot:
        """The spot."""
        return self.game.spot

    @property
    def tree(self) -> BettingTree:
        """Its betting tree."""
        return self.game.betting

    @property
    def value(self) -> tuple[float, ...]:
        """The players' expected values, same as ``ev``."""
        return self.ev

    @property
    def gains(self) -> tuple[float, ...]:
        """Gain of each player's best response, in chips; NaN if not computed."""
        return tuple(best - value for best, value in zip(self.best, self.ev, strict=True))

    @property
    def nash_conv(self) -> float:
        """Sum over players of a best response's gain, in chips."""
        return 2 * self.exploitability

    @property
    def longest(self) -> int | None:
        """Maximum total number of iterations that the algorithm supports; None for no limit."""
        return pace_of(self.algorithm)

    @property
    def judged(self) -> bool:
        """Whether exploitability and expected values are known; False if a second Ctrl-C interrupted the evaluation."""
        return not isnan(self.exploitability)

    @property
    def exploitability_unnormalised(self) -> float:
        """Exploitability in chips, normalised as in papers on Libratus' endgames.

        Those papers normalise each range but do not divide by the probability that two hands share no card.
        """
        total = float(self.spot.ranges[0].sum() * self.spot.ranges[1].sum())
        return self.exploitability * self.game.compatible / total

    @property
    def target(self) -> float | None:
        """Target exploitability in chips."""
        return self.settings.target

    def facts(self) -> dict[str, str]:
        """Human-readable fields, by name."""
        return facts_of(self)

    def to_json(self) -> dict[str, Any]:
        """The fields that ``treeplex solve --json`` prints."""
        return super().to_json() | record_of(self)

    def looks(self, place: str) -> list[tuple[str, str]]:
        """Commands that show the solution."""
        return [(f"show {place}", "look at the ranges"), (f"show {place} --html page.html", "an HTML page to browse")]

    @cached_property
    def policy(self) -> HoldemPolicy:
        """The average strategy."""
        return HoldemPolicy(
            self.game, self.average, self.scales, self.locks, self.streets, self.ends, threads=self.settings.threads
        )

    @property
    def hand_values(self) -> HoldemValues:
        """The strategy's values at all nodes."""
        return self.policy.hand_values

    def at(self, line: str = "") -> NodeView:
        """The node at the end of a line such as ``x, b50%, c, 7s``; see :mod:`treeplex.holdem.policies.line`.

        Raises:
            SpecError: the spot does not have the line; the message lists the possible steps.
        """
        return self.policy.at(line)

    def root_values(self, *, best: bool = False) -> NDArray[np.float64]:
        """Values of all hands before the first action, float64 [2, H], in the order of ``format.hands``.

        Counterfactual values: chips relative to half the starting pot, times the opponent's compatible range weight.
        Weighted by a player's own range and divided by ``game.compatible``, they sum to ``ev``.

        Args:
            best: whether to return values of each player's best response instead of the strategy's.

        Returns:
            Values; NaN for hands outside the range or blocked by the board.

        Raises:
            PolicyError: best responses of a policy in 16-bit numbers or without its last streets.
        """
        values_by_hand = np.full((2, len(self.spot.format.hands)), np.nan)
        for player in (0, 1):
            values = self.policy.response_values(player) if best else self.hand_values
            tree = values.tree(0, 0, 0, values.root_reach())
            values_by_hand[player, self.game.boards[0][0].hands[player]] = tree.values[0][player]
        return values_by_hand

    def save(self, path: str | os.PathLike[str], *, resumable: bool | None = None, streets: int | str | None = None) -> Path:
        """Write the solution to a file; see :func:`save_solution`."""
        return save_solution(self, path, resumable=resumable, streets=streets)


def reread(spot: Spot) -> Spot:
    """The spot as it would be read from a file, with integer chips as floats."""
    return spot_from_json(spot.to_json(), spot.ranges, spot.strengths)


def save_solution(
    solution: HoldemSolution,
    path: str | os.PathLike[str],
    *,
    resumable: bool | None = None,
    streets: int | str | None = None,
) -> Path:
    """Write a solution to a file.

    Args:
        solution: the solution.
        path: the file; without a suffix it gets ``.spot``. An existing file is replaced atomically.
        resumable: whether to keep the solver state (some eight times the size); default: True if it exists and all streets are
            kept.
        streets: number of streets to keep, or the name of the last one (``"turn"``); default: all.

    Returns:
        The file written.

    Raises:
        SpecError: the spot has no such street, or the solution cannot be saved in this form.
        FileError: the file cannot be written.
    """
    street_count, cut = streets_kept(solution, streets), bool(solution.settings.until)
    whole = street_count == len(solution.game.boards)
    all_kept = whole or cut
    keep_state = all_kept and solution.state is not None if resumable is None else resumable
    if keep_state and (solution.state is None or not all_kept):
        raise SpecError("a solution without solver state or without some streets cannot be resumable; leave out 'resumable'")
    arrays: dict[str, Array] = {f"range{player}": solution.spot.ranges[player] for player in (0, 1)}
    if solution.spot.strengths is not None:
        arrays["strengths"] = solution.spot.strengths
    if solution.locks:
        arrays["locks"] = np.concatenate([lock.strategy.ravel() for lock in solution.locks])
    if keep_state:
        arrays |= {f"{STATE}{name}": array for name, array in (solution.state or {}).items()}
    else:
        arrays["policy"] = rounded_policy(solution, street_count)
    if not whole:
        arrays["ends"] = solution.hand_values.ends[: first_number(solution.game, street_count, REACH)].astype(np.float32)
    target = spot_file(path)
    with replacing(target) as file:
        write_file(file, header_of(solution, street_count), arrays, solution.settings.threads)
    return target


def spot_file(path: str | os.PathLike[str]) -> Path:
    """The file name of a solution; ``.spot`` is appended if it has no suffix."""
    return Path(path) if Path(path).suffix else Path(path).with_suffix(SOLVED_FILE)


def streets_kept(solution: HoldemSolution, streets: int | str | None) -> int:
    """The number of streets to store in a file, from that number or from the name of the last street."""
    names = [street_names(solution.spot.format)[street] for street in solution.spot.streets]
    if streets is None:
        return solution.streets
    count = names.index(streets) + 1 if isinstance(streets, str) and streets in names else streets
    if isinstance(count, str) or not 1 <= count <= solution.streets:
        offers = ", ".join(names[: solution.streets])
        raise SpecError(f"streets is {streets!r}; name the last street to keep ({offers}) or how many, 1 to {solution.streets}")
    return int(count)


def first_number(game: CompiledSpot, street: int, column: int) -> int | None:
    """The offset in ``boards[:, column]`` of a street's first board; None after the last street."""
    return int(game.form.boards[game.first_boards[street], column]) if street < len(game.boards) else None


def rounded_policy(solution: HoldemSolution, street_count: int) -> NDArray[np.uint16]:
    """The strategy of the first streets, with probabilities in units of 1 / ``FULL``, uint16; all zero where it is
    undefined."""
    game, values = solution.game, solution.hand_values
    end = first_number(game, street_count, STORE)
    rounded = np.zeros(len(values.average) if end is None else end, np.uint16)
    for street in range(street_count):
        for player in (0, 1):
            nodes = np.array(game.forests[street].nodes[player], np.int64).reshape(-1, 3)
            if not len(nodes):
                continue
            node_of = np.repeat(np.arange(len(nodes)), nodes[:, 2])
            for board in range(game.first_boards[street], game.first_boards[street] + len(game.boards[street])):
                weights = np.maximum(values.rows(board, player, 0, len(node_of)), 0.0)
                total = np.add.reduceat(weights, nodes[:, 1], axis=0)[node_of]
                shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
                start = int(game.form.boards[board, STORE + player])
                rounded[start : start + shares.size] = np.rint(shares * FULL).astype(np.uint16).ravel()
    return rounded


def header_of(solution: HoldemSolution, street_count: int) -> Header:
    """Header of a solution's file: everything except the arrays."""
    game, settings = solution.game, solution.settings
    return {
        "version": VERSION,
        "treeplex": own_version(),
        "spot": solution.spot.to_json(),
        "layout": layout(game.form),
        "isomorphism": game.isomorphism,
        "algorithm": solution.algorithm,
        "settings": settings.to_json(),
        "records": [list(record.plain().values()) for record in solution.records],
        "ev": list(solution.ev),
        "best": list(solution.best),
        "status": solution.status,
        "streets": street_count,
        "locks": [[lock.board, lock.player, lock.node, *lock.strategy.shape] for lock in solution.locks],
        "judging_seconds": solution.judging_seconds,
        "combos": [float(weights.sum()) for weights in solution.spot.ranges],
        "memory": solution.memory,
    }


def layout(form: HoldemForm) -> str:
    """Digest of the layout: what each entry of a stored array refers to."""
    digest = hashlib.sha256()
    for array in (form.streets, form.boards, form.nodes, form.cards):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def load_solution(path: str | os.PathLike[str], *, resumable: bool = True) -> HoldemSolution:
    """Read a file written by :func:`save_solution`.

    Args:
        path: the file.
        resumable: whether to read the solver state if the file has it; the strategy alone takes an eighth of the file.

    Returns:
        The solution, with the strategy, all evaluations and, if read, the solver state.

    Raises:
        FileError: the file is missing, not a solution, truncated, modified or from another version.
    """
    header, arrays = read_file(path, lambda name: resumable or not name.startswith(STATE) or name in SHOWN)
    try:
        solution = replace(solution_of(header, arrays), folder=Path(path))
        return solution if resumable else replace(solution, state=None)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, TreeplexError) as error:
        raise FileError(f"{path} cannot be read ({error}); solve the spot again") from error


def solution_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> HoldemSolution:
    """The solution in a file."""
    spot = spot_from_json(header["spot"], (arrays["range0"], arrays["range1"]), arrays.get("strengths"))
    settings = HoldemSettings(**header["settings"])
    if settings.storage.startswith(DISK):  # a run in a folder saves packed numbers, and no file may choose where a run writes
        raise FileError(f"it names a folder, {settings.storage}")
    game = compile_first_street(spot) if settings.until else compile_spot(spot, isomorphism=bool(header["isomorphism"]))
    if layout(game.form) != header["layout"]:
        raise FileError(f"it was written by Treeplex {header.get('treeplex')}, which numbers boards or bets differently")
    prefix, streets, best = STATE, int(header["streets"]), header["best"]
    if not 1 <= streets <= len(game.boards):
        raise FileError(f"it covers {streets} of {len(game.boards)} streets")
    state = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    end = first_number(game, streets, STORE)
    average = state["average"] if state else arrays["policy"].astype(np.float32)
    if average.shape != (game.stored if end is None else end,):
        raise FileError("the size of its strategy does not match the spot")
    return HoldemSolution(
        game=game,
        algorithm=str(header["algorithm"]),
        settings=settings,
        records=records_of(header["records"]),
        ev=(float(header["ev"][0]), float(header["ev"][1])),
        status=str(header["status"]),
        average=average,
        scales=state.get("average_scales", np.zeros(0, np.float32)),
        state=state or None,
        locks=locks_of(header["locks"], arrays["locks"]) if header["locks"] else (),
        streets=streets,
        ends=arrays["ends"].astype(np.float64) if "ends" in arrays else None,
        judging_seconds=float(header["judging_seconds"]),
        memory=int(header["memory"]),
        best=(float(best[0]), float(best[1])),
    )


def records_of(rows: list[list[Any]]) -> tuple[Record, ...]:
    """The records in a file, in ascending order; there is at least one."""
    records = [
        Record(int(done), float(spent), float(cpu), {"exploitability": float(value)}) for done, spent, cpu, value in rows
    ]
    if not records or any(one.done >= other.done for one, other in pairwise(records)):
        raise FileError("its records are not in order")
    return tuple(records)


def locks_of(rows: list[list[int]], values: Array) -> tuple[FixedStrategy, ...]:
    """The locks in a file."""
    locks, start = [], 0
    for board, player, node, actions, hands in rows:
        locks.append(FixedStrategy(board, player, node, values[start : start + actions * hands].reshape(actions, hands)))
        start += actions * hands
    return tuple(locks)
