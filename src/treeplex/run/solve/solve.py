"""Solve a game of any kind: find its kind (:func:`solvable`), start a run or reopen one, and let it run."""

import os
import warnings
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from treeplex.base.wings import named
from treeplex.errors import Interrupted, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.run.job.progress_line import AnyProgress, line_for
from treeplex.run.job.record import check_limits
from treeplex.run.policy_source import solution_source
from treeplex.run.solve.solution import Solution
from treeplex.run.solve.solvable import AnyCompiled, Asked, Solvable, SolvingJob
from treeplex.run.solve.tree_game import TreeGame
from treeplex.solvers.registry import AnyAlgorithm

AnyGame: TypeAlias = str | Game | CompiledGame | AnyCompiled | Solvable | Sequence[Any] | NDArray[Any]
"""A spec, a game, or a compiled game; a game's file or the file of its solution; a payoff matrix or a pair of them; a game of
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
            object, ``"turn.yaml"``, ``"turn_endgame"``). May be left out when resuming.
        algorithm: a spec such as ``"dcfr"`` or ``"dcfr(alpha=2)"`` (see :func:`treeplex.algorithms`), or an algorithm of
            your own, ``"my.py:NAME"`` or the value itself, which resuming then needs again; default ``"dcfr"``, or what a
            spot's file says.
        iterations: iterations in total, those before a resume included; default 1000, or 1,000,000 when
            there is a target or a time limit, any number when histories are counted; a learned algorithm does as many as it
            paces itself for. An algorithm that samples (its name ends in ``-mccfr``) walks, without any of these limits, as
            many histories as 1000 full iterations do. ``lp`` needs one. A spot does 1000 with a target as well.
        target: stop at the first evaluation with at most this exploitability, in the game's units (chips); of a spot also
            ``"0.5%"`` of the pot, where one for which nothing is said stops.
        seconds: stop after about this much time in this call (solving and judging, not compiling; judging a spot does not
            count).
        every: iterations between evaluations; default: ten evaluations a decade, more when there is a target; spots: 10.
        out: where the run goes: of a game a folder (see :mod:`treeplex.run.solve.settings`), of a spot one file
            (``turn.spot``), which is written every now and then while solving goes on.
        force: overwrite what is in ``out``.
        resume: a run folder, the file of a spot, or a solution. A solution with a folder is resumed there; one in memory is
            resumed in memory, or in the new folder ``out``, and stays as it is. Algorithm, seed, updates, every, storage,
            locks and the horizon stay what they were; target, iterations, nodes and seconds may be new; new iterations end an
            old limit of histories, and the other way round. Records off the evaluation points of the whole run (the last one
            before a stop) are dropped, so that it ends up as if the run had never stopped, seconds excepted.
        progress: False shows no progress. Default: after two seconds, one line that is updated on a terminal or in a notebook,
            or records of the logger ``treeplex`` where ``logging`` lets level INFO through. True shows a line on stderr at
            once. A function is called about ten times per second with a :class:`treeplex.run.job.record.Progress` instead.
        options: those of the game's form: :class:`treeplex.run.solve.solvable.GameOptions` for games that are compiled
            (``nodes``, ``updates``, ``seed``, ``refine``, ``limit``, ``device``, ``measures``, ``start``, ``walked``),
            :class:`treeplex.holdem.solve.spot_game.SpotOptions` for spots (``threads``, ``storage``, ``isomorphism``,
            ``locks``, ``most_memory``, ``start``, ``workers``, ``ray``, ``until``, ``net``).

    Returns:
        A :class:`treeplex.run.solve.solution.Solution`: a :class:`treeplex.run.solve.tree_job.GameSolution`, or a
        :class:`treeplex.holdem.solve.solution.HoldemSolution` of a spot.

    Raises:
        SpecError: an unknown name, a value outside its range, an option of another kind of game, or a spot that does not fit
            into memory.
        GameError: rules that do not describe a game of perfect recall, too large a game, or ranges without a pair of hands.
        AlgorithmError: an algorithm that is not defined for this game.
        FileError: a place that cannot be written, or a run that cannot be resumed.
        Interrupted: Ctrl-C or SIGTERM; its ``result`` is the solution so far.
    """
    given = {name: value for name, value in options.items() if value is not None}
    with line_for(progress) as line:
        line.say("reading the game")
        chosen = solvable(game, resume)
        chosen.check_options(given, signature(solve).parameters.keys() - {"options"})
        target = chosen.read_target(target) if isinstance(target, str) else target
        check_limits(target, seconds)
        asked = Asked(algorithm, iterations, target, seconds, every, None if out is None else Path(out), force, resume, given)
        with chosen.session(asked, line) as session:
            job = session.job
            assert isinstance(job, SolvingJob)
            if announcement := job.announcement():
                line.say(announcement)
                if not line.visible:
                    warnings.warn(announcement, stacklevel=2)
            outcome = session.run(seconds=seconds, progress=progress if callable(progress) else line.watch)
            solution = job.solution(outcome)
    if solution.status == "interrupted":
        raise Interrupted(solution)
    return solution


def solvable(game: AnyGame | None, resume: Any = None) -> Solvable:
    """A game as something to solve and to judge.

    Args:
        game: what :func:`treeplex.load` takes, a compiled game, or the file of a solution, which means its game.
        resume: the run folder or the solution that is to be resumed; then the game may be left out.

    Raises:
        SpecError, FileError, GameError: as :func:`treeplex.load` does, or neither is given.
    """
    if isinstance(game, Solvable):
        return game
    if not isinstance(resume, str | os.PathLike | Solution | None):
        raise SpecError(f"resume is a {type(resume).__name__}; give a run folder, the file of a spot, or a solution")
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
    found: Solvable = kind_of(game)(game)
    return found


def kind_of(thing: Any) -> Any:
    """The class of :class:`treeplex.run.solve.solvable.Solvable` that a game, compiled game or solution names."""
    return named(thing.solvable)
