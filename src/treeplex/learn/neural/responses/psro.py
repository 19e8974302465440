"""Policy-space response oracles: pools of strategies grow by responses to how the pools are mixed.

A step: solve the game between the pools (:mod:`treeplex.learn.neural.responses.meta_solvers`), respond to the other players'
mixtures, add the responses to the pools and fill in their payoffs. Payoffs are exact, by sweeps of the compiled game, where
the paper simulates plays. With exact responses and ``meta=nash`` it is the double oracle algorithm (McMahan, Gordon and Blum
2003); with ``meta=uniform`` it is fictitious play. Learned responses are what Q-learning makes of episodes against the
mixtures, starting anew each time. The result is the mixture, as one behaviour policy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.evaluate.judge import best_response
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.approximator import make_approximator
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings
from treeplex.learn.neural.responses.meta_solvers import META_SOLVERS
from treeplex.learn.neural.responses.q_learning import QLearning, transitions
from treeplex.settings import setting

Floats = NDArray[np.float64]


EXACT, LEARNED = "exact", "learned"


@dataclass(frozen=True)
class PsroSettings(NeuralSettings):
    """What a training is asked to do."""

    steps: int = setting(100, "responses that each player adds", low=1)
    oracle: str = setting(EXACT, "what responds: best responses, or Q-learning", choices=(EXACT, LEARNED))
    plays: int = setting(500, "episodes of a batch by which a response is learned", low=1)
    batches: int = setting(20, "batches by which a response is learned", low=1)
    explore: float = setting(0.2, "probability of a random action while a response is learned", low=0, high=1)
    fits: int = setting(20, "gradient steps for a batch", low=1)
    meta: str = setting("nash", "how the strategies of a pool are mixed", choices=tuple(META_SOLVERS))


class PSRO(NeuralLearner):
    """Policy-space response oracles: best responses to mixtures of earlier ones; the mixture is solved as a static game.

    Attributes:
        pools: for each player float64 [K, q], strategies in sequence form over the player's own q sequences.
        payoffs: float64 [N, K0, K1, ...], what each player gets from all choices of strategies.
        found: for each player int64 [K], how often each strategy was found.
        mixed: for each player float64 [K], how its pool is mixed.
    """

    settings_class = PsroSettings
    spreads = True
    source = "Lanctot et al. 2017, A unified game-theoretic approach to multiagent reinforcement learning (NIPS 2017)"

    def __init__(self, game: Game, settings: PsroSettings) -> None:
        super().__init__(game, settings)
        self.pools = [self.sequence_form(player, self.uniform())[None] for player in range(self.compiled.players)]
        self.found = [np.ones(1, np.int64) for _ in self.pools]
        self.payoffs = np.empty((self.compiled.players, *[0] * len(self.pools)))
        self.mix()

    def step(self) -> None:
        """Add a response of each player to the mixtures of the others, and mix anew."""
        policy = self.policy()
        respond = self.best if self.settings.oracle == EXACT else self.learned
        for player in range(self.compiled.players):
            response = self.sequence_form(player, respond(player, policy))
            known = (self.pools[player] == response).all(axis=1)
            if known.any():
                self.found[player] += known
            else:
                self.pools[player] = np.concatenate((self.pools[player], response[None]))
                self.found[player] = np.append(self.found[player], 1)
        self.mix()

    def mix(self) -> None:
        """Fill in payoffs, and solve the game between the pools."""
        self.payoffs = pool_payoffs(self.compiled, self.pools, self.payoffs)
        self.mixed = META_SOLVERS[self.settings.meta](self.payoffs, self.found)

    def best(self, player: int, policy: Policy) -> Floats:
        """A policy of slots in which a player plays a best response to the others."""
        return best_response(self.compiled, policy, player)[1].probabilities[self.slots]

    def learned(self, player: int, policy: Policy) -> Floats:
        """A policy of slots in which a player plays a response to the others that it has learned from episodes."""
        settings, game = self.settings, self.compiled
        response = QLearning(make_approximator(self.inputs(player), settings, self.generator), settings.plays * game.size.depth)
        policies, follows = np.stack((policy.probabilities,) * 2), np.zeros((settings.plays, game.players), np.int64)
        follows[:, player], own = 1, self.slots[self.slots_of(player)]
        for _ in range(settings.batches):
            policies[1, own] = response.exploring(settings.explore)
            episodes = self.episodes(policies, follows)
            response.see(*transitions(episodes, player, self.first, self.infosets_of(player).start))
            response.learn(settings.fits)
            response.refresh()
            self.count(episodes.nodes, settings.plays)
        policies[1, own] = response.exploring(0.0)
        return np.asarray(policies[1, self.slots])

    def policy(self) -> Policy:
        """The mixtures as one behaviour policy: strategies in sequence form, averaged."""
        mixture = np.concatenate([weights @ pool for weights, pool in zip(self.mixed, self.pools, strict=True)])
        return Policy(self.compiled, normalised(self.compiled, mixture))

    def measure(self) -> Mapping[str, float]:
        """Exploitability of the mixture, and strategies in all pools."""
        return {**super().measure(), "pool": float(sum(map(len, self.pools)))}

    def state(self) -> Mapping[str, NDArray[Any]]:
        """The pools and their payoffs; mixtures follow."""
        pools = {f"pool.{player}": pool for player, pool in enumerate(self.pools)}
        return (
            pools
            | {f"found.{player}": found for player, found in enumerate(self.found)}
            | self.counts()
            | {"payoffs": self.payoffs}
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up pools, and mix them."""
        self.pools = [np.array(arrays[f"pool.{player}"], np.float64) for player in range(len(self.pools))]
        self.found = [np.array(arrays[f"found.{player}"], np.int64) for player in range(len(self.pools))]
        self.payoffs = np.array(arrays["payoffs"])
        self.restore_counts(arrays)
        self.mix()


def pool_payoffs(game: CompiledGame, pools: Sequence[Floats], known: Floats) -> Floats:
    """What all choices of strategies from pools pay: a gradient for each choice of the others', times the player's own pool.

    Args:
        game: of N players.
        pools: for each player float64 [K, q], strategies in sequence form.
        known: float64 [N, k0, k1, ...], payoffs of the first strategies of each pool.

    Returns:
        float64 [N, K0, K1, ...], in the game's units.
    """
    sizes, offsets = [len(pool) for pool in pools], game.tree.sequence_offsets
    payoffs, strategy, values = np.empty((game.players, *sizes)), np.empty(int(offsets[-1])), workspace(game.tree).values
    payoffs[(slice(None), *(slice(count) for count in known.shape[1:]))] = known
    for player, pool in enumerate(pools):
        own, others = slice(offsets[player], offsets[player + 1]), [other for other in range(game.players) if other != player]
        for choice in product(*(range(sizes[other]) for other in others)):
            old = all(number < known.shape[1 + other] for other, number in zip(others, choice, strict=True))
            first = known.shape[1 + player] if old else 0
            if first == len(pool):
                continue
            for other, number in zip(others, choice, strict=True):
                strategy[offsets[other] : offsets[other + 1]] = pools[other][number]
            gradient(game.tree, game.payoff, player, strategy, values)
            cells: list[int | slice] = list(choice)
            cells.insert(player, slice(first, None))
            payoffs[(player, *cells)] = pool[first:] @ values[own]
    return payoffs
