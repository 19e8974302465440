"""The judge for everybody: games by name, policies of any kind."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treeplex import evaluate
from treeplex.errors import PolicyError, SpecError
from treeplex.evaluate import Judgement
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.files import load_policy
from treeplex.forms.policies.plain import probabilities_of
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.openspiel import same_rules, transferred
from treeplex.games.base import Game
from treeplex.runs.job.folder import kind_of
from treeplex.runs.solve.settings import POLICY
from treeplex.solvers import make_solver

if TYPE_CHECKING:
    from treeplex.runs.solve.solution import Solution

AnyGame: TypeAlias = str | Game | CompiledGame | Sequence[Any] | NDArray[Any]
"""A spec, rules, or a compiled game; a payoff matrix or a pair of them; an OpenSpiel game works as well."""
AnyPolicy: TypeAlias = "Policy | Solution | Mapping[Any, Mapping[int, float]] | str | os.PathLike[str] | Any"
"""A policy or a solution; ``{infostate: {action: probability}}`` (or keys (player, infostate)), actions by id or name;
``"uniform"``; a policy file or run folder; an OpenSpiel policy."""
UNIFORM = "uniform"


def holds_policy(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with a run that has a policy: on a compiled game, on rules, or by a learner of one's own."""
    return kind_of(path) in ("solve", "sample", "own learner")


def as_policy(game: AnyGame, policy: AnyPolicy, *, complete: bool = False) -> Policy:
    """Any kind of policy as a policy of ``game``.

    Args:
        game: a spec, rules, or a compiled game.
        policy: a policy, solution, mapping, file, run folder, OpenSpiel policy, or ``"uniform"``.
        complete: play uniformly at infostates that a mapping or a file written by hand lacks, instead of refusing it.

    Raises:
        PolicyError: it belongs to another game, misses an infostate, or is no distribution somewhere.
        FileError: a file that cannot be read.
    """
    game = compile_game(game)
    inner = getattr(policy, "policy", policy)
    if isinstance(inner, Policy):
        if inner.game is game:
            return inner
        if inner.game.identity != game.identity:
            if same_rules(inner.game.spec, game.spec):
                return transferred(inner, game)
            raise PolicyError(f"this is a policy for {inner.game}, not for {game}; solve or load one for this game")
        return Policy(game, inner.probabilities)
    if isinstance(policy, str | os.PathLike):
        return Policy.uniform(game) if policy == UNIFORM else load_policy(policy_file(policy), game, complete=complete)
    if isinstance(policy, Mapping):
        return Policy(game, probabilities_of(game, policy, complete=complete))
    if hasattr(policy, "action_probabilities") or hasattr(policy, "policy_table"):
        from treeplex.forms.sources.openspiel import from_tabular_policy

        return from_tabular_policy(game, policy)
    raise PolicyError(f"cannot read a policy from {type(policy).__name__}; give a Policy, a Solution, a mapping or a file")


def policy_file(path: str | os.PathLike[str]) -> Path:
    """The policy file that ``path`` names: itself, or the one in a run folder."""
    return Path(path) / POLICY if holds_policy(path) else Path(path)


def judge(game: AnyGame, policy: AnyPolicy) -> Judgement:
    """Judge a policy: exploitability, NashConv, values, best-response values.

    Args:
        game: a spec, rules, or a compiled game.
        policy: a policy, solution, mapping, file, run folder, OpenSpiel policy, or ``"uniform"``.

    Raises:
        PolicyError: the policy does not fit the game.
    """
    compiled = compile_game(game)
    return evaluate.judge(compiled, as_policy(compiled, policy))


def exploitability(game: AnyGame, policy: AnyPolicy) -> float:
    """Mean over players of what a best response gains, in game units; arguments as for :func:`judge`."""
    return judge(game, policy).exploitability


def nash_conv(game: AnyGame, policy: AnyPolicy) -> float:
    """Sum over players of what a best response gains, in game units; arguments as for :func:`judge`."""
    return judge(game, policy).nash_conv


def expected_values(game: AnyGame, policy: AnyPolicy) -> NDArray[np.float64]:
    """Expected payoff of each player, float64 [N], in game units; arguments as for :func:`judge`."""
    return np.array(judge(game, policy).value)


def best_response(game: AnyGame, policy: AnyPolicy, player: int) -> tuple[float, Policy]:
    """The best that ``player`` can get against the others, and the policy that gets it; arguments as for :func:`judge`."""
    compiled = compile_game(game)
    if isinstance(player, bool) or not isinstance(player, int):
        raise SpecError(f"player must be a whole number, not {player!r}")
    return evaluate.best_response(compiled, as_policy(compiled, policy), player)


def infostate_regrets(game: AnyGame, policy: AnyPolicy) -> dict[tuple[int, str], float]:
    """Where a policy loses: the regret of every (player, infostate), the largest first; arguments as for :func:`judge`.

    What the player would gain by the best action there, the policy followed elsewhere, times the probability that chance
    and the others lead there (:func:`treeplex.evaluate.infostate_regrets`).
    """
    compiled = compile_game(game)
    regrets = evaluate.infostate_regrets(compiled, as_policy(compiled, policy))
    found = {key: float(regrets[infoset]) for key, infoset in compiled.lookup.items()}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def exact_value(game: AnyGame) -> float:
    """The value of a two-player zero-sum game to player 0, by linear programming.

    Raises:
        AlgorithmError: more players, or payoffs without a constant sum.
    """
    compiled = compile_game(game)
    solver = make_solver(compiled, "lp")
    solver.run(1)
    return evaluate.judge(compiled, solver.average_policy()).value[0]


def distance_to_value(game: AnyGame, policy: AnyPolicy) -> float:
    """How far player 0's expected payoff under a policy is from the exact value, in game units; arguments as for :func:`judge`.

    Raises:
        AlgorithmError: the game has no exact value here (see :func:`exact_value`).
    """
    compiled = compile_game(game)
    return abs(judge(compiled, policy).value[0] - exact_value(compiled))
