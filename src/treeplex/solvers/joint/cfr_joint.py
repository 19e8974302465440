"""CFR-S and CFR-Jr (Celli, Marchesi, Bianchi and Gatti 2019): coarse correlated equilibria of any number of players.

When no player regrets anything, what the players did together, each iteration a joint play with the same weight, is a coarse
correlated equilibrium: no player gains by a strategy chosen before the recommendation. The product of the averages need not be.
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
"""Memory for what was played, where ``keep`` does not say how many iterations are kept."""
FEWEST_KEPT = 64


class JointSolver(Solver):
    """Regret matching of all players at once, whose joint play is what counts.

    The gap needs no plans: gradients are linear in what the others play, so their sum over the iterations, with the sum of what
    each player was paid, gives what any strategy would have earned against the joint play. That is exact and takes O(Q).

    A device needs what was played. Iterations ``s, 2 s, 3 s, ...`` are kept, all of them (s = 1) while there is room for
    ``keep``; when it is full every second goes and s doubles. :meth:`device` is the mixture of those kept.

    Attributes:
        sampled: whether the players' plans are drawn (CFR-S) or their strategies multiplied out (CFR-Jr).
        usual_tilt: where ``tilt`` is not given.
        plus: whether negative regrets are set to zero (regret matching+).
        regrets: float64 [Q], accumulated counterfactual regrets.
        policy: float64 [Q], the current behaviour policy.
        strategy: float64 [Q], its sequence form.
        average: float64 [Q], the sum of what each player played, in sequence form.
        gradients: float64 [Q], the sum of what each sequence would have earned against what the others played.
        earned: float64 [N], the sum of the payoffs.
        kept: [K, Q], what was played at the iterations kept, float64 or (zeros and ones) uint8.
        spacing: int64 [2], s and the number of iterations kept.
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
        """Start from the uniform policy, or near it.

        Args:
            game: the compiled game.
            plus: 1 for regret matching+, 0 for regret matching.
            keep: how many iterations are kept for the device, at least 2; 0 for as many as fit in 16 MB, at least 64.
            tilt: the share, 0 to 1, of a policy drawn at random in that of the first iteration; None for the usual.
            seed: of all that is drawn.
            algorithm: canonical text for reports; None for the name.

        Raises:
            SpecError: a parameter outside these ranges, or more iterations to keep than fit in memory.
        """
        if plus not in (0, 1):
            raise SpecError(f"plus of {self.name} is 0 or 1, not {plus!r}")
        if not (keep == 0 or (2 <= keep < float("inf") and keep == int(keep))):
            raise SpecError(f"keep of {self.name} is a whole number of at least 2, or 0 to fill 16 MB, not {keep!r}")
        tilt = self.usual_tilt if tilt is None else tilt
        if not 0.0 <= tilt <= 1.0:
            raise SpecError(f"tilt of {self.name} is a number from 0 to 1, not {tilt!r}")
        self.game, self.plus, self.seed, self.algorithm = game, bool(plus), seed % (1 << 63), algorithm or self.name
        self.policy = tilted(game, tilt, self.seed)
        self.strategy, self.average, self.regrets, self.gradients = (np.zeros_like(self.policy) for _ in range(4))
        self.earned = np.zeros(game.players)
        for player in range(game.players):
            reach(game.tree, player, self.policy, self.strategy)
        kind = np.uint8 if self.sampled else np.float64
        width = len(self.policy) * np.dtype(kind).itemsize
        rows = int(keep) or max(FEWEST_KEPT, KEPT_BYTES // width)
        rows += rows % 2  # an even number, which half of the rows leave whole
        try:
            self.kept = np.zeros((rows, len(self.policy)), kind)
        except (MemoryError, ValueError) as error:
            size = f"{rows * width / 1e9:,.0f} GB"
            raise SpecError(
                f"keep={keep:g} of {self.name} takes {size} for {game}, more than there is; keep fewer iterations"
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
        """Regrets, policies and sums over the joint play; :meth:`state` adds the iterations kept."""
        names = ("regrets", "policy", "strategy", "average", "gradients", "earned", "spacing")
        return {name: getattr(self, name) for name in names}

    def state(self) -> dict[str, NDArray[Any]]:
        """Copies of :meth:`arrays`, the iteration, and ``kept`` as far as it is filled."""
        return {**super().state(), "kept": self.kept[: self.spacing[1]].copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved state.

        Raises:
            FileError: an array is missing or has another shape; nothing has changed then.
        """
        spacing, kept = state.get("spacing"), state.get("kept")
        if spacing is not None and spacing.shape == self.spacing.shape:
            rows = int(spacing[1])
            found = "none" if kept is None else kept.shape
            if found != (rows, self.kept.shape[1]):
                raise FileError(
                    f"solver state does not fit: array 'kept' should have shape {(rows, self.kept.shape[1])}, found {found}"
                )
            if rows > len(self.kept):
                raise FileError(f"solver state does not fit: it keeps {rows} iterations, this solver {len(self.kept)} at most")
        super().restore(state)
        self.kept[: self.spacing[1]] = state["kept"]

    def current_policy(self) -> Policy:
        """The policy of the next iteration."""
        return Policy(self.game, self.policy.copy())

    def payoffs(self) -> Floats:
        """Average payoffs, float64 [N]; before the first iteration those of the initial strategies."""
        return self._means()[1]

    def gaps(self) -> Floats:
        """Each player's average external regret, float64 [N].

        Negative where following the joint play is better than every such strategy.
        """
        gradients, payoffs = self._means()
        values = gradients.copy()
        best = [best_value(self.game.tree, player, values, self._work.infoset_values) for player in range(self.game.players)]
        return np.array(best) - payoffs

    def measures(self) -> dict[str, float]:
        """``cce_gap``, the greatest of :meth:`gaps`, and ``welfare``, the sum of :meth:`payoffs`."""
        return {"cce_gap": float(self.gaps().max()), "welfare": float(self.payoffs().sum())}

    def device(self, *, most: int = MOST_JOINT_PLANS, samples: int | None = None) -> Device:
        """The joint play of the iterations kept (all of them while ``spacing[0]`` is 1), as a distribution over joint plans.

        Its gap is its own, :func:`treeplex.evaluate.cce.cce_gaps` computes it; that of the solver, up to rounding, while all
        iterations are kept.

        Args:
            most: the largest number of joint plans to write out.
            samples: number of joint plans to draw instead of writing out all, a noisy estimate for large games.

        Raises:
            AlgorithmError: no iteration is kept yet, or too many joint plans.
        """
        strategies = self.kept[: self.spacing[1]]
        if len(strategies) == 0:
            raise AlgorithmError(f"{self.name} has kept no iteration yet; run {self.spacing[0]} at least")
        shares = np.full(len(strategies), 1.0 / len(strategies))
        if samples is None:
            return mixture_device(self.game, strategies, shares, most=most)
        return sampled_device(self.game, strategies, shares, samples, seed=self.seed)

    def notes(self) -> list[str]:
        """Says when not all iterations are kept."""
        if self.spacing[0] == 1:
            return []
        return [
            f"Of {self.iteration:,} iterations {self.spacing[1]:,} are kept for the device (every {self.spacing[0]:,}th); "
            "the gap is that of all. A greater keep keeps more."
        ]

    def _means(self) -> tuple[Floats, Floats]:
        """Mean gradients [Q] and payoffs [N] of the joint play so far, before the first iteration of the first strategies."""
        if self.iteration > 0:
            return self.gradients / self.iteration, self.earned / self.iteration
        gradients, payoffs = np.empty((1, len(self.policy))), np.empty((1, self.game.players))
        product_statistics(self.game.tree, self.game.payoff, self.strategy[None, :], gradients, payoffs)
        return gradients[0], payoffs[0]


def tilted(game: CompiledGame, share: float, seed: int) -> Floats:
    """The uniform policy with a share of one drawn at random (uniformly over each infoset's distributions), float64 [Q]."""
    uniform = uniform_probabilities(game)
    if share == 0.0:
        return uniform
    stream = Stream(seed, 0, game.players)
    drawn = np.array([-np.log1p(-stream.draw()) for _ in uniform])
    return (1.0 - share) * uniform + share * normalised(game, drawn)


class CfrS(JointSolver):
    """CFR-S: each iteration a joint plan is drawn from the current strategies; it is what regrets see and what is counted.

    Plans are drawn from a stream of each iteration and player, so a run continues bit for bit.
    """

    name = "cfr-s"
    sampled = True


class CfrJr(JointSolver):
    """CFR-Jr: CFR of all players at once; each iteration the product of the current strategies is counted.

    The product is written as a distribution over joint plans by splitting each player's strategy into plans with the same
    realisation, and only when :meth:`JointSolver.device` asks for it.

    From the uniform policy, players of a symmetric game do the same for ever, up to rounding. So the first policy is tilted.
    """

    name = "cfr-jr"
    sampled = False
    usual_tilt = 0.1
