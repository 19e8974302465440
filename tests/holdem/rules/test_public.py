"""Spots as public games: what follows the cards of a street is the same game on its own."""

import numpy as np
import pytest

from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import State
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.cards.format import small
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Rake, Spot

FORM = small(5, 2, 1, (0, 1, 1))
PLANS = {
    "no limit": BetPlan.same("10%,100%", "a", streets=3),
    "without limps": BetPlan(BetPlan.same("100%", "50%,a", streets=3).streets, limps=False),
    "fixed limit": FixedLimit((2.0, 2.0, 4.0), (3, 4, 4)),
}


def check_same(game: HoldemGame, state: State, rest: HoldemGame, there: State) -> int:
    """Check that two games go on alike; the number of ends."""
    options, other = game.options(state), rest.options(there)
    assert options.player == other.player
    if options.player == TERMINAL:
        for hands in ((2, 7), (7, 2), (4, 5)):
            assert game.payoffs(state, hands) == rest.payoffs(there, hands)
        return 1
    assert [game.action_name(state, label) for label in options.labels] == [
        rest.action_name(there, label) for label in other.labels
    ]
    labels = options.labels[-1:] if options.player == CHANCE else options.labels
    return sum(check_same(game, game.after(state, label), rest, rest.after(there, label)) for label in labels)


@pytest.mark.parametrize("plan", list(PLANS))
def test_what_follows_a_street_of_a_spot_with_blinds(plan: str) -> None:
    rake = Rake(0.1, 1.0, no_flop_no_drop=True)
    game = HoldemGame.of(Spot((), 2.0, 12.0, all_hands(FORM), PLANS[plan], rake, FORM, blinds=(1.0, 2.0)))
    ranges = tuple(np.random.default_rng(0).random((2, len(FORM.hands))))
    waiting, streets, ends = [game.first_state()], 0, 0
    while waiting:
        state = waiting.pop()
        options = game.options(state)
        if options.player == CHANCE:
            following = game.after(state, options.labels[0])
            if game.options(following).player >= 0:
                rest = game.rest(following, ranges)
                assert rest.spot.blinds is None
                streets, ends = streets + 1, ends + check_same(game, following, rest, rest.first_state())
            waiting.append(following)
        elif options.player >= 0:
            waiting += [game.after(state, label) for label in options.labels]
    assert streets > 0
    assert ends > 10


def test_the_rest_from_the_beginning_has_the_blinds() -> None:
    game = HoldemGame.of(Spot((), 2.0, 12.0, all_hands(FORM), PLANS["no limit"], Rake(), FORM, blinds=(1.0, 2.0)))
    rest = game.rest(game.first_state(), game.first_ranges())
    assert (rest.spot.pot, rest.spot.stack, rest.spot.blinds) == (2.0, 12.0, (1.0, 2.0))
