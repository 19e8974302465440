"""Best response to a fixed agent by PPO; its winnings in held-out hands are a lower bound on the agent's exploitability.

The agent plays all seats but one, and the response learns in each seat in turn. On a compiled game the agent's policy is
tabulated once, so that episodes run in compiled kernels. Otherwise hands go through
:class:`treeplex.learn.best_response.positions.World`, which queries the agent where it acts, and the network's inputs are the
hashed words of infostate strings. The response plays its most probable action.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from treeplex.base.arrays import Ints, Singles
from treeplex.base.settings import setting
from treeplex.base.workers.executor import Executor
from treeplex.engine.histories.episodes import Episodes
from treeplex.engine.sampling.streams import Stream
from treeplex.forms.compile.stepping import picked
from treeplex.forms.policies.heads import BEST, best_rows
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.policies.views import WORDS, hashed
from treeplex.games.base import Game
from treeplex.learn.best_response.held_out import held_out
from treeplex.learn.best_response.opponents import world_against
from treeplex.learn.best_response.positions import Position, World
from treeplex.learn.neural.fitting.approximator import NETWORK, TABLE
from treeplex.learn.neural.fitting.infosets import Infosets
from treeplex.learn.neural.fitting.policies import AnyProfile, MatrixProfile
from treeplex.learn.neural.gradients.ppo import Ppo, PpoSettings
from treeplex.learn.neural.walks.rules import RulesSampler
from treeplex.learn.neural.walks.sampler import EpisodeBatch, EpisodeOptions, Sampler

BY_NETWORK = {"approximator": NETWORK, "batch": 1024, "rate": 0.001, "critic_rate": 0.001, "entropy": 0.01}
"""Network features of infosets in games that are not compiled."""


@dataclass(frozen=True)
class BestResponseSettings(PpoSettings):
    """Training settings, including the fixed opponent."""

    against: str = setting("uniform", "the fixed agent: a run folder, a policy file or a named agent", fixed=True)
    hands: int = setting(4000, "held-out hands per measurement in all seats, at least 30 in each", low=4, fixed=True)
    steps: int = setting(150, "number of updates, each with several passes over its hands", low=1)
    approximator: str = setting(
        TABLE, "function approximator (uncompiled games need a network)", choices=(TABLE, NETWORK), fixed=True
    )
    batch: int = setting(16_384, "hands per update, in all seats", low=1)
    width: int = setting(64, "units per hidden layer", low=1, fixed=True)
    rate: float = setting(0.05, "step size of the policy", above=0)
    critic_rate: float = setting(0.2, "step size of the values", above=0)
    entropy: float = setting(0.0, "weight of the entropy bonus", low=0)
    every: int | None = setting(25, "updates between measurements (none: ten per power of ten)", low=1)


class BestResponse(Ppo):
    """A best response to a fixed agent, for a lower bound on its exploitability.

    Attributes:
        world: the game and the fixed agent.
        fixed: the agent's policy on a compiled game.
    """

    settings_class = BestResponseSettings
    source = "Timbers et al. 2022, Approximate exploitability: learning a best response; here by PPO without search"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {NETWORK: BY_NETWORK}
    spreads = False
    alone = True

    def __init__(self, game: Game, settings: Any, world: World | None = None) -> None:
        """Create the learner; ``world`` supplies the fixed agent instead of ``settings.against``."""
        self.world = world or world_against(game, settings.against, seed=settings.seed)
        super().__init__(game, settings)
        self.fixed: AnyProfile | None = None
        if self.sampler.numbered:
            self.fixed = MatrixProfile(self.infosets.matrix(self.world.policy_on(self.compiled).probabilities))

    def rules_sampler(self) -> Sampler:
        """Sampler for hands against the agent."""
        return PlaySampler(self.game, self.settings, self.executor, self.world)

    def play(self) -> Episodes:
        """Play hands in each seat in turn; returns episodes that contain only the learner's decisions."""
        learner_seats = np.arange(self.settings.batch) % self.players
        seats = (np.arange(self.players) != learner_seats[:, None]).astype(np.int64)
        played = self.sampler.episodes([self.profile] if self.fixed is None else [self.profile, self.fixed], seats)
        self.look(played.infosets)
        return decisions_of(played.episodes, learner_seats)

    def policy(self) -> Policy | NeuralPolicy:
        """The policy that plays the most probable action."""
        if not self.sampler.numbered:
            return self.sampler.neural_policy([self.resulting.copied_layers()], head=BEST)
        return Policy(self.compiled, self.infosets.table(best_rows(self.current, self.seen.legal)))

    def measure(self) -> Mapping[str, float]:
        """Held-out winnings of the response: gain over the agent's own policy, and value in each seat."""
        policy = self.policy()

        def choose(positions: Sequence[Position], seat: int) -> list[int]:
            return most_probable(policy, positions, seat)

        result = held_out(self.world, choose, self.settings.hands, self.settings.seed)
        values = {f"value_{seat}": value for seat, value in enumerate(result.values)}
        return {"at_least": result.gain, "interval": result.interval, **values}


class PlaySampler(RulesSampler):
    """Sampler for one seat's decisions against a fixed agent, in uncompiled games.

    Attributes:
        world: the game and the agent.
    """

    def __init__(self, game: Game, settings: Any, executor: Executor, world: World) -> None:
        super().__init__(game, settings.changed({"features": WORDS}), executor)
        self.world = world

    def episodes(self, policies: Sequence[AnyProfile], seats: Ints, playing: EpisodeOptions | None = None) -> EpisodeBatch:
        """Play the only policy in the seat marked 0; the agent plays the other seats, and its decisions are not recorded."""
        (policy,), learner_seats = policies, seats.argmin(axis=1).tolist()
        streams = [Stream(self.settings.seed, self.played + number, seat) for number, seat in enumerate(learner_seats)]
        positions = [self.world.begin(seat, stream) for seat, stream in zip(learner_seats, streams, strict=True)]
        taken: list[list[tuple[int, int, float]]] = [[] for _ in learner_seats]
        numbers: dict[tuple[int, str], int] = {}
        met: list[tuple[int, Position]] = []
        known: list[list[float]] = []
        while going := [number for number, position in enumerate(positions) if position.actions]:
            places = []
            for number in going:
                infoset = numbers.setdefault((learner_seats[number], positions[number].infostate), len(met))
                met += [(learner_seats[number], positions[number])] if infoset == len(met) else []
                places.append(infoset)
            if fresh := met[len(known) :]:
                probabilities = policy(self.infosets_of(fresh))
                known += [
                    row[self.view.columns(at.actions)].tolist() for (_, at), row in zip(fresh, probabilities, strict=True)
                ]
            for number, infoset in zip(going, places, strict=True):
                chosen = picked(known[infoset], streams[number].draw())
                column = self.view.column_of[positions[number].actions[chosen]]
                taken[number].append((infoset, column, known[infoset][chosen]))
                positions[number] = positions[number].after(chosen)
        infosets, columns, chances = np.array([decision for play in taken for decision in play]).reshape(-1, 3).T
        counts, none = [len(play) for play in taken], np.full(len(columns), -1, np.int32)
        episodes = Episodes(
            np.append(0, np.cumsum(counts)),
            none,
            np.repeat(np.array(learner_seats, np.int32), counts),
            infosets.astype(np.int32),
            columns.astype(np.int32),
            chances,
            np.array([position.payoffs for position in positions], np.float64),
            np.full(len(learner_seats), -1, np.int32),
            len(learner_seats) + len(columns),
        )
        self.count(episodes.nodes, len(learner_seats))
        return EpisodeBatch(episodes, self.infosets_of(met), np.empty((0, 0)), np.empty((0, 0), np.float32))

    def infosets_of(self, met: Sequence[tuple[int, Position]]) -> Infosets:
        """Infosets at (player, position) pairs."""
        seen = [(self.view.columns(position.actions), hashed(position.infostate)) for _, position in met]
        legal, rows = rows_and_legal(seen, len(self.view.actions), len(self.view.scale))
        return Infosets(np.array([player for player, _ in met], np.int32), rows, legal)


def rows_and_legal(seen: Sequence[tuple[Sequence[int], Singles]], actions: int, features: int) -> tuple[Any, Any]:
    """Legal-action masks, bool [n, actions], and feature rows, float32 [n, features], from lists of (legal columns,
    features)."""
    legal = np.zeros((len(seen), actions), np.bool_)
    for row, (columns, _) in zip(legal, seen, strict=True):
        row[columns] = True
    return legal, np.array([row for _, row in seen], np.float32).reshape(len(seen), features)


def decisions_of(episodes: Episodes, players: Ints) -> Episodes:
    """Keep only the decisions of player ``players[b]`` in each episode b; int64 [B]."""
    selected = episodes.player == np.repeat(players, np.diff(episodes.first))
    first = np.append(0, np.cumsum(selected))[episodes.first]
    columns = {name: getattr(episodes, name)[selected] for name in ("history", "player", "infoset", "action", "probability")}
    return episodes._replace(first=first, **columns)


def most_probable(policy: Policy | NeuralPolicy, positions: Sequence[Position], seat: int) -> list[int]:
    """Index of the response's most probable action at each position."""
    if isinstance(policy, NeuralPolicy):
        columns = [policy.view.columns(entry.actions) for entry in positions]
        seen = [(columns_of_entry, hashed(entry.infostate)) for columns_of_entry, entry in zip(columns, positions, strict=True)]
        legal, rows = rows_and_legal(seen, len(policy.view.actions), len(policy.view.scale))
        played = policy.probabilities(seat, rows, legal)
        return [int(row[columns_of_entry].argmax()) for row, columns_of_entry in zip(played, columns, strict=True)]
    chosen = []
    for position in positions:
        shares = policy[seat, position.infostate]
        chosen.append(max(range(len(position.actions)), key=lambda number: shares[position.actions[number]]))
    return chosen
