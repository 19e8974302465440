"""Evaluation of policies of any kind on games by name."""

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
    """Convert any kind of policy to a policy of ``game``.

    Args:
        game: a spec, rules, a compiled game, or a hold'em spot.
        policy: a policy, solution, mapping, file, run folder, OpenSpiel policy, an agent (an object, its class, or a text that
            :func:`treeplex.agent` takes; see :func:`treeplex.search.agent_policy`), or ``"uniform"``. For a spot: a solution,
            its file or policy, a network trained on its rules or that network's training folder, or ``"uniform"``.
        complete: play uniformly at infostates missing from a mapping or hand-written file, instead of raising an error.

    Raises:
        PolicyError: the policy belongs to another game, lacks an infostate, or is not a distribution somewhere.
        FileError: the file cannot be read.
    """
    return solvable(game).policy(policy, complete=complete)


@suggests_arguments
def load_policy(path: str | os.PathLike[str], game: Any = None, *, complete: bool = False) -> Any:
    """Read a policy: a policy file (:func:`treeplex.forms.policies.files.load_policy`), a run folder, or a solved spot.

    All folders that ``treeplex evaluate`` reads are supported. For trainings without a policy table (ReBeL, DeepStack,
    ``best-response``, ``alphaholdem``, ``blueprint``) the agent is queried at every infoset, as by ``treeplex export``; this is
    slow for search agents.

    Args:
        path: ``.safetensors``, ``.npz``, ``.json``, ``.csv``, a run folder, a training folder, or ``.spot``.
        game: the policy's game; default: the game named in the file or folder.
        complete: play uniformly at infostates missing from a text file, instead of raising an error.

    Returns:
        A :class:`treeplex.Policy`, or for a solved spot its policy on the spot.

    Raises:
        FileError: the file is missing, damaged, of another format version, or its game must be given.
        PolicyError: the policy belongs to another game, lacks an infostate, or is not a distribution somewhere.
    """
    if not isinstance(path, str | os.PathLike):
        raise SpecError(f"load_policy needs the path of a file or folder, not a {type(path).__name__}")
    if (source := source_of(path)) is not None:
        return source.policy(path) if game is None else as_policy(game, path)
    if kind_of(path) == SOLVE.name:
        folder = JobFolder(SOLVE, path)
        game = folder.compiled(game, refine=bool(folder.about()["settings"].get("refine")))
    return load_tree_policy(policy_file(path), game, complete=complete)


def judge(game: AnyGame, policy: AnyPolicy, *, progress: bool | None = None) -> Judgement:
    """Evaluate a policy: exploitability, NashConv, values and best-response values.

    Args:
        game: a spec, rules, a compiled game, or a hold'em spot, whose values are chips against half of the starting pot.
        policy: a policy, solution, mapping, file, run folder, OpenSpiel policy, agent, or ``"uniform"``; see
            :func:`as_policy`.
        progress: False hides progress; None shows it on a terminal or in a notebook, see :func:`treeplex.solve`.

    Returns:
        A :class:`treeplex.evaluate.judge.Judgement`, in the game's units (chips in hold'em).

    Raises:
        PolicyError: the policy does not fit the game.
    """
    with reporting(progress, "judging"):
        return solvable(game).judge(policy)


def tree_of(game: AnyGame) -> CompiledGame:
    """Return the compiled game; raises :class:`GameError` for a hold'em spot, whose infosets are not enumerated."""
    return solvable(game).tree()


def exploitability(game: AnyGame, policy: AnyPolicy, *, progress: bool | None = None) -> float:
    """Return the mean best-response gain over players, in the game's units; takes the arguments of :func:`judge`."""
    return judge(game, policy, progress=progress).exploitability


def nash_conv(game: AnyGame, policy: AnyPolicy, *, progress: bool | None = None) -> float:
    """Return the sum of best-response gains over players, in the game's units; takes the arguments of :func:`judge`."""
    return judge(game, policy, progress=progress).nash_conv


def expected_values(game: AnyGame, policy: AnyPolicy, *, progress: bool | None = None) -> NDArray[np.float64]:
    """Return the expected payoffs, float64 [N], in the game's units; takes the arguments of :func:`judge`."""
    return np.array(judge(game, policy, progress=progress).value)


def best_response(game: AnyGame, policy: AnyPolicy, player: int, *, progress: bool | None = None) -> tuple[float, Any]:
    """Return the best-response value of ``player`` and a policy that attains it; takes the arguments of :func:`judge`."""
    if isinstance(player, bool) or not isinstance(player, int):
        raise SpecError(f"player must be an integer, not {player!r}")
    with reporting(progress, "computing a best response"):
        return solvable(game).best_response(policy, player)


def infostate_regrets(game: AnyGame, policy: AnyPolicy) -> dict[tuple[int, str], float]:
    """Return the regret of every (player, infostate), largest first; takes the arguments of :func:`judge`.

    The regret is the gain of the best action at the infostate, following the policy elsewhere, times the counterfactual reach
    (:func:`treeplex.evaluate.infostate_regrets`).
    """
    compiled = tree_of(game)
    regrets = evaluate.infostate_regrets(compiled, policy_of(compiled, policy))
    by_infostate = {key: float(regrets[infoset]) for key, infoset in compiled.lookup.items()}
    return dict(sorted(by_infostate.items(), key=lambda pair: -pair[1]))


def exact_value(game: AnyGame) -> float:
    """Return the value of a two-player zero-sum game to player 0, by linear programming.

    Raises:
        AlgorithmError: the game has more players or is not constant-sum.
    """
    compiled = tree_of(game)
    solver = make_solver(compiled, "lp")
    solver.run(1)
    return evaluate.judge(compiled, solver.average_policy()).value[0]


def distance_to_value(game: AnyGame, policy: AnyPolicy) -> float:
    """Return player 0's distance from the exact value, in the game's units; takes the arguments of :func:`judge`.

    Raises:
        AlgorithmError: the exact value is not available (see :func:`exact_value`).
    """
    compiled = tree_of(game)
    return abs(judge(compiled, policy).value[0] - exact_value(compiled))
