"""AIVAT for two-player poker with check-down values, computed from ranges instead of pairs of hands.

The estimate is that of :mod:`treeplex.search.evaluate.aivat`, averaged over the hands that agents with reported policies might
have held. The value function, :class:`treeplex.search.evaluate.winnings.CheckedDown`, is fast enough for a 52-card deck. Luck
is removed from the choices of those agents, and from board cards where check-down values are exact, but not from the deal.
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
    """Computes luck-adjusted payoffs, like :class:`treeplex.search.evaluate.aivat.Aivat`.

    Attributes:
        game: the game.
        values: the value function.
        known: the seats whose policies are used; each must report its policy at every decision.
    """

    def __init__(self, game: PublicGame, *, known: Iterable[int] = (0, 1)) -> None:
        """Create the estimator for a game.

        Raises:
            GameError: the game is not for two players.
        """
        if game.players != 2:
            raise GameError(f"check-down values need two players, not {game.players}; use zero, or a custom value function")
        self.game, self.values, self.known = game, CheckedDown(game.exactly_shared), tuple(known)

    def __call__(self, hand: PlayedHand) -> Floats:
        """Luck-adjusted payoffs, float64 [2], an unbiased estimate of the mean payoffs.

        Raises:
            GameError: the hand is unfinished, an action has zero probability under its policy, or a known seat did not report
                policy.
        """
        if hand.payoffs is None:
            raise GameError("an unfinished hand has no value; leave it out")
        game, state, luck = self.game, self.game.first_state(), 0.0
        reached = possible_of(game, state, self._ranges(hand))
        before: float | None = None  # the value of the state before the cards were dealt
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
                raise GameError(
                    f"an action has zero probability under every known policy: {game.name_of(state)}; record the policies"
                )
            if before is not None and (worth := self.values(game, state, reached, 0)) is not None:
                luck, before = luck + worth - before, None
        won = [float(reached[seat] @ game.terminal_values(state, reached, seat)) / met(game, state, reached) for seat in (0, 1)]
        return np.array([won[0] - luck, won[1] + luck]) + game.odd_chips(self._end(hand), hand.dealt)

    def _end(self, hand: PlayedHand) -> State:
        """The final state of a hand."""
        state: State = self.game.first_state()
        for step in hand.steps:
            state = self.game.after(state, self.game.options(state).labels[step.number])
        return state

    def _ranges(self, hand: PlayedHand) -> list[Floats]:
        """Each player's range after the deal: all hands, or only the actual hand if the policy is unknown."""
        ranges = list(self.game.first_ranges())
        for seat in {0, 1} - {*self.known}:
            ranges[seat] = np.zeros_like(ranges[seat])
            ranges[seat][hand.dealt[seat]] = 1.0
        return ranges
