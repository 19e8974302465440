"""Base class for learners that train networks: settings, sampling, evaluation, effort counts, and slots of a compiled game."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.notices import notify
from treeplex.base.settings import setting
from treeplex.base.workers.executor import Executor
from treeplex.engine.histories.form import Histories
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.policies.tabular import Policy, normalised, uniform_probabilities
from treeplex.games.base import Game
from treeplex.learn.learner import Learner
from treeplex.learn.neural.features import KINDS, ONE_HOT, USUAL
from treeplex.learn.neural.fitting.approximator import TABLE, NetworkSettings
from treeplex.learn.neural.fitting.infosets import GameInfosets
from treeplex.learn.neural.fitting.policies import AnyProfile
from treeplex.learn.neural.kinds_of_game import PolicyJudge, kind_of_game
from treeplex.learn.neural.walks.compiled import CompiledSampler
from treeplex.learn.neural.walks.rules import RulesSampler
from treeplex.learn.neural.walks.sampler import Sampler


@dataclass(frozen=True)
class NeuralSettings(NetworkSettings):
    """Settings for training length, features, sampling and seed."""

    steps: int = setting(100, "iterations", low=1)
    nodes: int = setting(0, "limit on histories visited, in place of steps (0: none)", low=0)
    episodes: int = setting(0, "limit on traversals or playthroughs, in place of steps (0: none)", low=0)
    every: int | None = setting(None, "steps between measurements (none: ten per power of ten)", low=1)
    features: str = setting(USUAL, "features of infosets", choices=KINDS, fixed=True)
    rules: bool | None = setting(
        None,
        "sample from the rules instead of the compiled game (none: only if it has too many histories)",
        fixed=True,
        added=True,
    )
    exact: bool = setting(True, "measure exploitability if the game can be compiled", fixed=True, added=True)
    seed: int = setting(0, "random seed", low=0, fixed=True)


class NeuralLearner(Learner):
    """A learner that samples a game and fits networks or tables to the samples.

    A class that sets :attr:`walks_rules` also learns games with too many histories to compile. Their infosets are not numbered,
    and the game is compiled only for evaluation. Learners for compiled games only may use :attr:`infosets`, ``first`` and
    ``slots``: the actions of each infoset side by side, infosets in compiled order.

    Attributes:
        walks_rules: whether the class supports uncompiled games.
        for_teams: whether it is designed for games in which all players receive the same payoff.
        alone: whether it learns against fixed opponents instead of approximating an equilibrium.
        zero_sum: the class's display name if it supports only two-player constant-sum games; otherwise empty.
        saved: names of attributes (integers and arrays) to save in addition to :meth:`parts`.
        sampler: samples traversals and episodes.
        strategy: the sampling policy of traversals, in learners that use them.
    """

    settings: Any
    strategy: AnyProfile
    walks_rules: ClassVar[bool] = False
    for_teams: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    zero_sum: ClassVar[str] = ""
    saved: ClassVar[Sequence[str]] = ()

    def __init__(self, game: Game, settings: Any) -> None:
        super().__init__(game, settings)
        self.sampler = self.make_sampler()
        self.check_game()
        if self.alone:
            return
        if self.sampler.cooperative and not self.for_teams:
            notify(
                f"all players of {game} receive the same payoff, but each learns independently; coma and "
                "a2c are made for such games"
            )
        elif not self.sampler.cooperative and (self.players > 2 or (self.players == 2 and self.sampler.constant is None)):
            kind = f"{self.players} players" if self.players > 2 else "general sums"
            notify(f"{game} has {kind}: each player learns independently, and the result need not be an equilibrium")

    def spread_over(self, executor: Executor, spec: str) -> None:
        super().spread_over(executor, spec)
        self.sampler.spread_over(executor, spec)

    def make_sampler(self) -> Sampler:
        """Create the sampler of the compiled game, or of its rules if the settings or the game's size require it.

        Raises:
            AlgorithmError: the learner, or a table in place of networks, needs a compiled game, but the game cannot be
                compiled.
        """
        wanted, name = self.settings.rules, type(self).__name__
        if not kind_of_game(self.game).by_rules(wanted):
            return CompiledSampler(self.compiled, self.settings, self.executor)
        why = "" if wanted else f", but {self.game} has too many to store"
        if not self.walks_rules:
            raise AlgorithmError(f"{name} needs all histories{why}; use deep-cfr, nfsp or ppo, which sample from the rules")
        for setting_name, value in (("approximator", TABLE), ("features", ONE_HOT)):
            if getattr(self.settings, setting_name) == value:
                raise AlgorithmError(f"{setting_name}={value} needs all histories{why}; leave it out")
        return self.rules_sampler()

    def rules_sampler(self) -> Sampler:
        """Create the sampler of the game's rules."""
        return RulesSampler(self.game, self.settings, self.executor)

    @property
    def players(self) -> int:
        """The number of players."""
        return self.game.num_players

    @property
    def scale(self) -> float:
        """The largest absolute payoff; networks learn values divided by it."""
        return self.sampler.scale

    @property
    def identity(self) -> str:
        """The compiled game's identity or, for an uncompiled game, its spec."""
        return super().identity if self.sampler.numbered else str(self.game)

    @cached_property
    def judging(self) -> PolicyJudge | None:
        """Function that evaluates policies; None, with a log message, if evaluation is too slow or switched off."""
        return kind_of_game(self.game).judge(self.compiled_to_judge) if self.settings.exact else None

    def compiled_to_judge(self) -> CompiledGame:
        """The compiled game for evaluation, at whose infosets the networks can be evaluated.

        Raises:
            GameError: it is too large, or its infoset strings do not contain the features.
        """
        self.sampler.check_judged(self.compiled)
        return self.compiled

    def measure(self) -> Mapping[str, float]:
        return {} if self.judging is None else {"exploitability": self.judging(self.policy())}

    def check_game(self) -> None:
        """Check that the learner is defined for the game.

        Raises:
            AlgorithmError: it is not.
        """
        if self.zero_sum and (self.players != 2 or self.sampler.constant is None):
            kind = f"{self.players} players" if self.players != 2 else "general sums"
            wanted = "two-player games with constant-sum payoffs"
            raise AlgorithmError(f"{self.zero_sum} supports only {wanted}, but {self.game} has {kind}")

    @property
    def infosets(self) -> GameInfosets:
        """All infosets of the compiled game."""
        return cast(GameInfosets, self.sampler.infosets)

    @cached_property
    def histories(self) -> Histories:
        """The compiled game's history form; the keys of its decision nodes are infosets."""
        return histories_of(self.compiled)

    @cached_property
    def first(self) -> Ints:
        """The first slot of each infoset, int64 [I+1]."""
        return np.append(0, np.cumsum(self.infosets.legal.sum(axis=1)))

    @cached_property
    def slots(self) -> Ints:
        """The sequence of each slot, int64 [S]."""
        return self.infosets.sequences[self.infosets.legal]

    def infosets_of(self, player: int) -> slice:
        """The range of a player's infosets."""
        begin, end = self.infosets.begin[player : player + 2]
        return slice(int(begin), int(end))

    def slots_of(self, player: int) -> slice:
        """The range of a player's slots."""
        infosets = self.infosets_of(player)
        return slice(int(self.first[infosets.start]), int(self.first[infosets.stop]))

    def sequences_of(self, player: int) -> slice:
        """The range of a player's sequences, the empty one first."""
        begin, end = self.compiled.tree.sequence_offsets[player : player + 2]
        return slice(int(begin), int(end))

    def uniform(self) -> Floats:
        """The uniform policy, float64 [S]."""
        return np.asarray(uniform_probabilities(self.compiled)[self.slots])

    def policy_of(self, probabilities: Floats) -> Policy:
        """Convert probabilities, or nonnegative weights, of slots to a policy."""
        return Policy(self.compiled, normalised(self.compiled, self.table_of(probabilities)))

    def table_of(self, probabilities: Floats) -> Floats:
        """Convert numbers per slot to numbers per sequence, float64 [Q], with 1 for empty sequences."""
        table = np.ones(len(self.compiled.action_ids))
        table[self.slots] = probabilities
        return table

    def sequence_form(self, player: int, table: Floats) -> Floats:
        """A player's own reach of each of its sequences, [Q_player], under a policy, float64 [Q]."""
        strategy = np.empty_like(table)
        reach(self.compiled.tree, player, table, strategy)
        return strategy[self.sequences_of(player)]

    def effort(self) -> Mapping[str, int]:
        return {"nodes": self.sampler.walked, "episodes": self.sampler.played}

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Objects to save with their ``state`` and ``restore``, by the prefix of their arrays' names."""
        yield from ()

    def state(self) -> Mapping[str, NDArray[Any]]:
        arrays = {"counts": np.array([self.sampler.walked, self.sampler.played])}
        arrays |= {name: np.atleast_1d(getattr(self, name)) for name in self.saved}
        for name, part in self.parts():
            arrays |= named(name, part.state())
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.sampler.walked, self.sampler.played = (int(number) for number in arrays["counts"])
        for name in self.saved:
            stored = np.array(arrays[name])
            setattr(self, name, int(stored[0]) if isinstance(getattr(self, name), int) else stored)
        for name, part in self.parts():
            part.restore(under(name, arrays))


def named(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Prepend ``prefix.`` to the names of arrays."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Select the arrays to which :func:`named` added a prefix, and remove it."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
