"""Sampling of uncompiled games as worker jobs; results depend only on the seed and the job's numbers, not on the worker.

Batch sizes do not depend on the number of workers, since the last bit of a network's output for a row depends on the other rows
in the batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.base.workers.executor import Executor
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.policies.neural import Layers, NeuralPolicy
from treeplex.forms.policies.views import View, probe
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.learn.neural.features import USUAL
from treeplex.learn.neural.fitting.approximator import Approximator, Network, RowInputs
from treeplex.learn.neural.fitting.infosets import Infosets
from treeplex.learn.neural.fitting.policies import AnyProfile
from treeplex.learn.neural.walks.compiled import join_episodes
from treeplex.learn.neural.walks.rules_walks import RulesWalks
from treeplex.learn.neural.walks.sampler import EpisodeBatch, EpisodeOptions, Sampler, Walks

EPISODES = 32
"""Episodes per job."""
JOBS, AT_FIRST, ROWS = 16, 2, 1 << 15
"""Number of jobs per round of external sampling, initial number of traversals per job, and target number of rows per round.

Small batches waste network calls: a single traversal queries one infoset at a time and takes 1.5 times as long. After each
round the number of traversals per job doubles if the round gave fewer than ``ROWS`` rows, and halves otherwise."""


@dataclass(frozen=True, eq=False)
class WorkerRules:
    """Worker state: the rules, which each worker loads once from their spec, and the view that computes network features. Only
    spec and view are pickled."""

    spec: str
    view: View

    @classmethod
    def of(cls, walks: RulesWalks, spec: str) -> "WorkerRules":
        """Wrap rules that this process has already loaded."""
        wrapped = cls(spec, walks.view)
        wrapped.__dict__["walks"] = walks
        return wrapped

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerRules, (self.spec, self.view)

    @cached_property
    def walks(self) -> RulesWalks:
        """The traversals on the loaded rules."""
        return RulesWalks(turn_by_turn(load(self.spec).walkable_rules()), self.view)


def play_rules(
    game: WorkerRules, policies: Sequence[AnyProfile], seats: Ints, playing: EpisodeOptions, number: int
) -> EpisodeBatch:
    """Play episodes in a worker; see :meth:`treeplex.learn.neural.walks.rules_walks.RulesWalks.episodes`."""
    return game.walks.episodes(policies, seats, playing, number)


def walk_rules(game: WorkerRules, policy: AnyProfile, player: int, walks: range, seed: int) -> Walks:
    """Run traversals in a worker; see :meth:`treeplex.learn.neural.walks.rules_walks.RulesWalks.external`."""
    return game.walks.external(policy, player, walks, seed)


class RulesSampler(Sampler):
    """Sampler for games too large to compile. Infosets are identified by their network features.

    Attributes:
        view: function that computes a state's network features.
        about: metadata of policies: the rules' identity, where they have one.
    """

    numbered = False

    def __init__(self, game: Game, settings: Any, executor: Executor) -> None:
        super().__init__(settings)
        probed = probe(turn_by_turn(game), None if settings.features == USUAL else settings.features)
        self.spec, self.view, self.players = game.spec, probed.view, game.num_players
        identity = getattr(game, "identity", None)  # hold'em spots; a spec does not identify these
        self.about = {} if identity is None else {"identity": identity}
        self.scale, self.constant = probed.largest, probed.constant
        self.cooperative = probed.cooperative and self.players > 1
        self._walks = RulesWalks(turn_by_turn(game), probed.view)
        self.infosets = self._walks.no_infosets()
        self.spread_over(executor, game.spec)

    def spread_over(self, executor: Executor, spec: str) -> None:
        self._executor, self._shared = executor, executor.share(WorkerRules.of(self._walks, spec))

    def inputs(self, player: int) -> RowInputs:
        return RowInputs(len(self.view.scale), len(self.view.actions))

    def external(self, policy: AnyProfile, player: int, walks: range) -> Iterator[Walks]:
        shared, together, left = self._executor.share(policy), AT_FIRST, walks
        try:
            while left:
                chosen, left = left[: JOBS * together], left[JOBS * together :]
                starts = range(0, len(chosen), together)
                jobs = ((self._shared, shared, player, chosen[i : i + together], self.settings.seed) for i in starts)
                rows = 0
                for batch in self._executor.map(walk_rules, jobs):
                    rows += len(batch.places)
                    self.count(batch.nodes, batch.walks)
                    yield batch._replace(values=batch.values / np.float32(self.scale))
                together = 2 * together if rows < ROWS else max(together // 2, 1)
        finally:
            self._executor.forget(shared)

    def episodes(self, policies: Sequence[AnyProfile], seats: Ints, playing: EpisodeOptions | None = None) -> EpisodeBatch:
        playing = playing or EpisodeOptions(self.settings.seed)
        shared, starts = self._executor.share(tuple(policies)), range(0, len(seats), EPISODES)
        jobs = ((self._shared, shared, seats[start : start + EPISODES], playing, self.played + start) for start in starts)
        try:
            batch = join_batches(list(self._executor.map(play_rules, jobs)))
        finally:
            self._executor.forget(shared)
        self.count(batch.episodes.nodes, len(seats))
        return batch

    def check_judged(self, game: CompiledGame) -> None:
        self.view.rows_of(game, 0, 1)

    def fixed(self, policy: AnyProfile) -> AnyProfile:
        return policy

    def result(self, averages: Sequence[Approximator | None]) -> NeuralPolicy:
        even = self.inputs(0).constant(1.0).layers
        layers = [average.copied_layers() if isinstance(average, Network) else even for average in averages]
        return self.neural_policy(layers)

    def neural_policy(self, networks: Sequence[Layers], **options: Any) -> NeuralPolicy:
        return NeuralPolicy(self.spec, self.players, self.view, networks, self.about, **options)


def join_batches(parts: Sequence[EpisodeBatch]) -> EpisodeBatch:
    """Concatenate batches of episodes; an infoset that occurs in several batches is listed once."""
    if len(parts) == 1:
        return parts[0]
    numbers: dict[bytes, int] = {}
    places = [number_infosets(numbers, part.infosets) for part in parts]
    _, first = np.unique(np.concatenate(places), return_index=True)
    infosets = Infosets.joined([part.infosets for part in parts]).at(first)
    policy = np.zeros(infosets.legal.shape)
    for part_numbers, part in zip(reversed(places), reversed(parts), strict=True):
        queried = part.policy.any(axis=1)
        policy[part_numbers[queried]] = part.policy[queried]
    episodes = [
        part.episodes._replace(infoset=part_numbers[part.episodes.infoset])
        for part_numbers, part in zip(places, parts, strict=True)
    ]
    return EpisodeBatch(join_episodes(episodes), infosets, policy, np.concatenate([part.histories for part in parts]))


def number_infosets(numbers: dict[bytes, int], infosets: Infosets) -> NDArray[np.int32]:
    """Look up infoset numbers, int32 [P]; new infosets are added to ``numbers`` in order."""
    rows = np.concatenate([infosets.player[:, None].astype(np.float32), infosets.rows()], axis=1)
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int32)
