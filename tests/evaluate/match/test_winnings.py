"""Winnings from played public states, with luck removed and without."""

import numpy as np
import pytest

from treeplex.evaluate.match.winnings import CheckedDown, exact_winnings, luck_of, possible_of, sampled_winnings
from treeplex.games.base import CHANCE
from treeplex.games.poker.whole.public import hand_of
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.agents.registry import agent

TEN_CARDS = "holdem(ranks=5,suits=2,stack=6)"


TURN = [1, 1, None, None, None, 1, 1]


@pytest.mark.parametrize("line", [[1, 1], [1, 1, None, None], TURN])
def test_luck_has_mean_zero_over_all_pairs_of_hands(line: list[int | None]) -> None:
    """How likely each thing happens is counted over pairs of hands here; the mean of what is taken off must be zero."""
    game, generator = PlayedGame.of(TEN_CARDS).public, np.random.default_rng(len(line))
    state = game.first_state()
    for label in line:
        state = game.after(state, game.options(state).labels[0] if label is None else label)
    ranges = [generator.random(len(own)) * own for own in game.possible(state)]
    pairs, values = game.joint(state, ranges), CheckedDown(game.exactly_shared)
    while True:
        options = game.options(state)
        table = None if options.player == CHANCE else generator.dirichlet(np.ones(len(options.labels)), len(ranges[0])).T
        if table is None:
            likely = [
                sum(pairs[pair] * game.chances(state, pair)[k] for pair in np.ndindex(pairs.shape) if pairs[pair] > 0)
                for k in range(len(options.labels))
            ]
            outcomes = [ranges] * len(options.labels)
        else:
            likely = [float((pairs * (row[:, None] if options.player == 0 else row)).sum()) for row in table]
            outcomes = [[own * row if each == options.player else own for each, own in enumerate(ranges)] for row in table]
        luck = [luck_of(game, state, outcomes, k, 0, values) for k in range(len(likely))]
        assert np.dot(likely, luck) / pairs.sum() == pytest.approx(0.0, abs=1e-12)
        assert max(map(abs, luck)) > 1e-3
        if table is not None:
            return
        worth = values(game, state, ranges, 0)
        after = game.after(state, options.labels[0])
        assert luck[0] == pytest.approx(values(game, after, possible_of(game, after, ranges), 0) - worth, abs=1e-12)
        state = game.after(state, options.labels[0])
        ranges = possible_of(game, state, ranges)
        pairs = game.joint(state, ranges)


def test_before_the_flop_shares_are_exact_where_suits_are_alike() -> None:
    game = PlayedGame.of("holdem(stack=20)").public
    state, flop = game.first_state(), game.first_state()
    ranges, generator = list(game.first_ranges()), np.random.default_rng(1)
    assert game.exactly_shared(state, ranges)
    assert not game.exactly_shared(state, [generator.random(len(ranges[0])), ranges[1]])
    for label in (1, 1, 0, 5, 10):
        flop = game.after(flop, label)
        if hand_of(flop).board:
            assert game.exactly_shared(flop, ranges) == (len(hand_of(flop).board) == 3)


def test_less_luck_in_whole_holdem_around_the_same_mean() -> None:
    game = PlayedGame.of("holdem(ranks=5,suits=2,stack=6)")
    first, second = agent("uniform", game), agent("rules(style=regular)", game)
    plain = sampled_winnings(first, second, 400, seed=1)
    less = sampled_winnings(first, second, 400, seed=1, values=CheckedDown(game.public.exactly_shared))
    assert less.interval < 0.5 * plain.interval
    assert abs(plain.value - less.value) < 2 * plain.interval


def test_less_luck_around_the_same_mean() -> None:
    game = PlayedGame.of("leduc_poker")
    first, second = agent("uniform", game), agent("rules(style=regular)", game)
    exact = exact_winnings(first, second).value
    plain = sampled_winnings(first, second, 200, seed=1)
    less = sampled_winnings(first, second, 200, seed=1, values=CheckedDown())
    assert abs(plain.value - exact) < 2 * plain.interval
    assert abs(less.value - exact) < 2 * less.interval
    assert less.interval < 0.7 * plain.interval
