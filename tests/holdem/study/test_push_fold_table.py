"""ICM, and push or fold at a table: against brute force, the exact heads-up program and conditions of an equilibrium."""

from itertools import permutations

import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES
from treeplex.holdem.study.icm import icm, prize_money
from treeplex.holdem.study.push_fold import push_fold
from treeplex.holdem.study.push_fold_kernels import outcomes
from treeplex.holdem.study.push_fold_table import BATCH, strength_orders, table_push_fold


def by_permutations(stacks: list[float], payouts: list[float]) -> list[float]:
    """Malmuth-Harville, order of finish by order of finish."""
    values = [0.0] * len(stacks)
    for order in permutations(range(len(stacks))):
        chance, left = 1.0, sum(stacks)
        for player in order:
            chance *= stacks[player] / left if left else 1.0
            left -= stacks[player]
        for place, player in enumerate(order[: len(payouts)]):
            values[player] += chance * payouts[place]
    return values


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_icm_is_the_sum_over_all_orders_of_finish(players: int) -> None:
    generator = np.random.default_rng(players)
    stacks = generator.integers(1, 100, players).astype(float).tolist()
    for paid in range(1, players + 1):
        payouts = sorted(generator.random(paid).tolist(), reverse=True)
        found = icm(stacks, payouts)
        np.testing.assert_allclose(found, by_permutations(stacks, payouts))
        assert found.sum() == pytest.approx(sum(payouts))


def test_icm_by_hand() -> None:
    """Second place of the first player: won by another, then ahead of the third."""
    second = 0.3 * 5 / 7 + 0.2 * 5 / 8
    np.testing.assert_allclose(icm([5, 3, 2], [50, 30, 20])[0], 0.5 * 50 + second * 30 + (0.5 - second) * 20)
    np.testing.assert_allclose(icm([7, 0, 3], [60, 40]), [0.7 * 60 + 0.3 * 40, 0, 0.3 * 60 + 0.7 * 40])
    values = np.zeros(4)  # two players out at once: the larger stack before the hand finishes higher, equal ones share
    prize_money(np.array([9.0, 1.0, 0.0, 0.0]), np.array([3.0, 1.0, 2.0, 4.0]), np.array([50.0, 30.0, 20.0, 10.0]), values)
    np.testing.assert_allclose(values, [48, 32, 10, 20])
    prize_money(np.array([9.0, 1.0, 0.0, 0.0]), np.array([4.0, 2.0, 2.0, 2.0]), np.array([50.0, 30.0, 20.0, 10.0]), values)
    np.testing.assert_allclose(values, [48, 32, 15, 15])


@pytest.mark.parametrize(
    ("stacks", "payouts", "message"),
    [
        ([1], [1], "2 to 10 stacks"),
        ([1, -1], [1], "give stacks of 0 or more"),
        ([1, 1], [1, 2], "none larger"),
        ([1, 1], [1, 1, 1], "3 payouts"),
    ],
)
def test_icm_without_sense(stacks: list[float], payouts: list[float], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        icm(stacks, payouts)


def test_side_pots() -> None:
    """CO, BTN, SB, BB have 10, 4, 7 and 9, antes of 0.5; the small blind folds, the shortest stack wins, then BB and CO tie."""
    stacks, posted = np.array([10.0, 4, 7, 9]), np.array([0.5, 0.5, 1.0, 1.5])
    orders, values = np.array([[1, 3, 0, 1]]), np.empty((16, 1, 4))
    outcomes(stacks, posted, np.zeros(0), orders, values)
    main, side = 3 * 4 + 1, 2 * 5  # up to 4 from three players and the small blind's 1, then 5 each from CO and BB
    np.testing.assert_allclose(values[0b1011, 0], [1 + side / 2, main, 6, side / 2])
    np.testing.assert_allclose(values[0, 0], [9.5, 3.5, 6, 9 + 2])  # all fold
    np.testing.assert_allclose(values[0b0001, 0], [10 + 3, 3.5, 6, 7.5])  # the first takes blinds and antes
    assert values.sum(axis=2) == pytest.approx(30)


def test_orders_of_strengths() -> None:
    for players, count in ((2, 3), (3, 13), (4, 75), (5, 541), (6, 4683)):  # ordered Bell numbers
        orders, numbers = strength_orders(players)
        assert len(orders) == count
        code = (orders * players ** np.arange(players)).sum(axis=1)
        np.testing.assert_array_equal(numbers[code], np.arange(count))


@pytest.mark.slow
def test_two_players_reach_the_exact_equilibrium() -> None:
    found, exact = table_push_fold([8, 8], ante=0.1, deals=20_000_000), push_fold(8, ante=0.1)
    small, big = found.nodes
    assert found.title(small) == "SB"
    assert found.title(big) == "BB, after an all-in of SB"
    assert abs(found.values[0] - 8 - exact.value) < 4 * found.errors[0]
    assert 0 <= found.nash_conv[0] <= found.nash_conv[1] < 0.01
    clear = np.abs(exact.push_ev) > 0.15
    assert np.abs(small.often - exact.push)[clear].max() < 0.05
    assert np.abs(small.share - exact.pushed) < 0.03
    assert np.abs(big.share - exact.called) < 0.02
    aces = CLASSES.index("AA")
    assert small.ev[aces] == pytest.approx(exact.push_ev[aces], abs=0.3)


def test_heads_up_prizes_are_linear_in_chips() -> None:
    chips, prizes = (table_push_fold([6, 6], payouts=payouts, deals=40 * BATCH) for payouts in ((), (7, 1)))
    for one, other in zip(chips.nodes, prizes.nodes, strict=True):
        np.testing.assert_allclose(one.often, other.often, atol=0.05)  # the same deals, but other rounding
    np.testing.assert_allclose(prizes.values - prizes.before, (chips.values - chips.before) / 2, atol=2e-3)


@pytest.mark.slow
def test_icm_makes_calls_tighter() -> None:
    chips, bubble = (table_push_fold([8, 8, 8], payouts=payouts, deals=4_000_000) for payouts in ((), (50, 50)))
    assert sum(chips.values) == pytest.approx(24)
    assert sum(bubble.values) == pytest.approx(100)
    assert [node.player for node in chips.nodes] == [0, 1, 1, 2, 2, 2]
    for one, other in zip(chips.nodes, bubble.nodes, strict=True):
        if one.all_in:
            assert other.share < 0.7 * one.share
    for found in (chips, bubble):
        scale = 24 / sum(found.before)
        assert found.nash_conv[0] * scale < 0.05
        assert found.nash_conv[0] <= found.nash_conv[1]
        assert found.nodes[0].often[CLASSES.index("AA")] > 0.98
        assert found.nodes[0].share == pytest.approx(found.nodes[0].often[HAND_CLASSES].mean())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stacks": [10]}, "there are 1 stacks"),
        ({"stacks": [10] * 7}, "there are 7 stacks"),
        ({"stacks": [10, 1, 10]}, "the stack of SB is 1 big blinds"),
        ({"stacks": [10, 10], "ante": -1}, "the ante is -1"),
        ({"stacks": [10, 10], "payouts": [1, 2]}, "none larger than the one before"),
        ({"stacks": [10, 10], "deals": 10}, "10 deals are too few"),
    ],
)
def test_tables_that_cannot_be_solved(options: dict, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        table_push_fold(**options)
