"""Fitness of a discount policy: a weighted mean over its exploitabilities on the training games."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.spec import nearest
from treeplex.engine.tree.learned import LOWEST, play_episode
from treeplex.errors import AlgorithmError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.solvers import make_solver
from treeplex.solvers.rules.discount_policy import DiscountPolicy

KINDS = ("log", "relative")
SMALLEST = 1e-300
"""Smallest exploitability without a floor, which keeps logarithms finite. Rounding errors then decide between tiny values."""


@dataclass(frozen=True, eq=False)
class Fitness:
    """``sum_i w_i (top_i - ln max(e_i, floor)) / span_i / sum_i w_i`` over games i; higher is better.

    ``log``, the paper's reward (Xu et al. 2024, section 3.1): ``top = ln E_1``, ``span = 1``. E_1 is the exploitability after
    the first iteration. With alternating updates both players play uniformly in it, so E_1 is that of the uniform policy.

    ``relative``, the objective of the authors' code: ``top = ln e_CFR``, ``span = ln e_CFR - ln e_DCFR``, where CFR and DCFR
    run for the same number of iterations (computed here rather than read from result files). A fitness of 0 matches CFR, 1
    matches DCFR.

    Attributes:
        weights, top, span: float64 [G].
        floor: smaller exploitabilities count as this; 1e-12 in the paper, none in the authors' code.
    """

    weights: Floats
    top: Floats
    span: Floats
    floor: float = LOWEST

    def of(self, exploitability: Floats) -> Floats:
        """Fitness, [...], of final exploitabilities, [..., G], in game units."""
        gains = (self.top - np.log(np.maximum(exploitability, self.floor))) / self.span
        total = np.zeros(gains.shape[:-1])
        for game, weight in enumerate(self.weights):
            total += weight * gains[..., game]
        mean: Floats = total / self.weights.sum()
        return mean


def fitness_on(
    games: Sequence[CompiledGame],
    horizon: int,
    *,
    kind: str = "log",
    weights: Sequence[float] | None = None,
    floor: float = LOWEST,
) -> Fitness:
    """Create the fitness over a list of games.

    Args:
        games: the training games.
        horizon: iterations per episode.
        kind: ``log`` or ``relative``, see :class:`Fitness`.
        weights: weight of each game; None for equal weights. The authors' code uses weight 3 for Kuhn poker and 1 for the other
            games.
        floor: smaller exploitabilities count as this; 0 for none.

    Raises:
        SpecError: unknown kind, or weights that are not one positive number per game.
        AlgorithmError: ``relative`` is used with a game where DCFR does not improve on CFR.
    """
    if kind not in KINDS:
        raise SpecError(f"unknown fitness {kind!r}{nearest(kind, KINDS)}")
    share = np.ones(len(games)) if weights is None else np.array(weights, np.float64)
    if len(share) != len(games) or not (np.isfinite(share) & (share > 0)).all():
        given = ", ".join(f"{weight:g}" for weight in share)
        raise SpecError(f"weights must be one number above 0 for each of {len(games)} games in their order, not {given}")
    floor = max(floor, SMALLEST)
    if kind == "log":
        first = [uniform_exploitability(game) for game in games]
        return Fitness(share, np.log(np.maximum(first, floor)), np.ones(len(games)), floor)
    top, bottom = (np.log([max(reached(game, name, horizon), floor) for game in games]) for name in ("cfr", "dcfr"))
    for game, span in zip(games, top - bottom, strict=True):
        if not span > 0:
            raise AlgorithmError(
                f"fitness 'relative' needs games in which DCFR beats CFR, but on {game} it does not within "
                f"{horizon} iterations; remove the game or use fitness 'log'"
            )
    return Fitness(share, top, top - bottom, floor)


def reached(game: CompiledGame, algorithm: str, iterations: int) -> float:
    """Exploitability of an algorithm's average policy after ``iterations`` iterations."""
    solver = make_solver(game, algorithm, horizon=iterations, updates="alternating", seed=0)
    solver.run(iterations)
    return float(judge(game, solver.average_policy()).exploitability)


def training_games(specs: Sequence[str], *, named_in: str | os.PathLike[str] | None = None) -> list[CompiledGame]:
    """Compile the training games; ``named_in`` is the file that lists the games (see ``forms.sources.load.load``).

    Raises:
        SpecError: no game is given, a game is given twice, or a game is unknown.
        AlgorithmError: a game is not two-player zero-sum.
    """
    if not specs:
        raise SpecError("no game to train on; give at least one")
    games = [compile_game(spec, named_in=named_in) for spec in specs]
    for number, game in enumerate(games):
        if game.players != 2 or not game.zero_sum:
            what = f"has {game.players} players" if game.players != 2 else "is not zero-sum"
            raise AlgorithmError(
                f"{specs[number]} {what}; discount policies are trained on two-player zero-sum games, such "
                "as kuhn_poker, leduc_poker, liars_dice, goofspiel, battleship or small_matrix"
            )
        if not uniform_exploitability(game) > LOWEST:
            raise AlgorithmError(
                f"on {specs[number]} the uniform policy is an equilibrium, so there is nothing to learn; remove it"
            )
        if game.identity in {other.identity for other in games[:number]}:
            raise SpecError(f"{specs[number]} is given twice; use weights to make a game count more")
    return games


def uniform_exploitability(game: CompiledGame) -> float:
    """Exploitability of the uniform policy."""
    return float(judge(game, Policy(game, uniform_probabilities(game))).exploitability)


def exploitability_of(policy: DiscountPolicy, games: Sequence[CompiledGame]) -> Floats:
    """Exploitability that a discount policy reaches on each game at the game's horizon, float64 [G]."""
    return np.array([play_episode(game.tree, game.payoff, policy.compiled, policy.horizon) for game in games])
