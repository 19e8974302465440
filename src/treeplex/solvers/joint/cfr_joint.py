"""CFR-S and CFR-Jr (Celli, Marchesi, Bianchi and Gatti 2019): coarse correlated equilibria of any number of players.

If no player has regret, the uniform mixture of the joint plays of all iterations is a coarse correlated equilibrium: no player
gains by committing to a strategy before the recommendation. The product of the average strategies need not be one.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.plans.joint import JointPlay, iterate_jointly
from treeplex.engine.plans.plans import product_statistics
from treeplex.engine.sampling.streams import Stream
from treeplex.engine.tree.form import new_state, workspace
from treeplex.engine.tree.regret import Weights
from treeplex.engine.tree.sweeps import best_value, reach
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.correlation.device import Device
from treeplex.forms.correlation.mixtures import MOST_JOINT_PLANS, mixture_device, sampled_device
from treeplex.forms.policies.tabular import Policy, normalised, uniform_probabilities
from treeplex.solvers.base import Solver

KEPT_BYTES = 1 << 24
"""Default memory for stored joint plays, in bytes."""
FEWEST_KEPT = 64


class JointSolver(Solver):
    """Simultaneous regret matching of all players, whose result is the joint play.

    The gap needs no plans: gradients are linear in the others' strategies, so their sum over iterations and the sum of payoffs
    give the payoff of any strategy against the joint play, exactly and in O(Q).

    A device needs the joint plays. Iterations ``s, 2 s, 3 s, ...`` are stored, at first all of them (s = 1). When ``keep``
    iterations are stored, every second one is dropped and s doubles. :meth:`device` is the mixture of the stored iterations.

    Attributes:
        sampled: whether plans are sampled (CFR-S) or strategies are multiplied out (CFR-Jr).
        usual_tilt: default of ``tilt``.
        plus: whether negative regrets are set to zero (regret matching+).
        regrets: float64 [Q], cumulative counterfactual regrets.
        policy: float64 [Q], the current behaviour policy.
        strategy: float64 [Q], its sequence form.
        average: float64 [Q], the sum of each player's strategies in sequence form.
        gradients: float64 [Q], the sum of gradients against the others' play.
        earned: float64 [N], the sum of the payoffs.
        kept: [K, Q], the stored strategies, float64 or uint8 (zeros and ones).
        spacing: int64 [2], s and the number of stored iterations.
    """

    name: str
    sampled: bool
    usual_tilt: float = 0.0
    updates = "simultaneous"
    objective = "cce_gap"

    def __init__(
        self,
        game: CompiledGame,
        *,
        plus: float = 0,
        keep: float = 0,
        tilt: float | None = None,
        seed: int = 0,
        algorithm: str | None = None,
    ) -> None:
        """Start from the uniform policy or a perturbation of it.

        Args:
            game: the compiled game.
            plus: 1 for regret matching+, 0 for regret matching.
            keep: number of iterations stored for the device, at least 2; 0 for as many as fit in 16 MB, at least 64.
            tilt: weight, 0 to 1, of a random policy in the first policy; None for the default.
            seed: random seed.
            algorithm: canonical spec for reports; None for the name.

        Raises:
            SpecError: a parameter is out of range, or ``keep`` iterations do not fit in memory.
        """
        if plus not in (0, 1):
            raise SpecError(f"plus of {self.name} must be 0 or 1, not {plus!r}")
        if not (keep == 0 or (2 <= keep < float("inf") and keep == int(keep))):
            raise SpecError(f"keep of {self.name} must be an integer of at least 2, or 0 to fill 16 MB, not {keep!r}")
        tilt = self.usual_tilt if tilt is None else tilt
        if not 0.0 <= tilt <= 1.0:
            raise SpecError(f"tilt of {self.name} must be a number from 0 to 1, not {tilt!r}")
        self.game, self.plus, self.seed, self.algorithm = game, bool(plus), seed % (1 << 63), algorithm or self.name
        self.policy = tilted(game, tilt, self.seed)
        self.strategy, self.average, self.regrets, self.gradients = (np.zeros_like(self.policy) for _ in range(4))
        self.earned = np.zeros(game.players)
        for player in range(game.players):
            reach(game.tree, player, self.policy, self.strategy)
        kind = np.uint8 if self.sampled else np.float64
        width = len(self.policy) * np.dtype(kind).itemsize
        rows = int(keep) or max(FEWEST_KEPT, KEPT_BYTES // width)
        rows += rows % 2  # an even number, so that half of the rows is an integer
        try:
            self.kept = np.zeros((rows, len(self.policy)), kind)
        except (MemoryError, ValueError) as error:
            size = f"{rows * width / 1e9:,.0f} GB"
            raise SpecError(
                f"keep={keep:g} of {self.name} needs {size} for {game}, more than the available memory; lower keep"
            ) from error
        self.spacing = np.array([1, 0], np.int64)
        self._row = np.array(Weights(floor=float(self.plus)))
        self._state = new_state(self.policy, regrets=self.regrets, strategy=self.strategy, averages=self.average[None])
        self._joint, self._work = JointPlay(self.gradients, self.earned, self.kept, self.spacing), workspace(game.tree)

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations."""
        iterate_jointly(
            self.game.tree,
            self.game.payoff,
            self._row,
            self.iteration + 1,
            iterations,
            self.seed,
            self.sampled,
            self._state,
            self._joint,
            self._work,
        )
        self.iteration += iterations

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return regrets, policies and sums over the joint play; :meth:`state` adds the stored iterations."""
        names = ("regrets", "policy", "strategy", "average", "gradients", "earned", "spacing")
        return {name: getattr(self, name) for name in names}

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of :meth:`arrays`, the iteration, and the filled part of ``kept``."""
        return {**super().state(), "kept": self.kept[: self.spacing[1]].copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved state.

        Raises:
            FileError: an array is missing or has another shape; the solver is then unchanged.
        """
        spacing, plans = state.get("spacing"), state.get("kept")
        if spacing is not None and spacing.shape == self.spacing.shape:
            rows = int(spacing[1])
            shape = "none" if plans is None else plans.shape
            if shape != (rows, self.kept.shape[1]):
                raise FileError(
                    f"solver state does not fit: array 'kept' should have shape {(rows, self.kept.shape[1])}, found {shape}"
                )
            if rows > len(self.kept):
                raise FileError(
                    f"solver state does not fit: it stores {rows} iterations, but this solver stores at most {len(self.kept)}"
                )
        super().restore(state)
        self.kept[: self.spacing[1]] = state["kept"]

    def current_policy(self) -> Policy:
        """Return the policy of the next iteration."""
        return Policy(self.game, self.policy.copy())

    def payoffs(self) -> Floats:
        """Return average payoffs, float64 [N]; before the first iteration those of the initial strategies."""
        return self._means()[1]

    def gaps(self) -> Floats:
        """Return each player's average external regret, float64 [N].

        It is negative if following the joint play is better than every fixed strategy.
        """
        gradients, payoffs = self._means()
        values = gradients.copy()
        best = [best_value(self.game.tree, player, values, self._work.infoset_values) for player in range(self.game.players)]
        return np.array(best) - payoffs

    def measures(self) -> dict[str, float]:
        """Return ``cce_gap``, the maximum of :meth:`gaps`, and ``welfare``, the sum of :meth:`payoffs`."""
        return {"cce_gap": float(self.gaps().max()), "welfare": float(self.payoffs().sum())}

    def device(self, *, most: int = MOST_JOINT_PLANS, samples: int | None = None) -> Device:
        """Return the stored joint play (all iterations if ``spacing[0]`` is 1) as a distribution over joint plans.

        Its gap, computed by :func:`treeplex.evaluate.cce.cce_gaps`, equals the solver's up to rounding only if all iterations
        are stored.

        Args:
            most: maximum number of joint plans of an exact device.
            samples: number of joint plans to sample instead, a noisy estimate for large games.

        Raises:
            AlgorithmError: no iteration is stored yet, or there are too many joint plans.
        """
        strategies = self.kept[: self.spacing[1]]
        if len(strategies) == 0:
            raise AlgorithmError(f"{self.name} has not stored an iteration yet; run at least {self.spacing[0]} iterations")
        shares = np.full(len(strategies), 1.0 / len(strategies))
        if samples is None:
            return mixture_device(self.game, strategies, shares, most=most)
        return sampled_device(self.game, strategies, shares, samples, seed=self.seed)

    def notes(self) -> list[str]:
        """Return a note if not all iterations are stored."""
        if self.spacing[0] == 1:
            return []
        return [
            f"{self.spacing[1]:,} of {self.iteration:,} iterations are stored for the device (every {self.spacing[0]:,}th), "
            "and the gap is that of all iterations. Raise keep to store more."
        ]

    def _means(self) -> tuple[Floats, Floats]:
        """Return mean gradients [Q] and payoffs [N] of the joint play so far, or of the initial strategies."""
        if self.iteration > 0:
            return self.gradients / self.iteration, self.earned / self.iteration
        gradients, payoffs = np.empty((1, len(self.policy))), np.empty((1, self.game.players))
        product_statistics(self.game.tree, self.game.payoff, self.strategy[None, :], gradients, payoffs)
        return gradients[0], payoffs[0]


def tilted(game: CompiledGame, share: float, seed: int) -> Floats:
    """Return a mixture of the uniform policy and a random policy (uniform on each simplex), float64 [Q]."""
    uniform = uniform_probabilities(game)
    if share == 0.0:
        return uniform
    stream = Stream(seed, 0, game.players)
    drawn = np.array([-np.log1p(-stream.draw()) for _ in uniform])
    return (1.0 - share) * uniform + share * normalised(game, drawn)


class CfrS(JointSolver):
    """CFR-S: each iteration samples a joint plan from the current strategies for regrets and the joint play.

    Random streams depend on iteration and player, so resumed runs are bit-identical.
    """

    name = "cfr-s"
    sampled = True


class CfrJr(JointSolver):
    """CFR-Jr: simultaneous CFR of all players; each iteration adds the product of the current strategies to the joint play.

    :meth:`JointSolver.device` converts products to distributions over joint plans by decomposing each player's strategy into
    realisation-equivalent mixtures of plans.

    From the uniform policy, players of a symmetric game would play identically forever, up to rounding, so the first policy is
    tilted.
    """

    name = "cfr-jr"
    sampled = False
    usual_tilt = 0.1
