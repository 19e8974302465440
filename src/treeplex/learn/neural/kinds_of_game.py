"""What each kind of game brings to learners that fit networks: whether it is walked by its rules, and its judge."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from treeplex.base.notices import notify
from treeplex.errors import AlgorithmError, GameError
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.games.size_estimate import clearly_more
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.spot_form import store_of_policy
from treeplex.holdem.forms.spot_size import spot_size
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.policies.network import average_of_network
from treeplex.holdem.rules.dealt import DealtSpot
from treeplex.holdem.spots.spot import Spot

MEASURED = 1_000_000
"""Numbers that a solver would store for the largest hold'em spot on which policies are judged under way, in a second or so."""


class PolicyJudge(Protocol):
    """Says how exploitable policies of a game are."""

    def exploitability(self, policy: Policy | NeuralPolicy) -> float:
        """The mean over players of what a best response gains."""


@dataclass(frozen=True)
class TableJudge:
    """Judges on a compiled game."""

    game: CompiledGame

    def exploitability(self, policy: Policy | NeuralPolicy) -> float:
        """Of a policy on the game, or of a network's on its rules."""
        return judge(self.game, policy.on(self.game) if isinstance(policy, NeuralPolicy) else policy).exploitability


@dataclass(frozen=True)
class SpotJudge:
    """Judges on a compiled hold'em spot."""

    game: CompiledSpot

    def exploitability(self, policy: Policy | NeuralPolicy) -> float:
        """Of a network's policy on the spot dealt card by card."""
        assert isinstance(policy, NeuralPolicy)
        store = store_of_policy(self.game, average_of_network(policy, self.game), np.zeros(0, np.float32))
        return judge_spot(self.game, store.average, store, judging_crew(self.game, 1), expected=False).exploitability


class GameKind(Protocol):
    """A kind of game, as learners see it."""

    def by_rules(self, wanted: bool | None) -> bool:
        """Whether walks go by the rules, where the setting ``rules`` is as ``wanted``.

        Raises:
            AlgorithmError: the game cannot be walked as it is wanted.
        """

    def judge(self, compiled: Callable[[], CompiledGame]) -> PolicyJudge | None:
        """What judges policies under way; None where that takes too long, which is said.

        Args:
            compiled: the game compiled; it raises :class:`GameError` where that cannot be, or networks do not fit it.
        """


@dataclass(frozen=True)
class CompilableGame:
    """Rules that are compiled unless they are clearly too large."""

    game: Game

    def by_rules(self, wanted: bool | None) -> bool:
        """As is wanted; else where it has too many histories to be compiled."""
        return clearly_more(self.game) if wanted is None else wanted

    def judge(self, compiled: Callable[[], CompiledGame]) -> TableJudge | None:
        """The compiled game's, if it can be compiled."""
        try:
            return TableJudge(compiled())
        except GameError:
            notify(f"{self.game} is too large to be judged exactly; treeplex playouts plays policies of it")
            return None


@dataclass(frozen=True)
class CardByCard:
    """A hold'em spot whose cards are dealt one by one: too large to be compiled so, but judged hand by hand as a spot."""

    game: Game
    spot: Spot

    def by_rules(self, wanted: bool | None) -> bool:
        """Always."""
        if wanted is False:
            raise AlgorithmError(f"{self.game} is a hold'em spot, which is walked by the rules; leave rules=false out")
        return True

    def judge(self, compiled: Callable[[], CompiledGame]) -> SpotJudge | None:
        """The compiled spot's, if it is small."""
        if spot_size(self.spot).stored <= MEASURED:
            return SpotJudge(compile_spot(self.spot))
        notify(f"{self.game} is not judged under way; treeplex evaluate {self.game} FOLDER judges the policy exactly")
        return None


def kind_of_game(game: Game) -> GameKind:
    """The kind of a game."""
    return CardByCard(game, game.spot) if isinstance(game, DealtSpot) else CompilableGame(game)


__all__ = ["PolicyJudge", "kind_of_game"]
