"""AIVAT for poker between two players with values as if all checked down, by ranges in place of pairs of hands.

The estimate is that of :mod:`treeplex.search.evaluate.aivat`, and so is what it averages over: the hands that agents which say
their policies might have held. Its values are :class:`treeplex.search.evaluate.winnings.CheckedDown`, for which a deck of 52
cards leaves time. They correct the choices of those agents, and cards, where they are exact; the deal is left as it is.
"""

from collections.abc import Iterable

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError
from treeplex.games.base import CHANCE
from treeplex.games.public import PublicGame, State
from treeplex.search.evaluate.aivat import unknown_policy
from treeplex.search.evaluate.play import PlayedHand
from treeplex.search.evaluate.winnings import CheckedDown, luck_of, met, possible_of, settled


class CheckedDownAivat:
    """Judges hands without luck, as :class:`treeplex.search.evaluate.aivat.Aivat` does.

    Attributes:
        game: what was played.
        values: what says how much luck there was.
        known: the seats whose agents' policies are used; each must say its policy wherever it acts.
    """

    def __init__(self, game: PublicGame, *, known: Iterable[int] = (0, 1)) -> None:
        """Take a game.

        Raises:
            GameError: it is not for two players.
        """
        if game.players != 2:
            raise GameError(
                f"values by checking down are for two players, not {game.players}; give zero, or values of your own"
            )
        self.game, self.values, self.known = game, CheckedDown(game.exactly_shared), tuple(known)

    def __call__(self, hand: PlayedHand) -> Floats:
        """Luck-adjusted payoffs, float64 [2], an unbiased estimate of the mean payoffs.

        Raises:
            GameError: a hand that was not finished, in which an action was played that its policy never plays, or in which a
                known seat did not say its policy.
        """
        if hand.payoffs is None:
            raise GameError("a hand that was not finished has no value")
        game, state, luck = self.game, self.game.first_state(), 0.0
        reached = possible_of(game, state, self._ranges(hand))
        before: float | None = None  # cards came, what all was worth
        for step in hand.steps:
            if settled(game, state) and game.exactly_shared(state, reached):
                break
            options = game.options(state)
            label, following = options.labels[step.number], reached
            if options.player == CHANCE:
                before = self.values(game, state, reached, 0) if before is None else before
            elif options.player not in self.known:
                before = None
            elif step.policy is None:
                raise unknown_policy(options.player)
            else:
                before, played = None, step.policy * reached[options.player]
                outcomes = [[row if seat == options.player else reached[seat] for seat in (0, 1)] for row in played]
                luck, following = luck + luck_of(game, state, outcomes, step.number, 0, self.values), outcomes[step.number]
            state = game.after(state, label)
            reached = possible_of(game, state, following)
            if not met(game, state, reached) > 0:
                raise GameError(f"what was played is never played by the policies of the players: {game.name_of(state)}")
            if before is not None and (worth := self.values(game, state, reached, 0)) is not None:
                luck, before = luck + worth - before, None
        won = [float(reached[seat] @ game.terminal_values(state, reached, seat)) / met(game, state, reached) for seat in (0, 1)]
        return np.array([won[0] - luck, won[1] + luck]) + game.odd_chips(self._end(hand), hand.dealt)

    def _end(self, hand: PlayedHand) -> State:
        """Where a hand ended."""
        state: State = self.game.first_state()
        for step in hand.steps:
            state = self.game.after(state, self.game.options(state).labels[step.number])
        return state

    def _ranges(self, hand: PlayedHand) -> list[Floats]:
        """Each player's range at the deal: all hands, or the one held where the policy is not known."""
        ranges = list(self.game.first_ranges())
        for seat in {0, 1} - {*self.known}:
            ranges[seat] = np.zeros_like(ranges[seat])
            ranges[seat][hand.dealt[seat]] = 1.0
        return ranges
