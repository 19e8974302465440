"""Regret matching in a repeated static game.

Hart and Mas-Colell 2000, "A simple adaptive procedure leading to correlated equilibrium", in the form for unconditional
regrets (Blackwell 1956): play each action in proportion to its positive cumulative regret. Each player's average external
regret goes to zero whatever the others do, so the joint play converges to the set of coarse correlated equilibria, and in
two-player zero-sum games the average strategies converge to optimal ones.
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
    """Simultaneous regret matching in a static game (any number of players, general-sum).

    ``r = values - value of the play``, ``R = R + r``, next policy proportional to ``[R]+``, uniform if that is zero. With
    expected payoffs this is CFR with simultaneous updates and one infoset per player.

    Attributes:
        sampled: whether each round samples one action per player instead of playing mixed strategies; regrets of all actions
            are updated in both cases.
        regrets: float64 [Q], cumulative external regrets.
        policy: float64 [Q], the mixed strategies of the next round.
    """

    updates = "simultaneous"

    def __init__(self, game: CompiledGame, *, sampled: float = 0, seed: int = 0, algorithm: str = "rm") -> None:
        """Start from uniform strategies; ``sampled`` is 0 or 1, ``seed`` is the random seed of sampled actions.

        Raises:
            AlgorithmError: a player has more than one infoset.
            SpecError: ``sampled`` is neither 0 nor 1.
        """
        if sampled not in (0, 1):
            raise SpecError(f"sampled of rm must be 0 (mixed strategies) or 1 (sampled actions), not {sampled!r}")
        most = max(range(game.players), key=lambda player: game.infosets[player])
        if game.infosets[most] > 1:
            raise AlgorithmError(
                f"rm needs a static game with one infoset per player, but in {game} player {most} has {game.infosets[most]:,}; "
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
        """Replace a player's mixed strategy by a sampled action."""
        start, end = (int(n) + 1 for n in self.game.tree.sequence_offsets[player : player + 2])
        actions = slice(start, end - 1)
        if actions.start == actions.stop:
            return
        drawn = Stream(self.seed, t, player).draw()
        action = min(int((self.strategy[actions].cumsum() <= drawn).sum()), actions.stop - actions.start - 1)
        self.strategy[actions] = 0.0
        self.strategy[actions.start + action] = 1.0

    def current_policy(self) -> Policy:
        """Return the mixed strategies of the next round."""
        return Policy(self.game, self.policy.copy())

    def average_regrets(self) -> tuple[float, ...]:
        """Return each player's average external regret per round; may be negative."""
        offsets = self.game.tree.sequence_offsets
        rounds = max(1, self.iteration)
        return tuple(
            float(self.regrets[int(first) + 1 : int(end)].max(initial=0.0 if end == first + 1 else -np.inf)) / rounds
            for first, end in pairwise(offsets)
        )

    def measures(self) -> dict[str, float]:
        """Return each player's average regret, and ``cce_gap``, their maximum.

        The gap is the largest gain from deviating from the joint play of all rounds to one action, at most 0 in a coarse
        correlated equilibrium.
        """
        regrets = self.average_regrets()
        return {f"regret_{player}": regret for player, regret in enumerate(regrets)} | {"cce_gap": max(regrets)}

    def arrays(self) -> dict[str, Floats]:
        """Return regrets, strategies and averages."""
        return {"regrets": self.regrets, "policy": self.policy, "average": self.average}
