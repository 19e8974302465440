"""The judge for everybody: games by name, policies of any kind."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from treeplex import evaluate
from treeplex.base.notices import reporting
from treeplex.base.spec import suggests_arguments
from treeplex.errors import SpecError
from treeplex.evaluate import Judgement
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.files import load_policy as load_tree_policy
from treeplex.forms.policies.tabular import Policy
from treeplex.run.job.folder import JobFolder, kind_of
from treeplex.run.policy_source import source_of
from treeplex.run.solve.settings import SOLVE
from treeplex.run.solve.solve import AnyGame, solvable
from treeplex.run.solve.tree_game import policy_file, policy_of
from treeplex.solvers import make_solver

if TYPE_CHECKING:
    from treeplex.run.solve.solution import Solution

AnyPolicy: TypeAlias = "Policy | Solution | Mapping[Any, Mapping[int, float]] | str | os.PathLike[str] | Any"
"""A policy or a solution; ``{infostate: {action: probability}}`` (or keys (player, infostate)), actions by id or name;
``"uniform"``; a policy file, run folder or solved spot; an OpenSpiel policy; an agent."""


@overload
def as_policy(game: CompiledGame, policy: AnyPolicy, *, complete: bool = False) -> Policy: ...
@overload
def as_policy(game: AnyGame, policy: AnyPolicy, *, complete: bool = False) -> Any: ...
def as_policy(game: AnyGame, policy: AnyPolicy, *, complete: bool = False) -> Any:
    """Any kind of policy as a policy of ``game``.

    Args:
        game: a spec, rules, a compiled game, or a hold'em spot.
        policy: a policy, solution, mapping, file, run folder, OpenSpiel policy, an agent (an object, its class, or a text
            that :func:`treeplex.agent` takes; see :func:`treeplex.search.agent_policy`), or ``"uniform"``. Of a spot: a
            solution, its file or policy, a network that learned by its rules or the folder of its training, or ``"uniform"``.
        complete: play uniformly at infostates that a mapping or a file written by hand lacks, instead of refusing it.

    Raises:
        PolicyError: it belongs to another game, misses an infostate, or is no distribution somewhere.
        FileError: a file that cannot be read.
    """
    return solvable(game).policy(policy, complete=complete)


@suggests_arguments
def load_policy(path: str | os.PathLike[str], game: Any = None, *, complete: bool = False) -> Any:
    """Read a policy: a policy file (:func:`treeplex.forms.policies.files.load_policy`), a run folder, or a solved spot.

    Every folder that ``treeplex evaluate`` reads will do. Trainings without a policy table (ReBeL, DeepStack,
    ``best-response``, ``alphaholdem``, ``blueprint``) are asked what their agent plays at every infoset, as ``treeplex export``
    does; where the agent searches, that takes a while.

    Args:
        path: ``.safetensors``, ``.npz``, ``.json``, ``.csv``, a run folder, a training folder, or ``.spot``.
        game: the policy's game; default: the one that the file or folder names.
        complete: play uniformly at infostates that a file written by hand lacks, instead of refusing it.

    Raises:
        FileError: the file is missing, damaged, of another format version, or for a game that must be named.
        PolicyError: it belongs to another game, misses an infostate, or is no distribution somewhere.
    """
    if not isinstance(path, str | os.PathLike):
        raise SpecError(f"load_policy reads a file or a folder, not a {type(path).__name__}; give its path")
    if (source := source_of(path)) is not None:
        return source.policy(path) if game is None else as_policy(game, path)
    if kind_of(path) == SOLVE.name:
        folder = JobFolder(SOLVE, path)
        game = folder.compiled(game, refine=bool(folder.about()["settings"].get("refine")))
    return load_tree_policy(policy_file(path), game, complete=complete)


def judge(game: AnyGame, policy: AnyPolicy, *, progress: bool | None = None) -> Judgement:
    """Judge a policy: exploitability, NashConv, values, best-response values.

    Args:
        game: a spec, rules, a compiled game, or a hold'em spot, whose values are chips against half of the starting pot.
        policy: a policy, solution, mapping, file, run folder, OpenSpiel policy, agent, or ``"uniform"``; see
            :func:`as_policy`.
        progress: False shows none; None shows it where a person looks, see :func:`treeplex.solve`.

    Raises:
        PolicyError: the policy does not fit the game.
    """
    with reporting(progress, "judging"):
        return solvable(game).judge(policy)


def tree_of(game: AnyGame) -> CompiledGame:
    """The compiled game; a :class:`GameError` for a hold'em spot, whose infosets are not enumerated."""
    return solvable(game).tree()


def exploitability(game: AnyGame, policy: AnyPolicy, *, progress: bool | None = None) -> float:
    """Mean over players of what a best response gains, in game units; arguments as for :func:`judge`."""
    return judge(game, policy, progress=progress).exploitability


def nash_conv(game: AnyGame, policy: AnyPolicy, *, progress: bool | None = None) -> float:
    """Sum over players of what a best response gains, in game units; arguments as for :func:`judge`."""
    return judge(game, policy, progress=progress).nash_conv


def expected_values(game: AnyGame, policy: AnyPolicy, *, progress: bool | None = None) -> NDArray[np.float64]:
    """Expected payoff of each player, float64 [N], in game units; arguments as for :func:`judge`."""
    return np.array(judge(game, policy, progress=progress).value)


def best_response(game: AnyGame, policy: AnyPolicy, player: int, *, progress: bool | None = None) -> tuple[float, Any]:
    """The best that ``player`` can get against the others, and the policy that gets it; arguments as for :func:`judge`."""
    if isinstance(player, bool) or not isinstance(player, int):
        raise SpecError(f"player must be a whole number, not {player!r}")
    with reporting(progress, "finding a best response"):
        return solvable(game).best_response(policy, player)


def infostate_regrets(game: AnyGame, policy: AnyPolicy) -> dict[tuple[int, str], float]:
    """Where a policy loses: the regret of every (player, infostate), the largest first; arguments as for :func:`judge`.

    What the player would gain by the best action there, the policy followed elsewhere, times the probability that chance
    and the others lead there (:func:`treeplex.evaluate.infostate_regrets`).
    """
    compiled = tree_of(game)
    regrets = evaluate.infostate_regrets(compiled, policy_of(compiled, policy))
    found = {key: float(regrets[infoset]) for key, infoset in compiled.lookup.items()}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def exact_value(game: AnyGame) -> float:
    """The value of a two-player zero-sum game to player 0, by linear programming.

    Raises:
        AlgorithmError: more players, or payoffs without a constant sum.
    """
    compiled = tree_of(game)
    solver = make_solver(compiled, "lp")
    solver.run(1)
    return evaluate.judge(compiled, solver.average_policy()).value[0]


def distance_to_value(game: AnyGame, policy: AnyPolicy) -> float:
    """How far player 0's expected payoff under a policy is from the exact value, in game units; arguments as for :func:`judge`.

    Raises:
        AlgorithmError: the game has no exact value here (see :func:`exact_value`).
    """
    compiled = tree_of(game)
    return abs(judge(compiled, policy).value[0] - exact_value(compiled))
