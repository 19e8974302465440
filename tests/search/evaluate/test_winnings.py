"""Winnings from played public states, with luck removed and without."""

import numpy as np
import pytest

from tests.search.evaluate.small_games import Plays
from treeplex.errors import GameError
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE
from treeplex.holdem.whole.nodes import visit_table
from treeplex.holdem.whole.public import hand_of
from treeplex.search.evaluate.winnings import CheckedDown, exact_winnings, luck_of, possible_of, sampled_winnings
from treeplex.search.named_agents.registry import agent

TEN_CARDS = "holdem(ranks=5,suits=2,stack=6)"


TURN = [1, 1, None, None, None, 1, 1]


@pytest.mark.slow_cases("line0")
@pytest.mark.parametrize("line", [[1, 1], [1, 1, None, None], TURN])
def test_luck_has_mean_zero_over_all_pairs_of_hands(line: list[int | None]) -> None:
    """How likely each thing happens is counted over pairs of hands here; the mean of what is taken off must be zero."""
    game, generator = load(TEN_CARDS).public, np.random.default_rng(len(line))
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
    game = load("holdem(stack=20)").public
    state, flop = game.first_state(), game.first_state()
    ranges, generator = list(game.first_ranges()), np.random.default_rng(1)
    assert game.exactly_shared(state, ranges)
    assert not game.exactly_shared(state, [generator.random(len(ranges[0])), ranges[1]])
    for label in (1, 1, 0, 5, 10):
        flop = game.after(flop, label)
        if hand_of(flop).board:
            assert game.exactly_shared(flop, ranges) == (len(hand_of(flop).board) == 3)


@pytest.mark.slow
def test_less_luck_in_whole_holdem_around_the_same_mean() -> None:
    game = load("holdem(ranks=5,suits=2,stack=6)")
    first, second = agent("uniform", game), agent("rules(style=regular)", game)
    plain = sampled_winnings(first, second, 400, seed=1)
    less = sampled_winnings(first, second, 400, seed=1, values=CheckedDown(game.public.exactly_shared))
    assert less.interval < 0.5 * plain.interval
    assert abs(plain.value - less.value) < 2 * plain.interval


@pytest.mark.slow
def test_less_luck_around_the_same_mean() -> None:
    game = load("leduc_poker")
    first, second = agent("uniform", game), agent("rules(style=regular)", game)
    exact = exact_winnings(first, second).value
    plain = sampled_winnings(first, second, 200, seed=1)
    less = sampled_winnings(first, second, 200, seed=1, values=CheckedDown())
    assert abs(plain.value - exact) < 2 * plain.interval
    assert abs(less.value - exact) < 2 * less.interval
    assert less.interval < 0.7 * plain.interval
    split = sampled_winnings(first, second, 200, seed=1, values=CheckedDown(), splits=(8,))
    assert abs(split.value - exact) < 2 * split.interval
    assert split.interval < less.interval


@pytest.mark.parametrize(
    ("spec", "actions", "expected"),
    [
        ("holdem(stack=20,rake=0.05)", (20, 1), (-1.0, -1.0)),
        ("holdem(stack=20,rake=0.05,no_flop_no_drop=true)", (20, 1), (-1.0, -1.0)),
        ("holdem(stack=20,ante=[0;2])", (20, 1), (-1.0, 1.0)),
        ("holdem(stack=[20;60])", (60, 1), (0.0, 0.0)),
        ("holdem(stack=[60;20],rake=0.1,rake_cap=3)", (20, 1), (-1.5, -1.5)),
    ],
)
def test_an_all_in_before_the_flop_is_worth_what_it_pays(
    spec: str, actions: tuple[int, ...], expected: tuple[float, float]
) -> None:
    """Half of the pot less the rake, against the chips put in; dead antes count, and chips that nobody can match do not."""
    game = load(spec).public
    state = game.first_state()
    for label in actions:
        state = game.after(state, label)
    ranges, values = list(game.first_ranges()), CheckedDown(game.exactly_shared)
    assert [values(game, state, ranges, seat) for seat in (0, 1)] == pytest.approx(expected, abs=1e-9)


def test_a_matched_part_of_a_shove_is_at_stake() -> None:
    """The deep stack shoves 60 with pairs: the other can win or lose 20."""
    game = load("holdem(stack=[20;60])").public
    state = game.after(game.after(game.first_state(), 60), 1)
    pairs = np.array([first // 4 == second // 4 for first, second in game.hands], np.float64)
    ranges = [game.first_ranges()[0], pairs]
    share = float(pairs @ (game.pot_shares(state, ranges, 1) * game.opposing(state, ranges, 1)))
    share /= float(pairs @ game.opposing(state, ranges, 1))
    assert CheckedDown()(game, state, ranges, 1) == pytest.approx(20 * (2 * share - 1))
    assert 0.5 < share < 0.8


def test_all_ins_before_the_first_board_card_pay_rake() -> None:
    """The board is dealt for a showdown, so no_flop_no_drop spares folds only."""
    game = load("holdem(stack=2,sizes=[a],ranks=3,suits=2,hole=1,deal=[0;1],rake=0.25,no_flop_no_drop=true)")
    shover, caller = Plays(game.public, "shover"), Plays(game.public, "caller")
    assert exact_winnings(shover, caller).values == pytest.approx((-0.5, -0.5))
    rules = game.public.rules
    folded, called = visit_table(rules, rules.betting.root).after
    assert (visit_table(rules, called).kept, visit_table(rules, folded).kept) == (0.75, 1.0)


def test_splits_in_whole_holdem_keep_the_mean() -> None:
    """With luck, on two streets; the mean over the splits of every hand is around the plain mean."""
    game = load("holdem(ranks=5,suits=2,stack=6)")
    first, second = agent("uniform", game), agent("rules(style=regular)", game)
    values = CheckedDown(game.public.exactly_shared)
    plain = sampled_winnings(first, second, 40, seed=1, values=values)
    split = sampled_winnings(first, second, 40, seed=2, values=values, splits=(4, 2))
    assert abs(plain.value - split.value) < 2 * (plain.interval + split.interval)
    assert split.interval < plain.interval
    with pytest.raises(GameError, match="numbers of at least 1"):
        sampled_winnings(first, second, 120, splits=(2, 0))
