"""Policy-space response oracles: each player's pool of strategies grows by best responses to mixtures over the other pools.

Each step solves the meta-game (:mod:`treeplex.learn.neural.responses.meta_solvers`), computes responses to the other players'
mixtures, adds them to the pools, and computes their payoffs. Payoffs are exact, from sweeps of the compiled game, where the
paper estimates them from simulated games. With exact responses and ``meta=nash`` it is the double oracle algorithm (McMahan,
Gordon and Blum 2003); with ``meta=uniform`` it is fictitious play. Learned responses come from Q-learning in episodes against
the mixtures, and are trained from scratch each time. The result is the mixture as one behaviour policy.

In uncompiled games (:class:`SimulatedPools`) strategies are greedy policies of value networks, payoffs are means over
playthroughs, as in the paper, and pools start with untrained networks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.settings import setting
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.errors import AlgorithmError
from treeplex.evaluate.judge import best_response
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.heads import BEST
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.games.base import Game
from treeplex.learn.neural.fitting.policies import (
    AnyProfile,
    MatrixProfile,
    NetworkLists,
    NetworkValues,
    PlayerPolicy,
    Profile,
)
from treeplex.learn.neural.frame import NeuralLearner, NeuralSettings
from treeplex.learn.neural.responses.meta_solvers import META_SOLVERS
from treeplex.learn.neural.responses.q_learning import QLearning

EXACT, LEARNED = "exact", "learned"


@dataclass(frozen=True)
class PsroSettings(NeuralSettings):
    """Settings of PSRO."""

    steps: int = setting(100, "number of responses that each player adds", low=1)
    oracle: str = setting(EXACT, "how responses are computed: exact best responses, or Q-learning", choices=(EXACT, LEARNED))
    plays: int = setting(500, "episodes per batch for learning a response", low=1)
    batches: int = setting(20, "batches for learning a response", low=1)
    explore: float = setting(0.2, "probability of a random action while a response is learned", low=0, high=1)
    fits: int = setting(20, "gradient steps per batch", low=1)
    simulated: int = setting(
        200, "playthroughs that estimate a strategy profile's payoffs (uncompiled games only)", low=1, added=True
    )
    meta: str = setting("nash", "meta-solver that mixes the strategies in each pool", choices=tuple(META_SOLVERS))


class Pools:
    """All players' strategies and their payoffs.

    Attributes:
        payoffs: float64 [N, K0, K1, ...], each player's payoff for all strategy profiles.
        found: int64 [K] for each player, how often each strategy was a computed response.
    """

    found: list[NDArray[np.int64]]

    def __init__(self, learner: "PSRO") -> None:
        self.learner, self.players = learner, range(learner.players)
        self.payoffs: Floats = np.empty((learner.players, *[0] * learner.players))


class ExactPools(Pools):
    """Pools of a compiled game, with exact payoffs.

    Attributes:
        of: float64 [K, q] for each player, strategies in sequence form over the player's own q sequences.
    """

    def __init__(self, learner: "PSRO") -> None:
        """Start with the uniform policy in each pool."""
        super().__init__(learner)
        uniform = learner.table_of(learner.uniform())
        self.of = [learner.sequence_form(player, uniform)[None] for player in self.players]
        self.found = [np.ones(1, np.int64) for _ in self.players]
        self.payoffs = pool_payoffs(learner.compiled, self.of, self.payoffs)

    def respond(self, mixed: Sequence[Floats]) -> None:
        """Add each player's response to the others' mixtures, float64 [K] per player, and compute payoffs."""
        learner, policy = self.learner, self.policy(mixed)
        for player in self.players:
            if learner.settings.oracle == EXACT:
                answer = best_response(learner.compiled, policy, player)[1].probabilities
            else:
                answer = self.learned(player, policy)
            response = learner.sequence_form(player, answer)
            known = (self.of[player] == response).all(axis=1)
            if known.any():
                self.found[player] += known
            else:
                self.of[player] = np.concatenate((self.of[player], response[None]))
                self.found[player] = np.append(self.found[player], 1)
        self.payoffs = pool_payoffs(learner.compiled, self.of, self.payoffs)

    def learned(self, player: int, policy: Policy) -> Floats:
        """A player's response learned from episodes against the others' policies, float64 [Q], with 1 for the others'
        sequences."""
        learner = self.learner
        others = MatrixProfile(learner.infosets.matrix(policy.probabilities))
        seats = np.zeros((learner.settings.plays, learner.players), np.int64)
        response = learner.learned(player, [others], lambda: seats, learner.settings.plays * learner.compiled.size.depth)
        greedy = Profile([response.exploring(0.0) if seat == player else None for seat in self.players])
        return learner.infosets.table(greedy(learner.infosets))

    def policy(self, mixed: Sequence[Floats]) -> Policy:
        """The mixtures as one behaviour policy."""
        mixture = np.concatenate([weights @ pool for weights, pool in zip(mixed, self.of, strict=True)])
        return Policy(self.learner.compiled, normalised(self.learner.compiled, mixture))

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        arrays: dict[str, NDArray[Any]] = {"payoffs": self.payoffs}
        for player, (pool, counts) in enumerate(zip(self.of, self.found, strict=True)):
            arrays |= {f"pool.{player}": pool, f"found.{player}": counts}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`."""
        self.of = [np.array(arrays[f"pool.{player}"], np.float64) for player in self.players]
        self.found = [np.array(arrays[f"found.{player}"], np.int64) for player in self.players]
        self.payoffs = np.array(arrays["payoffs"])


class SimulatedPools(Pools):
    """Pools of an uncompiled game: greedy policies of value networks, with payoffs estimated by playthroughs.

    Attributes:
        networks: each player's networks, the same number for all players.
    """

    def __init__(self, learner: "PSRO") -> None:
        """Start with one untrained network per player."""
        super().__init__(learner)
        self.networks = NetworkLists(learner.players)
        self.keep([learner.sampler.approximator(player, learner.generator) for player in self.players])
        self.fill()

    def profiles(self) -> list[Profile]:
        """Strategy profiles: the k-th combines all players' k-th strategies."""
        features = self.learner.sampler.inputs(0).width
        return [
            Profile([PlayerPolicy(NetworkValues(features, layers), BEST) for layers in member])
            for member in zip(*self.networks.of, strict=True)
        ]

    def respond(self, mixed: Sequence[Floats]) -> None:
        """Add a learned response for each player; each training episode samples the others' strategies from their mixtures."""
        learner, settings, profiles = self.learner, self.learner.settings, self.profiles()

        def seats() -> Ints:
            return np.stack([learner.generator.choice(len(mixture), settings.plays, p=mixture) for mixture in mixed], axis=1)

        room = settings.plays * settings.batches
        self.keep([learner.learned(player, profiles, seats, room).approximator for player in self.players])
        self.fill()

    def keep(self, networks: Sequence[Any]) -> None:
        """Add a network for each player."""
        self.networks.keep([network.copied_layers() for network in networks])

    def fill(self) -> None:
        """Estimate the payoffs of new strategy profiles."""
        learner, count, known = self.learner, len(self.networks), self.payoffs.shape[1]
        choices = [mean for mean in product(range(count), repeat=learner.players) if max(mean) >= known]
        payoffs = np.zeros((learner.players, *[count] * learner.players))
        old: list[Any] = [slice(None), *[slice(known)] * learner.players]
        payoffs[tuple(old)] = self.payoffs
        seats = np.repeat(np.array(choices, np.int64), learner.settings.simulated, axis=0)
        paid = learner.sampler.episodes(self.profiles(), seats).episodes.payoffs
        means = paid.reshape(len(choices), learner.settings.simulated, -1).mean(axis=1)
        if learner.sampler.constant is not None and learner.players == 2:
            means[:, 1] = learner.sampler.constant - means[:, 0]
        for choice, mean in zip(choices, means, strict=True):
            cell: list[Any] = [slice(None), *choice]
            payoffs[tuple(cell)] = mean
        self.payoffs, self.found = payoffs, [np.ones(count, np.int64) for _ in self.players]

    def policy(self, mixed: Sequence[Floats]) -> NeuralPolicy:
        """The mixtures as one policy."""
        return self.learner.sampler.neural_policy(self.networks.members, head=BEST, weights=np.stack(mixed, axis=1))

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        return {"payoffs": self.payoffs, **self.networks.state()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`."""
        self.networks.restore(arrays)
        self.payoffs = np.array(arrays["payoffs"])
        self.found = [np.ones(len(self.networks), np.int64) for _ in self.players]


class PSRO(NeuralLearner):
    """Policy-space response oracles: best responses to the meta-game's solutions over earlier responses.

    Attributes:
        pools: all players' strategies, and their payoffs.
        mixed: float64 [K] for each player, the mixture over its pool.
    """

    settings_class = PsroSettings
    spreads = True
    walks_rules: ClassVar[bool] = True
    source = "Lanctot et al. 2017, A unified game-theoretic approach to multiagent reinforcement learning (NIPS 2017)"

    def __init__(self, game: Game, settings: PsroSettings) -> None:
        super().__init__(game, settings)
        if not self.sampler.numbered and settings.oracle == EXACT:
            raise AlgorithmError(
                f"oracle={EXACT} sweeps all infosets, but {game} is sampled from its rules; set oracle={LEARNED}"
            )
        self.pools: ExactPools | SimulatedPools = ExactPools(self) if self.sampler.numbered else SimulatedPools(self)
        self.mix()

    @property
    def countable(self) -> Sequence[str]:
        """Units of effort: histories and episodes with learned responses, none with exact ones."""
        return super().countable if self.settings.oracle == LEARNED else ()

    def step(self) -> None:
        """Add each player's response to the others' mixtures, and update the mixtures."""
        self.pools.respond(self.mixed)
        self.mix()

    def mix(self) -> None:
        """Solve the game between the pools."""
        self.mixed = META_SOLVERS[self.settings.meta](self.pools.payoffs, self.pools.found)

    def learned(self, player: int, others: Sequence[AnyProfile], seats: Callable[[], Ints], room: int) -> QLearning:
        """Learn a player's response from episodes against the other players.

        Args:
            player: the learning player.
            others: policies.
            seats: function that draws, for each batch, the index of the policy that each player follows, int64 [B, N].
            room: maximum number of transitions.
        """
        settings, response = self.settings, QLearning(self, player, room)
        for _ in range(settings.batches):
            exploring = response.exploring(settings.explore)
            own_profile = Profile([exploring if seat == player else None for seat in range(self.players)])
            followed = seats().copy()
            followed[:, player] = len(others)
            response.see(self.sampler.episodes([*others, own_profile], followed))
            response.learn(settings.fits)
            response.refresh()
        return response

    def policy(self) -> Policy | NeuralPolicy:
        """The mixtures as one behaviour policy."""
        return self.pools.policy(self.mixed)

    def measure(self) -> Mapping[str, float]:
        """Exploitability of the mixture, and the number of strategies in all pools."""
        return {**super().measure(), "pool": float(sum(map(len, self.pools.found)))}

    def state(self) -> Mapping[str, NDArray[Any]]:
        return {**super().state(), **self.pools.state()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().restore(arrays)
        self.pools.restore(arrays)
        self.mix()


def pool_payoffs(game: CompiledGame, pools: Sequence[Floats], known: Floats) -> Floats:
    """Payoffs of all strategy profiles: for each combination of the others' strategies, the gradient is multiplied by the
    player's own pool.

    Args:
        game: the game of N players.
        pools: float64 [K, q] for each player, strategies in sequence form.
        known: float64 [N, k0, k1, ...], known payoffs of the first strategies in each pool.

    Returns:
        float64 [N, K0, K1, ...], in the game's units.
    """
    sizes, offsets = [len(pool) for pool in pools], game.tree.sequence_offsets
    payoffs, strategy, values = np.empty((game.players, *sizes)), np.empty(int(offsets[-1])), workspace(game.tree).values
    payoffs[(slice(None), *(slice(count) for count in known.shape[1:]))] = known
    for player, pool in enumerate(pools):
        player_slice, others = (
            slice(offsets[player], offsets[player + 1]),
            [other for other in range(game.players) if other != player],
        )
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
            payoffs[(player, *cells)] = pool[first:] @ values[player_slice]
    return payoffs
