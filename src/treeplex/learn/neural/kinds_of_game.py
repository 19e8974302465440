"""How deep learners sample and evaluate each type of game."""

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
"""Size limit, in numbers that a solver would store, of hold'em spots whose policies are evaluated during training."""


PolicyJudge = Callable[[Policy | NeuralPolicy], float]
"""Exploitability of a policy: the mean gain of a best response over players."""


class GameKind:
    """Default game type: compiled unless it is clearly too large."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def by_rules(self, wanted: bool | None) -> bool:
        """Whether to sample from the rules: the setting ``rules`` or, by default, whether there are too many histories to
        compile.

        Raises:
            AlgorithmError: the game does not support the requested sampling.
        """
        return clearly_more(self.game) if wanted is None else wanted

    def judge(self, compiled: Callable[[], CompiledGame]) -> PolicyJudge | None:
        """The function that evaluates policies during training; None, with a log message, if evaluation is too slow.

        Args:
            compiled: function that compiles the game; raises :class:`GameError` if the game is too large, or networks do not
                fit it.
        """
        try:
            game = compiled()
        except GameError:
            notify(f"{self.game} is too large for exact evaluation; play matches of its policies with treeplex playouts")
            return None
        return lambda policy: judge(game, policy.on(game) if isinstance(policy, NeuralPolicy) else policy).exploitability


class CardByCard(GameKind):
    """A hold'em spot dealt card by card: too large to compile in this form, but evaluated exactly as a spot with ranges."""

    game: DealtSpot

    def by_rules(self, wanted: bool | None) -> bool:
        """True: such spots are always sampled from the rules."""
        if wanted is False:
            raise AlgorithmError(
                f"{self.game} is a hold'em spot, which is always sampled from the rules; leave rules=false out"
            )
        return True

    def judge(self, compiled: Callable[[], CompiledGame]) -> PolicyJudge | None:
        """The function that evaluates policies on the compiled spot; None if the spot is large."""
        if spot_size(self.game.spot).stored > MEASURED:
            notify(
                f"{self.game} is not evaluated during training; compute exact exploitability with treeplex "
                f"evaluate {self.game} FOLDER"
            )
            return None
        spot = compile_spot(self.game.spot)

        def exploitability(policy: Policy | NeuralPolicy) -> float:
            assert isinstance(policy, NeuralPolicy)
            store = store_of_policy(spot, average_of_network(policy, spot), np.zeros(0, np.float32))
            return judge_spot(spot, store.average, store, judging_crew(spot, 1), expected=False).exploitability

        return exploitability


def kind_of_game(game: Game) -> GameKind:
    """The game type of a game."""
    return CardByCard(game) if isinstance(game, DealtSpot) else GameKind(game)


__all__ = ["PolicyJudge", "kind_of_game"]
