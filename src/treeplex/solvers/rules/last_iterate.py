"""Solvers with last-iterate convergence: magnetic mirror descent, and CFR+ with repeated reward transformation."""

import math

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.last_iterate import iterate_mirror, iterate_transformed
from treeplex.engine.tree.sweeps import normalise, reach
from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.solvers.base import Solver, order_of_updates

REFERENCE_EVERY = 100.0
"""Iterations between resets of the reference of RTCFR+ to the current policy."""


class LastIterateSolver(Solver):
    """A solver without averaging: :attr:`strategy` is the result."""

    def __init__(self, game: CompiledGame) -> None:
        self.game, self.strategy = game, np.zeros(len(uniform_probabilities(game)))
        for player in range(game.players):
            reach(game.tree, player, uniform_probabilities(game), self.strategy)

    @property
    def average(self) -> Floats:  # type: ignore[override]
        """The current policy in sequence form, float64 [Q]."""
        return self.strategy

    def last_policy(self, weights: Floats) -> Policy:
        """Convert non-negative weights of sequences to a policy."""
        probabilities = np.empty_like(weights)
        for player in range(self.game.players):
            normalise(self.game.tree, player, weights, probabilities)
        return Policy(self.game, probabilities)


class MirrorDescent(LastIterateSolver):
    """Magnetic mirror descent (Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown and Kroer 2023, arXiv 2206.05825).

    An iteration takes the step ``x = argmax eta <g, x> - eta alpha D(x; magnet) - D(x; x_t)``, D the dilated relative entropy.
    With a fixed magnet the policies converge linearly to the equilibrium in which every player pays ``alpha`` times its
    distance from the magnet. With ``every`` above 0, the magnet is reset to the current policy every ``every`` iterations, and
    the policies converge to an equilibrium of the game. Both need a small ``eta``: the paper proves convergence up to
    ``alpha / L^2``, L the Lipschitz constant of the payoffs' gradients. The default is larger, which suits games whose payoffs
    are multiplied by small chance probabilities; with it matrix games may cycle.

    The paper instead anneals temperature and step size with game-dependent constants, which a moving magnet does not need.
    """

    def __init__(
        self,
        game: CompiledGame,
        *,
        eta: float = 5.0,
        alpha: float = 0.01,
        every: float = 100,
        updates: str = "alternating",
        algorithm: str = "mmd",
    ) -> None:
        """Start from the uniform policy, which is also the first magnet.

        Raises:
            SpecError: the step size is not positive, the temperature or number of iterations is negative, or the order is
                unknown.
        """
        super().__init__(game)
        if not (0.0 < eta < math.inf and 0.0 <= alpha < math.inf and 0.0 <= every < math.inf and every == int(every)):
            raise SpecError(f"mmd needs eta > 0, alpha >= 0 and an integer every >= 0, not {eta!r}, {alpha!r} and {every!r}")
        self.eta, self.alpha, self.every = eta, alpha, every
        self.updates, self.algorithm = order_of_updates(updates), algorithm
        self.logs = np.log(uniform_probabilities(game))
        self.magnet = self.logs.copy()

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations."""
        size, last = len(self.logs), self.iteration + iterations
        state = np.stack([self.logs, self.magnet, self.strategy])
        work = np.empty(size), np.empty((1, size))
        while True:
            moves = self.every and self.iteration and self.iteration % self.every == 0
            if moves and iterations:
                state[1] = state[0]
            upto = min(last, int((self.iteration // self.every + 1) * self.every)) if self.every else last
            steps = np.tile([self.eta, self.alpha], (upto - self.iteration, 1))
            iterate_mirror(self.game.tree, self.game.payoff, steps, self.updates == "alternating", state, *work)
            self.iteration = upto
            if upto >= last:
                break
        self.logs[:], self.magnet[:], self.strategy[:] = state

    def average_policy(self) -> Policy:
        """Return the current policy, since there is no average."""
        return self.last_policy(np.exp(self.logs))

    def arrays(self) -> dict[str, Floats]:
        """Return logarithms of policy and magnet, and the policy's sequence form."""
        return {"logs": self.logs, "magnet": self.magnet, "strategy": self.strategy}


class RewardTransformation(LastIterateSolver):
    """RTCFR+ (Meng et al. 2025, Efficient Last-Iterate Convergence in Solving Extensive-Form Games, NeurIPS).

    CFR+ on payoffs minus ``mu / 2 |x - reference|^2``, over policies that play each action with probability at least ``gamma``.
    Every ``every`` iterations the reference becomes the current strategy, and gamma is halved.
    """

    updates = "alternating"

    def __init__(
        self,
        game: CompiledGame,
        *,
        mu: float = 1e-3,
        gamma: float = 1e-10,
        every: float = REFERENCE_EVERY,
        algorithm: str = "rtcfr+",
    ) -> None:
        """Start from the uniform policy, which is also the first reference.

        Args:
            game: the compiled game.
            mu: regularisation, in the game's units.
            gamma: initial minimum probability of an action.
            every: iterations between changes of the reference.
            algorithm: name for reports.

        Raises:
            SpecError: a constant is out of range.
        """
        super().__init__(game)
        widest = int(game.tree.infoset_layout[:, 2].max(initial=1))
        if not (0.0 <= mu < math.inf and 0.0 <= gamma < 1.0 / widest and 1.0 <= every < math.inf and every == int(every)):
            raise SpecError(
                f"rtcfr+ needs mu >= 0, gamma from 0 to below 1/{widest} (the largest infoset has {widest} actions) and "
                "an integer every >= 1, not "
                f"{mu!r}, {gamma!r} and {every!r}"
            )
        self.mu, self.gamma, self.every, self.algorithm = mu, gamma, int(every), algorithm
        self.policy, self.reference = uniform_probabilities(game), self.strategy.copy()
        self.regrets = np.zeros_like(self.policy)

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations."""
        times = np.arange(self.iteration, self.iteration + iterations)
        epochs = times // self.every
        steps = np.stack(
            [np.full(iterations, self.mu), self.gamma * 0.5**epochs, (times > 0) & (times % self.every == 0)], axis=1
        )
        state = np.stack([self.regrets, self.policy, self.strategy, self.reference])
        iterate_transformed(self.game.tree, self.game.payoff, steps.astype(np.float64), state, np.empty(len(self.policy)))
        self.regrets[:], self.policy[:], self.strategy[:], self.reference[:] = state
        self.iteration += iterations

    def average_policy(self) -> Policy:
        """Return the current policy, including the perturbation, since there is no average."""
        return self.last_policy(self.policy)

    def arrays(self) -> dict[str, Floats]:
        """Return regrets, the policy, its sequence form, and the reference's sequence form."""
        return {"regrets": self.regrets, "policy": self.policy, "strategy": self.strategy, "reference": self.reference}
