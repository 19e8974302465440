"""Hold'em spots as solvable games: runs are files, and policies map every line and hand to action probabilities."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from treeplex.base.located_text import option
from treeplex.engine.threads import checked_threads
from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.evaluate import Judgement
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.sources.load import load
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.spot_form import checked_storage
from treeplex.holdem.policies.locks import solver_locks
from treeplex.holdem.policies.network_files import network_in, policy_of_network
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.solve.estimate import SpotEstimate, check_spot, estimate_spot
from treeplex.holdem.solve.session import DEFAULT_STORAGE, spot_session
from treeplex.holdem.solve.solution import HoldemSolution, load_solution, reread
from treeplex.holdem.solve.solver import CPU, check_device, method_of, resolved
from treeplex.holdem.spots.fields import read_target
from treeplex.holdem.spots.locks import AnyLock
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.spots.spot_table import SOLVED_FILE
from treeplex.run.job.job import Session
from treeplex.run.job.progress_line import KERNELS, ProgressLine
from treeplex.run.policy_source import UNIFORM
from treeplex.run.solve.settings import DEFAULT_ITERATIONS, MOST_ITERATIONS
from treeplex.run.solve.solvable import ComparisonPlan, Solvable, SolveRequest, canonical
from treeplex.solvers.registry import DEFAULT_ALGORITHM, AnyAlgorithm


class SpotOptions(TypedDict, total=False):
    """Options for hold'em spots; options not given are taken from the spot's file.

    Attributes:
        threads: default: one per available core.
        storage: storage of regrets and averages: ``"float32"`` (the default), ``"float64"``, ``"int16"``, ``"int8"``,
            ``"packed"`` (16-bit numbers in fewer bits) or ``"disk:FOLDER"`` (packed, in files, from which a stopped or killed
            run resumes at its last iteration).
        workers: processes that solve the boards below the first street; results do not depend on their number.
        ray: address of a Ray cluster for this work; it needs ``disk:FOLDER`` with a folder shared by all machines.
        device: where iterations run: ``"cpu"`` (default), or with PyTorch ``"cuda"``, ``"auto"`` (cuda if available) or
            ``"torch-cpu"`` (for testing). Devices other than cpu support variants of CFR that neither adapt nor learn, and
            storage ``float32`` and ``float64``, without ``workers`` and ``until``. A run can be resumed on another device.
        isomorphism: whether isomorphic boards are solved once where the ranges allow it (default True); always off with locks.
        locks: locked strategies: :class:`treeplex.holdem.NodeLock`, or those of spot files. Best responses respect them.
        most_memory: available bytes; default: the free memory of the machine, and of the device.
        start: a solution of the same spot with different ranges or bet sizes, whose regrets the solve starts from;
            see :mod:`treeplex.holdem.solve.carried_regrets`.
        until: name of the street after the spot's first: solve the first street alone, with a network's values there.
        net: the network, see :mod:`treeplex.learn.first_street.until`.
        judge: with ``until``, compute the first street's exploitability with all later streets solved
            (:mod:`treeplex.holdem.solve.first_street_judge`).
    """

    threads: int | None
    storage: str | None
    device: str | None
    isomorphism: bool | None
    locks: Sequence[AnyLock] | None
    most_memory: float | None
    start: Any
    workers: int | None
    ray: str | None
    until: str | None
    net: str | None
    judge: bool | None


class SpotGame(Solvable):
    """A hold'em spot as a solvable game.

    Args:
        spot: the spot, compiled or not; None for that of the solution to resume.
        resume: the solution to resume, or its file; None for none.
    """

    noun = "hold'em spots"
    options = frozenset(SpotOptions.__annotations__)
    efforts = ("iterations", "seconds")

    def __init__(self, spot: Spot | CompiledSpot | None, resume: Any = None) -> None:
        self.given, self._resume = spot, resume

    @classmethod
    def resuming(cls, resume: Any, game: Any) -> "SpotGame":
        """The game of a solution to resume, or of its file; ``game`` is its spot."""
        spot = None if game is None else load(game)
        if not isinstance(spot, Spot | None):
            raise SpecError(f"the solution to resume belongs to a hold'em spot, not to {spot.spec}; leave the game out")
        return cls(spot, resume)

    @cached_property
    def resumed(self) -> HoldemSolution | None:
        """The solution to resume."""
        known = self._resume is None or isinstance(self._resume, HoldemSolution)
        return self._resume if known else load_solution(self._resume)

    @property
    def spot(self) -> Spot:
        """The spot."""
        given = self.resumed if self.given is None else self.given
        assert given is not None
        return given if isinstance(given, Spot) else given.spot

    def read_target(self, text: str) -> float:
        """A target in chips from ``0.5%`` of the pot, ``1.5`` or ``1.5c`` chips, or ``0.1bb`` in spots with blinds."""
        return read_target(option(text, "target"), self.spot.big_blind).chips(self.spot.opening_pot)

    @property
    def compiled(self) -> CompiledSpot:
        """The compiled spot; always the same object."""
        if not isinstance(self.given, CompiledSpot):
            self.given = compile_spot(self.spot, isomorphism=not self.spot.settings.locks)
        return self.given

    @contextmanager
    def session(self, asked: SolveRequest, line: ProgressLine) -> Iterator[Session]:
        """A session for a new run, or for a run resumed from its file."""
        if asked.resume is not None and not isinstance(asked.resume, HoldemSolution):
            asked = replace(asked, resume=self.resumed, out=asked.out or Path(asked.resume))
        line.say(f"building {self.spot}")
        with spot_session(self.given, asked) as session:
            line.say(f"{'starting' if asked.resume is None else 'resuming'} {session.job.name} ({KERNELS})")
            yield session

    def plan(
        self,
        algorithms: Sequence[AnyAlgorithm],
        iterations: int | None,
        seconds: float | None,
        options: Mapping[str, Any],
        line: ProgressLine,
    ) -> ComparisonPlan:
        """Check that each algorithm fits into memory, and compile; the target in the spot's file is ignored."""
        how = self.spot.settings
        if how.target is not None:
            self.given = replace(self.spot, settings=replace(how, target=None))
        locks, names = options.get("locks", how.locks), []
        isomorphism = options.get("isomorphism", True) and not locks
        storage = checked_storage(options.get("storage") or how.storage or DEFAULT_STORAGE)
        threads = checked_threads(options.get("threads", how.threads))
        if (device := resolved(options.get("device") or how.device or CPU)) != CPU:
            check_device(device, storage, in_workers=False)
        for algorithm in algorithms:
            rule, name = method_of(algorithm)
            names.append((name, algorithm))
            check_spot(
                self.spot, rule, isomorphism=isomorphism, storage=storage, threads=threads, most=options.get("most_memory")
            )
        line.say(f"building {self.spot}")
        if self.compiled.isomorphism != isomorphism:
            self.given = compile_spot(self.spot, isomorphism=isomorphism)
        usual = how.iterations or (DEFAULT_ITERATIONS if seconds is None else MOST_ITERATIONS)
        count = usual if iterations is None else iterations
        return ComparisonPlan(canonical(names), count, options, "iterations")

    def estimate(self) -> SpotEstimate:
        """The estimate of solving the spot, computed without building it."""
        how = self.spot.settings
        if how.until:
            raise SpecError(f"estimates cover all streets; leave out 'until' ({how.until})")
        return estimate_spot(self.spot, how.algorithm or DEFAULT_ALGORITHM, threads=how.threads, isomorphism=not how.locks)

    @property
    def big_blind(self) -> float | None:
        """The big blind of a spot with blinds; else None."""
        return self.spot.blinds[1] if self.spot.blinds else None

    @property
    def played(self) -> Spot:
        """The spot."""
        return self.spot

    def prepare(self, options: Mapping[str, Any], line: ProgressLine) -> None:
        """Check the options; the spot is compiled only when a policy needs it."""
        self.check_options(options)

    def tree(self) -> CompiledGame:
        """Raise GameError: infosets of spots are not enumerated."""
        raise GameError(
            f"{self.spot} is a hold'em spot, whose infosets are not enumerated; --worst and --exact apply to other games"
        )

    def place(self, folder: Path, name: str) -> Path:
        """The path of a spot's file in a folder."""
        return folder / f"{name}{SOLVED_FILE}"

    def policy(self, policy: Any, *, complete: bool = False) -> HoldemPolicy:
        """Convert a solution, its file, a policy, a network, a training folder or ``"uniform"`` to a policy of this spot.

        Raises:
            PolicyError: the policy is for another spot, the object is not a policy, or the network's table does not fit into
                memory.
            FileError: the file cannot be read.
        """
        if isinstance(policy, str | os.PathLike):
            if policy == UNIFORM:
                return self.uniform()
            policy = network_in(policy) or load_solution(policy)
        source = policy if isinstance(policy, NeuralPolicy) else getattr(policy, "policy", policy)
        if isinstance(source, NeuralPolicy):
            return policy_of_network(source, self.compiled)
        if not isinstance(source, HoldemPolicy):
            raise PolicyError(
                f"cannot read a policy on a spot from {type(policy).__name__}; give a solution, its file (.spot), a network or "
                "'uniform'"
            )
        if source.game is not self.given and reread(source.game.spot).identity != reread(self.spot).identity:
            raise PolicyError(f"this is a policy for {source.game}, not for {self.spot}; solve or load one for this spot")
        return source

    def uniform(self) -> HoldemPolicy:
        """The uniform policy, except at locked infosets."""
        locks = solver_locks(self.compiled, self.spot.settings.locks) if self.spot.settings.locks else ()
        return HoldemPolicy.uniform(self.compiled, locks=locks, threads=checked_threads(self.spot.settings.threads))

    def judge(self, policy: Any) -> Judgement:
        """Evaluate a policy; best responses respect its locks."""
        return self.policy(policy).judge()

    def best_response(self, policy: Any, player: int) -> tuple[float, HoldemPolicy]:
        """A player's best-response value and policy, which respects the policy's locks."""
        return self.policy(policy).best_response(player)
