"""Regret matching on its own: a static game played again and again, everybody following their regrets.

Hart and Mas-Colell 2000, "A simple adaptive procedure leading to correlated equilibrium", in the form for unconditional
regrets (Blackwell 1956): play each action with probability proportional to how much better it would have been, so far, than
what was played; positive parts only. Each player's average external regret goes to zero, whatever the others do, so that the
joint play approaches the coarse correlated equilibria; of two-player zero-sum games the average strategies are optimal.
"""

from itertools import pairwise

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.sampling.streams import Stream
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import normalise, reach
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.solvers.base import Solver


class RegretMatching(Solver):
    """Simultaneous play of a static game (any number of players, general sums), each by regret matching.

    ``r = values - value of what was played``, ``R = R + r``, next policy proportional to ``[R]+``, uniform where that is zero.
    With expected payoffs this is CFR with simultaneous updates on a game of one infoset a player.

    Attributes:
        sampled: whether one action a player is drawn and played in each round, instead of the whole mixed strategy; what every
            action would have brought is seen all the same.
        regrets: float64 [Q], accumulated external regrets.
        policy: float64 [Q], the mixed strategies of the next round.
    """

    updates = "simultaneous"

    def __init__(self, game: CompiledGame, *, sampled: float = 0, seed: int = 0, algorithm: str = "rm") -> None:
        """Start from uniform strategies; ``sampled`` is 0 or 1, ``seed`` for drawing actions.

        Raises:
            AlgorithmError: some player has more than one infoset.
            SpecError: ``sampled`` is neither 0 nor 1.
        """
        if sampled not in (0, 1):
            raise SpecError(f"sampled of rm is 0 (mixed strategies meet) or 1 (drawn actions meet), not {sampled!r}")
        most = max(range(game.players), key=lambda player: game.infosets[player])
        if game.infosets[most] > 1:
            raise AlgorithmError(
                f"rm plays static games, one infoset a player, and in {game} player {most} has {game.infosets[most]:,}; "
                "use cfr, which is regret matching at every infoset"
            )
        self.game, self.algorithm, self.sampled, self.seed = game, algorithm, bool(sampled), seed
        self.objective = "exploitability" if game.players == 2 and game.constant is not None else "cce_gap"
        self.policy = uniform_probabilities(game)
        self.strategy, self.average, self.regrets = (np.zeros_like(self.policy) for _ in range(3))
        self._values = workspace(game.tree).values

    def run(self, iterations: int) -> None:
        """Play ``iterations`` more rounds."""
        tree, payoff = self.game.tree, self.game.payoff
        for t in range(self.iteration + 1, self.iteration + iterations + 1):
            for player in range(self.game.players):
                reach(tree, player, self.policy, self.strategy)
                if self.sampled:
                    self._draw(t, player)
            for player in range(self.game.players):
                gradient(tree, payoff, player, self.strategy, self._values)
            inner = tree.sequence_infoset >= 0
            got = np.bincount(
                tree.sequence_infoset[inner],
                weights=self.strategy[inner] * self._values[inner],
                minlength=len(self.game.infostates),
            )
            self.regrets[inner] += self._values[inner] - got[tree.sequence_infoset[inner]]
            self.average += self.strategy
            for player in range(self.game.players):
                normalise(tree, player, np.maximum(self.regrets, 0.0), self.policy)
            self.iteration = t

    def _draw(self, t: int, player: int) -> None:
        """Replace a player's mixed strategy by an action drawn from it."""
        start, end = (int(n) + 1 for n in self.game.tree.sequence_offsets[player : player + 2])
        own = slice(start, end - 1)
        if own.start == own.stop:
            return
        drawn = Stream(self.seed, t, player).draw()
        action = min(int((self.strategy[own].cumsum() <= drawn).sum()), own.stop - own.start - 1)
        self.strategy[own] = 0.0
        self.strategy[own.start + action] = 1.0

    def current_policy(self) -> Policy:
        """The mixed strategies of the next round."""
        return Policy(self.game, self.policy.copy())

    def average_regrets(self) -> tuple[float, ...]:
        """Each player's external regret a round: what the best single action would have brought more; may be negative."""
        offsets = self.game.tree.sequence_offsets
        rounds = max(1, self.iteration)
        return tuple(
            float(self.regrets[int(first) + 1 : int(end)].max(initial=0.0 if end == first + 1 else -np.inf)) / rounds
            for first, end in pairwise(offsets)
        )

    def measures(self) -> dict[str, float]:
        """The average regret of each player and ``cce_gap``, the largest.

        That is the most anybody gains who leaves the joint play of all rounds for one action: 0 in a coarse correlated
        equilibrium.
        """
        regrets = self.average_regrets()
        return {f"regret_{player}": regret for player, regret in enumerate(regrets)} | {"cce_gap": max(regrets)}

    def arrays(self) -> dict[str, Floats]:
        """Regrets, strategies and averages."""
        return {"regrets": self.regrets, "policy": self.policy, "average": self.average}
