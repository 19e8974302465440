"""What learners that fit networks share: slots, inputs, counts, and policies from slots; or walks by the rules."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.notices import notify
from treeplex.base.settings import setting
from treeplex.base.workers.executor import Executor
from treeplex.engine.histories.episodes import Episodes
from treeplex.engine.histories.form import Histories
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.policies.tabular import Policy, normalised, uniform_probabilities
from treeplex.forms.policies.views import Probed, probe
from treeplex.games.base import Game
from treeplex.learn.learner import Learner
from treeplex.learn.neural.features import KINDS, ONE_HOT, USUAL, infoset_features
from treeplex.learn.neural.fitting.approximator import TABLE, Inputs, NetworkSettings
from treeplex.learn.neural.kinds_of_game import PolicyJudge, kind_of_game
from treeplex.learn.neural.walks.ground import CompiledGround, Ground, RulesGround
from treeplex.learn.neural.walks.jobs import WALKS, Walked, WalkedGame, WalkKind, joined_episodes, play_part
from treeplex.learn.neural.walks.rules_jobs import SpreadWalks
from treeplex.learn.neural.walks.rules_walks import RulesWalks
from treeplex.solvers.sampling.solver import laid_out

PARTS = 4
"""Into how many parts for each worker episodes are split."""


@dataclass(frozen=True)
class NeuralSettings(NetworkSettings):
    """How long a training is, what networks see, and the seed."""

    steps: int = setting(100, "iterations", low=1)
    nodes: int = setting(0, "stop once so many histories were walked, whatever steps says; 0: not", low=0)
    episodes: int = setting(0, "stop once so many walks or playthroughs were made, whatever steps says; 0: not", low=0)
    every: int | None = setting(None, "steps between measurements; none: ten per power of ten", low=1)
    features: str = setting(USUAL, "what networks see of an infoset", choices=KINDS, fixed=True)
    rules: bool | None = setting(
        None, "walk by the rules, not the compiled game; none: where it has too many histories", fixed=True, added=True
    )
    exact: bool = setting(True, "measure exploitability where the game can be compiled", fixed=True, added=True)
    seed: int = setting(0, "seed of everything random", low=0, fixed=True)


class NeuralLearner(Learner):
    """A learner whose walks follow a policy of slots: the actions of each infoset side by side, infosets in compiled order.

    A class that sets :attr:`walks_rules` also learns games that have too many histories to be compiled. There nothing is
    numbered and no game is compiled, save to be judged; :attr:`by_rules` walks.

    Attributes:
        walks_rules: whether the class can learn by the rules alone.
        for_teams: whether it is made for games in which everybody is paid the same.
        by_rules: walks by the rules; None where histories are stored.
        first: int64 [I+1], the first slot of each infoset.
        slots: int64 [S], the sequence of each slot.
        histories: the game's, whose decisions have infosets as keys.
        walked, played: histories walked and walks or playthroughs made so far; on the records ``nodes`` and ``episodes``.
    """

    settings: Any
    walks_rules: ClassVar[bool] = False
    for_teams: ClassVar[bool] = False

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.walked = self.played = 0
        self.by_rules = self.make_walks()
        if self.by_rules is None:
            layout, _, self.slots = laid_out(self.compiled, "history")
            self.first: Ints = np.append(layout.infosets[:, 0], len(self.slots))
            self.histories: Histories = histories_of(self.compiled)
            self._walked = self.executor.share(WalkedGame.of(self.compiled, self.compiled.spec))
        self.check_game()
        if self.cooperative and not self.for_teams:
            notify(f"everybody is paid the same in {game}: each player learns for itself; coma and a2c are made for such games")
        elif not self.cooperative and (self.players > 2 or (self.players == 2 and self.constant is None)):
            kind = f"{self.players} players" if self.players > 2 else "general sums"
            notify(f"{game} has {kind}: each player learns for itself, and what they come to need not be an equilibrium")

    def spread_over(self, executor: Executor, spec: str) -> None:
        super().spread_over(executor, spec)
        if self.by_rules is None:
            self._walked = executor.share(WalkedGame.of(self.compiled, spec))
        else:
            self.by_rules.spread_over(executor, spec)

    def walks(
        self, function: Callable[..., Walked], shared: Sequence[Floats | Ints], kind: WalkKind, first: int, count: int
    ) -> Iterator[Walked]:
        """What walks find that workers make, some at a time in the order of their numbers, and counted.

        Args:
            function: of :mod:`treeplex.learn.neural.walks.jobs`.
            shared: its arguments that all walks share.
            kind: of walks.
            first, count: the number of the first, and how many.
        """
        own = [self.executor.share(each) for each in shared]
        starts = range(first, first + count, WALKS)
        jobs = ((self._walked, *own, kind, start, min(start + WALKS, first + count)) for start in starts)
        for found in self.executor.map(function, jobs):
            self.count(found.nodes, found.walks)
            yield found
        for each in own:
            self.executor.forget(each)

    def episodes(self, policies: Floats, seats: Ints) -> Episodes:
        """Episodes that workers play, numbered by the count and not counted yet.

        Args:
            policies: float64 [E, Q].
            seats: int64 [B, N], the policy that each player follows in each episode.
        """
        shared = self.executor.share(policies)
        step = len(seats) if self.executor.size == 1 else -(-len(seats) // (PARTS * self.executor.size))
        starts, seed = range(0, len(seats), step), self.settings.seed
        jobs = ((self._walked, shared, seats[start : start + step], seed, self.played + start) for start in starts)
        found = joined_episodes(list(self.executor.map(play_part, jobs)))
        self.executor.forget(shared)
        return found

    def make_walks(self) -> SpreadWalks | None:
        """Walks by the rules, where the settings or the size of the game ask for them.

        Raises:
            AlgorithmError: this learner needs a compiled game, or a table in place of networks does; or the game has none.
        """
        wanted, name = self.settings.rules, type(self).__name__
        if not kind_of_game(self.game).by_rules(wanted):
            return None
        why = "" if wanted else f" of {self.game}, which are too many to store"
        if not self.walks_rules:
            raise AlgorithmError(f"{name} needs the whole game{why}; take deep-cfr, nfsp or ppo, which walk by the rules")
        for setting_name, value in (("approximator", TABLE), ("features", ONE_HOT)):
            if getattr(self.settings, setting_name) == value:
                raise AlgorithmError(f"{setting_name}={value} needs all histories{why}; leave it out")
        return SpreadWalks(RulesWalks(turn_by_turn(self.game), self.probed.view), self.game.spec, self.executor)

    @cached_property
    def ground(self) -> Ground:
        """Where the learner walks."""
        return CompiledGround(self) if self.by_rules is None else RulesGround(self, self.by_rules)

    @cached_property
    def probed(self) -> Probed:
        """What random playthroughs by the rules show of infosets and payoffs."""
        return probe(turn_by_turn(self.game), None if self.settings.features == USUAL else self.settings.features)

    @property
    def players(self) -> int:
        """How many."""
        return self.game.num_players

    @property
    def constant(self) -> float | None:
        """What payoffs sum to, None where they do not always sum to the same; by the rules as far as was seen."""
        return self.compiled.constant if self.by_rules is None else self.probed.constant

    @cached_property
    def cooperative(self) -> bool:
        """Whether all players are always paid the same; by the rules as far as was seen."""
        if self.by_rules is not None:
            return self.probed.cooperative and self.players > 1
        payoffs = self.histories.payoffs
        return bool((payoffs == payoffs[:, :1]).all() and payoffs.any()) and self.players > 1

    @property
    def identity(self) -> str:
        """Of the game: of its rules' name where it is not compiled."""
        return super().identity if self.by_rules is None else str(self.game)

    @cached_property
    def judging(self) -> PolicyJudge | None:
        """What policies are judged by; None where that takes too long, which is said, or nothing is to be."""
        return kind_of_game(self.game).judge(self.compiled_to_judge) if self.settings.exact else None

    def compiled_to_judge(self) -> CompiledGame:
        """The compiled game, with infosets that networks can be asked for.

        Raises:
            GameError: it is too large, or its infosets say too little.
        """
        if self.by_rules is not None:
            self.probed.view.rows_of(self.compiled, 0, 1)
        return self.compiled

    def measure(self) -> Mapping[str, float]:
        return {} if self.judging is None else {"exploitability": self.judging.exploitability(self.policy())}

    def check_game(self) -> None:
        """Refuse games that the learner is not defined for; any game will do, unless a class overrides it.

        Raises:
            AlgorithmError: it is not defined for this one.
        """

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """What networks see of each infoset, float32 [I, F]."""
        return infoset_features(self.compiled, self.settings.features)

    @cached_property
    def scale(self) -> float:
        """The largest payoff in size, by the rules that which was seen: networks learn values divided by it."""
        if self.by_rules is not None:
            return self.probed.largest
        return float(np.abs(self.histories.payoffs).max(initial=0.0)) or 1.0

    def slots_of(self, player: int) -> slice:
        """The slots of a player's infosets."""
        begin, end = self.compiled.tree.infoset_offsets[player : player + 2]
        return slice(int(self.first[begin]), int(self.first[end]))

    def infosets_of(self, player: int) -> slice:
        """The infosets of a player."""
        begin, end = self.compiled.tree.infoset_offsets[player : player + 2]
        return slice(int(begin), int(end))

    def inputs(self, player: int) -> Inputs:
        """A player's infosets, numbered from 0, as places of an approximator; actions of one id share an output."""
        own, slots = self.infosets_of(player), self.slots_of(player)
        first = self.first[own.start : own.stop + 1] - self.first[own.start]
        actions = self.compiled.action_ids[self.slots[slots]]
        return Inputs(self.features[own], first, np.unique(actions, return_inverse=True)[1])

    def uniform(self) -> Floats:
        """The uniform policy, float64 [S]."""
        return np.asarray(uniform_probabilities(self.compiled)[self.slots])

    def policy_of(self, probabilities: Floats) -> Policy:
        """Probabilities of slots, or weights of them at least 0, as a policy."""
        weights = np.ones(len(self.compiled.action_ids))
        weights[self.slots] = probabilities
        return Policy(self.compiled, normalised(self.compiled, weights))

    def sequence_form(self, player: int, probabilities: Floats) -> Floats:
        """With which probability a player's own actions lead to each sequence under a policy of slots; float64 [Q_player]."""
        weights = np.ones(len(self.compiled.action_ids))
        weights[self.slots] = probabilities
        found = np.empty_like(weights)
        reach(self.compiled.tree, player, weights, found)
        return found[self.sequences_of(player)]

    def sequences_of(self, player: int) -> slice:
        """The sequences of a player, the empty one first."""
        begin, end = self.compiled.tree.sequence_offsets[player : player + 2]
        return slice(int(begin), int(end))

    def count(self, walked: int, played: int) -> None:
        """Count histories walked, and walks or playthroughs."""
        self.walked, self.played = self.walked + walked, self.played + played

    def effort(self) -> Mapping[str, int]:
        return {"nodes": self.walked, "episodes": self.played}

    def counts(self) -> dict[str, NDArray[Any]]:
        """The counts, for :meth:`state`."""
        return {"counts": np.array([self.walked, self.played])}

    def restore_counts(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put counts back that :meth:`counts` gave."""
        self.walked, self.played = (int(number) for number in arrays["counts"])


def check_zero_sum(learner: NeuralLearner, name: str) -> None:
    """Refuse a game that is not of two players whose payoffs sum to a constant.

    Raises:
        AlgorithmError: it is another one.
    """
    if learner.players != 2 or learner.constant is None:
        kind = f"{learner.players} players" if learner.players != 2 else "general sums"
        raise AlgorithmError(f"{name} learns games of two players whose payoffs sum to a constant; {learner.game} has {kind}")


def named(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays with ``prefix.`` before their names."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays that :func:`named` named so, by their own names."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
