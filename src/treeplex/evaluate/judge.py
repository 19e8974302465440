"""Best responses, exploitability, NashConv and expected values of a policy on a compiled game."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.notebook import table
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import best_response as best_response_sweep
from treeplex.engine.tree.sweeps import reach, value_and_best_response
from treeplex.errors import PolicyError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy


@dataclass(frozen=True)
class Judgement:
    """Result of :func:`judge`, in the game's units.

    Attributes:
        exploitability: mean best-response gain over players (ReBeL section 7; DDCFR section 5.2).
        nash_conv: sum of best-response gains.
        value: expected payoff of each player under the policy.
        best_response_values: expected payoff of each player's best response to the others.
    """

    exploitability: float
    nash_conv: float
    value: tuple[float, ...]
    best_response_values: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        """Each player's best-response gain; NashConv is their sum."""
        return tuple(best - value for best, value in zip(self.best_response_values, self.value, strict=True))

    def _repr_html_(self) -> str:
        rows = zip(range(len(self.value)), self.value, self.best_response_values, self.gains, strict=True)
        cells = ((str(player), f"{value:+.8g}", f"{best:+.8g}", f"{gain:.4g}") for player, value, best, gain in rows)
        caption = f"exploitability {self.exploitability:.4g}, NashConv {self.nash_conv:.4g}"
        return table(("player", "value", "best response", "gain"), cells, caption)


def judge(game: CompiledGame, policy: Policy) -> Judgement:
    """Evaluate a policy with one reach, gradient and best-response sweep per player.

    Raises:
        PolicyError: the policy belongs to another game.
    """
    check_game(game, policy)
    strategy, (values, infoset_values, _) = np.empty_like(policy.probabilities), workspace(game.tree)
    results = np.empty((2, game.players))
    value_and_best_response(game.tree, game.payoff, policy.probabilities, strategy, values, infoset_values, results)
    results[1] = np.maximum(results[1], results[0])  # rounding: the best-response value is at least the policy's value
    gains = results[1] - results[0]
    return Judgement(
        exploitability=float(gains.mean()),
        nash_conv=float(gains.sum()),
        value=tuple(map(float, results[0])),
        best_response_values=tuple(map(float, results[1])),
    )


def best_response(game: CompiledGame, policy: Policy, player: int) -> tuple[float, Policy]:
    """Compute a best response of ``player`` to the others.

    Returns:
        The expected payoff, and ``policy`` with the player's part replaced by a pure best response.

    Raises:
        PolicyError: unknown player, or the policy belongs to another game.
    """
    check_game(game, policy)
    if not 0 <= player < game.players:
        raise PolicyError(f"no player {player} in {game}; its players are 0 to {game.players - 1}")
    strategy, work = np.empty_like(policy.probabilities), workspace(game.tree)
    for other in range(game.players):
        reach(game.tree, other, policy.probabilities, strategy)
    gradient(game.tree, game.payoff, player, strategy, work.values)
    response = policy.probabilities.copy()
    value = best_response_sweep(game.tree, player, work.values, work.infoset_values, response)
    return float(value), Policy(game, response)


def check_game(game: CompiledGame, policy: Policy) -> None:
    """Check that a policy belongs to the game."""
    if policy.game is not game and policy.game.identity != game.identity:
        raise PolicyError(f"this is a policy for {policy.game}, not for {game}; solve or load one for this game")
