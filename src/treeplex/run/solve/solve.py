"""Solve a game of any kind: determine its kind (:func:`solvable`), start or reopen a run, and run it."""

import os
import warnings
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from treeplex.base.wings import named
from treeplex.errors import JobInterrupt, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.run.job.progress_line import AnyProgress, line_for
from treeplex.run.job.record import check_limits
from treeplex.run.policy_source import solution_source
from treeplex.run.solve.solution import Solution
from treeplex.run.solve.solvable import AnyCompiled, Solvable, SolveRequest, SolvingJob
from treeplex.run.solve.tree_game import TreeGame
from treeplex.solvers.registry import AnyAlgorithm

AnyGame: TypeAlias = str | Game | CompiledGame | AnyCompiled | Solvable | Sequence[Any] | NDArray[Any]
"""A spec, a game, or a compiled game; a game file or solution file; a payoff matrix or a pair of matrices; a game of
OpenSpiel works as well."""


def solve(
    game: AnyGame | None = None,
    algorithm: AnyAlgorithm | None = None,
    *,
    iterations: int | None = None,
    target: float | str | None = None,
    seconds: float | None = None,
    every: int | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    resume: str | os.PathLike[str] | Solution | None = None,
    progress: AnyProgress = None,
    **options: Any,
) -> Solution:
    """Solve a game.

    Args:
        game: a spec (``"leduc_poker"``, ``"mygame.py:MyGame"``, ``"game.efg"``), rules, a compiled game, or a hold'em spot (an
            object, ``"turn.yaml"``, ``"turn_endgame"``). Optional when resuming.
        algorithm: a spec such as ``"dcfr"`` or ``"dcfr(alpha=2)"`` (see :func:`treeplex.algorithms`), or a custom algorithm,
            ``"my.py:NAME"`` or the object, which must be given again when resuming; default ``"dcfr"``, or the algorithm in a
            spot's file.
        iterations: total iterations over all resumes. Default: 1000, or 1,000,000 with a target or time limit (spots: always
            1000), unlimited with ``nodes``. A learned algorithm runs its planned number. A sampling algorithm (``*-mccfr``)
            without any limit visits as many histories as 1000 full iterations. ``lp`` needs one iteration.
        target: stop at the first evaluation with at most this exploitability, in the game's units (chips). For spots also a
            percentage of the pot; their default is ``"0.5%"``.
        seconds: approximate time limit of this call, for solving and evaluation but not compiling (spots: solving only).
        every: iterations between evaluations; default: ten evaluations per decade, more with a target; spots: 10.
        out: destination of the run: a folder (see :mod:`treeplex.run.solve.settings`), or for spots one file (``turn.spot``),
            which is saved periodically.
        force: overwrite the contents of ``out``.
        resume: a run folder, a spot's file, or a solution. A solution with a folder is resumed there. A solution in memory is
            resumed in memory or in the new folder ``out``, and is not modified. Algorithm, seed, updates, every, storage, locks
            and horizon cannot change; target, iterations, nodes and seconds can. New iterations replace an old limit of
            histories, and vice versa; a target or seconds alone raise the limit to 1,000,000 iterations (not for spots).
            Records that an uninterrupted run would not have (such as the last one before a stop) are dropped, so that the
            results are identical to it, except for seconds.
        progress: False hides progress. Default: after two seconds, one updating line on a terminal or in a notebook, or records
            of the logger ``treeplex`` at level INFO. True shows a line on stderr at once. A function is called about ten times
            per second with a :class:`treeplex.run.job.record.Progress` instead.
        options: options of the game's kind: :class:`treeplex.run.solve.solvable.GameOptions` for games that are compiled
            (``nodes``, ``updates``, ``seed``, ``refine``, ``limit``, ``device``, ``measures``, ``start``, ``walked``),
            :class:`treeplex.holdem.solve.spot_game.SpotOptions` for spots (``threads``, ``device``, ``storage``,
            ``isomorphism``, ``locks``, ``most_memory``, ``start``, ``workers``, ``ray``, ``until``, ``net``).

    Returns:
        A :class:`treeplex.run.solve.solution.Solution`: a :class:`treeplex.run.solve.tree_job.GameSolution`, or a
        :class:`treeplex.holdem.solve.solution.HoldemSolution` of a spot.

    Raises:
        SpecError: an unknown name, a value outside its range, an option of another kind of game, or a spot too large for
            memory.
        GameError: the rules do not describe a game of perfect recall, the game is too large, or ranges have no compatible
            hands.
        AlgorithmError: the algorithm does not support this game.
        FileError: the destination cannot be written, or the run cannot be resumed.
        JobInterrupt: Ctrl-C or SIGTERM; its ``result`` is the solution so far.
    """
    given = {name: value for name, value in options.items() if value is not None}
    with line_for(progress) as line:
        line.say("reading the game")
        chosen = solvable(game, resume)
        chosen.check_options(given, signature(solve).parameters.keys() - {"options"})
        target = chosen.read_target(target) if isinstance(target, str) else target
        check_limits(target, seconds)
        request = SolveRequest(
            algorithm, iterations, target, seconds, every, None if out is None else Path(out), force, resume, given
        )
        with chosen.session(request, line) as session:
            job = session.job
            assert isinstance(job, SolvingJob)
            if announcement := job.announcement():
                line.say(announcement)
                if not line.visible:
                    warnings.warn(announcement, stacklevel=2)
            outcome = session.run(seconds=seconds, progress=progress if callable(progress) else line.watch)
            solution = job.solution(outcome)
    if solution.status == "interrupted":
        raise JobInterrupt(solution)
    return solution


def solvable(game: AnyGame | None, resume: Any = None) -> Solvable:
    """Return the :class:`treeplex.run.solve.solvable.Solvable` of a game.

    Args:
        game: a game for :func:`treeplex.load`, a compiled game, or a solution file, which stands for its game.
        resume: the run folder or solution to resume; the game is then optional.

    Raises:
        SpecError, FileError, GameError: as by :func:`treeplex.load`, or neither is given.
    """
    if isinstance(game, Solvable):
        return game
    if not isinstance(resume, str | os.PathLike | Solution | None):
        raise SpecError(f"resume must be a run folder, a spot file or a solution, not a {type(resume).__name__}")
    solution = solution_source(resume, by_name=True) if isinstance(resume, str | os.PathLike) else resume
    if solution is not None:
        resumed: Solvable = kind_of(solution).resuming(resume, game)
        return resumed
    if game is None:
        if resume is None:
            raise SpecError("no game given; name one (see treeplex games) or a run folder to resume")
        return TreeGame(None)
    if isinstance(game, str | os.PathLike) and os.path.isfile(game) and (source := solution_source(game)):
        game = source.game(game)
    if isinstance(game, Game) or not hasattr(game, "solvable"):
        game = load(game)
        game.check_decisions()
    target: Solvable = kind_of(game)(game)
    return target


def kind_of(thing: Any) -> Any:
    """Return the :class:`treeplex.run.solve.solvable.Solvable` subclass named by a game, compiled game or solution."""
    return named(thing.solvable)
