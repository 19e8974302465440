"""What each kind of game brings to learners that fit networks: whether it is walked by its rules, and its judge."""

from collections.abc import Callable

import numpy as np

from treeplex.base.notices import notify
from treeplex.errors import AlgorithmError, GameError
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.games.size_estimate import clearly_more
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.spot_form import store_of_policy
from treeplex.holdem.forms.spot_size import spot_size
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.policies.network import average_of_network
from treeplex.holdem.rules.dealt import DealtSpot

MEASURED = 1_000_000
"""Numbers that a solver would store for the largest hold'em spot on which policies are judged under way, in a second or so."""


PolicyJudge = Callable[[Policy | NeuralPolicy], float]
"""Exploitability of a policy: the mean over players of what a best response gains."""


class GameKind:
    """Rules that are compiled unless they are clearly too large."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def by_rules(self, wanted: bool | None) -> bool:
        """Whether walks go by the rules: as the setting ``rules`` wants, else where there are too many histories to compile.

        Raises:
            AlgorithmError: the game cannot be walked as it is wanted.
        """
        return clearly_more(self.game) if wanted is None else wanted

    def judge(self, compiled: Callable[[], CompiledGame]) -> PolicyJudge | None:
        """What judges policies under way; None where that takes too long, which is said.

        Args:
            compiled: the game compiled; it raises :class:`GameError` where that cannot be, or networks do not fit it.
        """
        try:
            game = compiled()
        except GameError:
            notify(f"{self.game} is too large to be judged exactly; treeplex playouts plays policies of it")
            return None
        return lambda policy: judge(game, policy.on(game) if isinstance(policy, NeuralPolicy) else policy).exploitability


class CardByCard(GameKind):
    """A hold'em spot whose cards are dealt one by one: too large to be compiled so, but judged hand by hand as a spot."""

    game: DealtSpot

    def by_rules(self, wanted: bool | None) -> bool:
        """Always."""
        if wanted is False:
            raise AlgorithmError(f"{self.game} is a hold'em spot, which is walked by the rules; leave rules=false out")
        return True

    def judge(self, compiled: Callable[[], CompiledGame]) -> PolicyJudge | None:
        """The compiled spot's, if it is small."""
        if spot_size(self.game.spot).stored > MEASURED:
            notify(f"{self.game} is not judged under way; treeplex evaluate {self.game} FOLDER judges the policy exactly")
            return None
        spot = compile_spot(self.game.spot)

        def exploitability(policy: Policy | NeuralPolicy) -> float:
            assert isinstance(policy, NeuralPolicy)
            store = store_of_policy(spot, average_of_network(policy, spot), np.zeros(0, np.float32))
            return judge_spot(spot, store.average, store, judging_crew(spot, 1), expected=False).exploitability

        return exploitability


def kind_of_game(game: Game) -> GameKind:
    """The kind of a game."""
    return CardByCard(game) if isinstance(game, DealtSpot) else GameKind(game)


__all__ = ["PolicyJudge", "kind_of_game"]
