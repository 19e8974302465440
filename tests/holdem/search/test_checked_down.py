"""Checking down as AIVAT's values: over every hand of a small deck the mean stays, whoever says a policy; luck goes."""

from collections.abc import Iterator

import numpy as np
import pytest

import treeplex as tp
from treeplex.base.arrays import Floats
from treeplex.errors import GameError, SpecError
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import State
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.evaluate.checked_down import CheckedDownAivat
from treeplex.search.evaluate.play import HandEvent, PlayedHand

SMALL = "holdem(stack=6,ranks=3,suits=2,hole=1,deal=[0;1],sizes=[100%;a]{})"


def table_of(spec: str) -> PublicHoldem:
    public = load(spec).public
    assert isinstance(public, PublicHoldem)
    return public


def policy_of(game: PublicHoldem, state: State) -> Floats:
    """A policy drawn at random, the same whenever a state is met."""
    shape = len(game.options(state).labels), len(game.hands)
    weights = np.random.default_rng(sum(map(ord, game.name_of(state)))).random(shape) ** 3
    return np.asarray(weights / weights.sum(axis=0))


def every_hand(game: PublicHoldem, said: tuple[bool, bool]) -> Iterator[tuple[float, PlayedHand]]:
    """All hands and their probabilities; ``said``: which seats say their policies."""

    def after(
        state: State, dealt: tuple[int, int], chance: float, steps: tuple[HandEvent, ...]
    ) -> Iterator[tuple[float, PlayedHand]]:
        options = game.options(state)
        if options.player == TERMINAL:
            yield chance, PlayedHand(dealt, steps, tuple(game.payoffs(state, dealt)))
            return
        policy = None if options.player == CHANCE else policy_of(game, state)
        chances = game.chances(state, dealt) if policy is None else policy[:, dealt[options.player]]
        told = policy if options.player == CHANCE or said[options.player] else None
        for number, (share, label) in enumerate(zip(chances.tolist(), options.labels, strict=True)):
            if share > 0:
                yield from after(game.after(state, label), dealt, chance * share, (*steps, HandEvent(number, told)))

    deals = [(first, second) for first in range(len(game.hands)) for second in range(len(game.hands)) if first != second]
    for deal in deals:
        yield from after(game.first_state(), deal, 1.0 / len(deals), ())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "more"), [((True, True), ""), ((True, False), ""), ((False, False), ""), ((True, True), ",rake=0.1")]
)
def test_the_mean_over_every_hand_stays(said: tuple[bool, bool], more: str) -> None:
    game = table_of(SMALL.format(more))
    judge = CheckedDownAivat(game, known=[seat for seat in (0, 1) if said[seat]])
    chances, paid, judged = [], [], []
    for chance, hand in every_hand(game, said):
        chances.append(chance)
        paid.append(hand.payoffs)
        judged.append(judge(hand))
    weights, payoffs, found = np.array(chances), np.array(paid), np.array(judged)
    assert weights.sum() == pytest.approx(1)
    assert weights @ found == pytest.approx(weights @ payoffs, abs=1e-9)
    left, before = (float(weights @ (own[:, 0] - weights @ own[:, 0]) ** 2) for own in (found, payoffs))
    assert left < {2: 0.2, 1: 0.6, 0: 1.0}[sum(said)] * before


@pytest.mark.slow
def test_a_match_has_less_luck_left() -> None:
    agents = ["rules(style=regular)", "rules(style=station)"]
    game = "holdem(ranks=5,suits=2,stack=20,sizes=[100%;a])"
    found = tp.match(game, agents, hands=60, seed=1, aivat="checked").plain()
    assert found["aivat"]["values"] == "check-down"
    assert found["aivat"]["deviation"][0][0] < 0.7 * found["aivat"]["plain_deviation"][0][0]


def test_who_is_known_says_its_policy() -> None:
    game = table_of(SMALL.format(""))
    hand = next(hand for _, hand in every_hand(game, (True, False)) if len(hand.steps) > 2)
    with pytest.raises(GameError, match="player 1 acted without reporting its policy; give known="):
        CheckedDownAivat(game)(hand)


def test_where_it_is_not_for() -> None:
    with pytest.raises(SpecError, match="checked needs heads-up full-game hold'em, not leduc_poker; give auto, zero"):
        tp.match("leduc_poker", ["uniform", "uniform"], hands=2, sampled=True, aivat="checked")
    with pytest.raises(GameError, match="need two players, not 3; use zero"):
        CheckedDownAivat(table_of("holdem(players=3,stack=20)"))
    with pytest.raises(SpecError, match=r"uniform has no values in .*; give checked, zero, auto, or a custom function"):
        tp.match("holdem(stack=20)", ["uniform", "uniform"], hands=2, aivat="uniform")
