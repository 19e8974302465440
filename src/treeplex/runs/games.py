"""Which kind of game something is, decided once: compiled into trees, or a hold'em spot."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.holdem.compile_spot import CompiledSpot
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.games.poker.spots.spot import Spot
from treeplex.located_text import is_solved_spot
from treeplex.runs.holdem.solution import SUFFIX, HoldemSolution, load_solution
from treeplex.runs.holdem.spot_game import SpotGame
from treeplex.runs.solve.solvable import Solvable
from treeplex.runs.solve.tree_game import TreeGame

AnyGame: TypeAlias = str | Game | CompiledGame | Spot | CompiledSpot | Solvable | Sequence[Any] | NDArray[Any]
"""A spec, rules, or a compiled game; a hold'em spot, its file or the file of its solution; a payoff matrix or a pair of them;
an OpenSpiel game works as well."""


def solvable(game: AnyGame | None, resume: Any = None) -> Solvable:
    """A game as something to solve and to judge.

    Args:
        game: what :func:`treeplex.load` takes, a compiled game or spot, or the file of a solved spot, which means its spot.
        resume: the run folder or the solution of a spot that is to go on; then the game may be left out.

    Raises:
        SpecError, FileError, GameError: as :func:`treeplex.load` does, or neither is given.
    """
    if isinstance(game, Solvable):
        return game
    if isinstance(resume, HoldemSolution) or (resume is not None and (is_solved_spot(resume) or Path(resume).suffix == SUFFIX)):
        return SpotGame(None if game is None else spot_of(load(game)))
    if game is None and resume is None:
        raise SpecError("no game given; name one (see treeplex games) or a run folder to resume")
    if game is None or isinstance(game, CompiledGame):
        return TreeGame(game)
    if isinstance(game, CompiledSpot):
        return SpotGame(game)
    if isinstance(game, str | os.PathLike) and is_solved_spot(game):
        return SpotGame(load_solution(game).game)
    found = load(game)
    return SpotGame(found) if isinstance(found, Spot) else TreeGame(found)


def spot_of(game: Game | Spot) -> Spot:
    """The spot itself; a :class:`SpecError` for rules."""
    if not isinstance(game, Spot):
        raise SpecError(f"the solution to resume is one of a hold'em spot, not of {game.spec}; leave the game out")
    return game
