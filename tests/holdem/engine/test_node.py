"""Reach, local updates and best responses on a tile of hands against loops over single hands."""

from dataclasses import dataclass

import numpy as np
import pytest

from treeplex.base.arrays import Floats
from treeplex.engine.tree.regret import ADAPTIVE_CAP, Weights
from treeplex.holdem.engine.node import TILE, accumulate, best, blend, expect, play, update, update_adaptively

ROOTS, HANDS, LOW, WIDTH = 2, 37, 16, 11
NODES = np.array([[0, 0, 2], [1, 2, 3], [2, 5, 1], [3, 6, 2], [5, 8, 2]])
"""Two roots; the third node has one action, the fourth and fifth follow actions of the first two."""
ACTIONS = 10
BASE = 7


@dataclass
class Tile:
    """Stored arrays around a board, and rows of a tile; everything outside must stay as it is."""

    regrets: Floats
    guesses: Floats
    rows: Floats
    scratch: Floats

    @property
    def start(self) -> int:
        return BASE + LOW

    def seen(self, stored: Floats) -> Floats:
        """The tile of a stored array, [actions, width]."""
        return np.stack([stored[BASE + e * HANDS + LOW :][:WIDTH] for e in range(ACTIONS)])

    def others(self, stored: Floats) -> Floats:
        """All numbers of a stored array that are not the tile's."""
        mine = {BASE + e * HANDS + LOW + j for e in range(ACTIONS) for j in range(WIDTH)}
        return stored[[q for q in range(len(stored)) if q not in mine]]


def random_tile(seed: int) -> Tile:
    """Regrets with all signs and some infosets without a positive one."""
    generator = np.random.default_rng(seed)
    size = BASE + ACTIONS * HANDS + 5
    regrets, guesses = generator.normal(size=size), generator.normal(size=size)
    for e, hand in ((0, 1), (1, 1), (2, 3), (3, 3), (4, 3)):
        for stored in (regrets, guesses):
            stored[BASE + e * HANDS + LOW + hand] *= -np.sign(stored[BASE + e * HANDS + LOW + hand])
    regrets[BASE + 6 * HANDS + LOW + 2] = guesses[BASE + 6 * HANDS + LOW + 2] = 0.0
    rows = np.full((ROOTS + ACTIONS, TILE), np.nan)
    rows[:, :WIDTH] = generator.normal(size=(ROOTS + ACTIONS, WIDTH))
    return Tile(regrets, guesses, rows, np.full((3, TILE), np.nan))


def policy(numbers: Floats) -> Floats:
    """Regret matching at every node, [actions, width]."""
    played = np.empty_like(numbers)
    for _, first, actions in NODES:
        positive = np.maximum(numbers[first : first + actions], 0.0)
        total = positive.sum(axis=0)
        played[first : first + actions] = np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1.0 / actions)
    return played


def backed_up(rows: Floats, played: Floats) -> tuple[Floats, Floats]:
    """Action values with everything below, [sequences, width], and each node's value, [nodes, width]."""
    values, at_nodes = rows.copy(), np.empty((len(NODES), rows.shape[1]))
    for x in reversed(range(len(NODES))):
        parent, first, actions = NODES[x]
        at_nodes[x] = (played[first : first + actions] * values[ROOTS + first : ROOTS + first + actions]).sum(axis=0)
        values[parent] += at_nodes[x]
    return values, at_nodes


def instant_regrets(values: Floats, at_nodes: Floats) -> Floats:
    regrets = np.empty((ACTIONS, values.shape[1]))
    for x, (_, first, actions) in enumerate(NODES):
        regrets[first : first + actions] = values[ROOTS + first : ROOTS + first + actions] - at_nodes[x]
    return regrets


def test_play() -> None:
    tile = random_tile(0)
    tile.rows[:ROOTS] = np.abs(tile.rows[:ROOTS])
    roots, played = tile.rows[:ROOTS, :WIDTH].copy(), policy(tile.seen(tile.regrets))
    play(NODES, ROOTS, tile.regrets, tile.start, HANDS, WIDTH, tile.rows, tile.scratch)
    reach = np.concatenate((roots, np.zeros((ACTIONS, WIDTH))))
    for parent, first, actions in NODES:
        reach[ROOTS + first : ROOTS + first + actions] = reach[parent] * played[first : first + actions]
    np.testing.assert_allclose(tile.rows[:, :WIDTH], reach, rtol=1e-12)
    np.testing.assert_array_equal(tile.rows[:ROOTS, :WIDTH], roots)


def test_accumulate_and_blend() -> None:
    tile, target = random_tile(1), np.random.default_rng(2).normal(size=BASE + ACTIONS * HANDS + 5)
    average, before = tile.regrets, tile.regrets.copy()
    accumulate(ACTIONS, ROOTS, average, tile.start, HANDS, WIDTH, tile.rows, 0.25, 3.0)
    reach = tile.rows[ROOTS:, :WIDTH]
    np.testing.assert_allclose(tile.seen(average), 0.25 * tile.seen(before) + 3.0 * reach, rtol=1e-12)
    np.testing.assert_array_equal(tile.others(average), tile.others(before))
    unchanged = target.copy()
    blend(ACTIONS, ROOTS, average, target, tile.start, HANDS, WIDTH, tile.rows, 0.3)
    np.testing.assert_allclose(tile.seen(target), 0.7 * tile.seen(average) + 0.3 * reach, rtol=1e-12)
    np.testing.assert_array_equal(tile.others(target), tile.others(unchanged))


PLAIN = [
    Weights(),
    Weights(floor=1.0),
    Weights(positive=0.3, negative=0.6, regret=2.0),
    Weights(positive=0.0, negative=0.5),
]
PREDICTING = [
    Weights(floor=1.0, prediction=1.0),
    Weights(positive=0.3, negative=0.6, predicted_positive=0.7, predicted_negative=0.2, prediction=0.5),
]


@pytest.mark.parametrize("weights", PLAIN + PREDICTING)
@pytest.mark.parametrize("seed", [3, 4])
def test_update(weights: Weights, seed: int) -> None:
    tile, predicts = random_tile(seed), weights in PREDICTING
    guesses = tile.guesses if predicts else tile.regrets
    regrets, rows = tile.seen(tile.regrets), tile.rows[:, :WIDTH].copy()
    rest = tile.others(tile.regrets).copy(), tile.others(guesses).copy()
    values, at_nodes = backed_up(rows, policy(tile.seen(guesses)))
    row = np.array(weights)
    update(NODES, ROOTS, tile.regrets, guesses, predicts, tile.start, HANDS, WIDTH, row, tile.rows, tile.scratch)
    new = instant_regrets(values, at_nodes)
    expected = regrets * np.where(regrets > 0, weights.positive, weights.negative) + weights.regret * new
    expected = np.maximum(expected, 0.0) if weights.floor else expected
    np.testing.assert_allclose(tile.rows[:, :WIDTH], values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tile.seen(tile.regrets), expected, rtol=1e-11, atol=1e-12)
    if predicts:
        factor = np.where(expected > 0, weights.predicted_positive, weights.predicted_negative)
        guess = np.maximum(expected * factor + weights.prediction * new, 0.0)
        np.testing.assert_allclose(tile.seen(guesses), guess, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(tile.others(tile.regrets), rest[0])
    np.testing.assert_array_equal(tile.others(guesses), rest[1])


def test_update_adaptively() -> None:
    tile, weights = random_tile(5), Weights(positive=0.9, negative=0.8, floor=1.0, predicted_positive=0.7, prediction=1.0)
    generator = np.random.default_rng(6)
    previous, changes = generator.normal(size=len(tile.regrets)), np.zeros((2, len(NODES) * HANDS + 9))
    before = tile.seen(tile.regrets), tile.seen(previous)
    values, at_nodes = backed_up(tile.rows[:, :WIDTH], policy(tile.seen(tile.guesses)))
    row = np.array(weights)
    update_adaptively(
        *(NODES, ROOTS, tile.regrets, tile.guesses, previous, changes, tile.start, HANDS, 9 + LOW, HANDS, WIDTH),
        *(row, tile.rows, tile.scratch),
    )
    new = instant_regrets(values, at_nodes)
    factor = np.where(before[0] > 0, weights.positive, weights.negative)
    regrets = np.maximum(before[0] * factor + new, 0.0)
    np.testing.assert_allclose(tile.seen(tile.regrets), regrets, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(tile.seen(previous), new, rtol=1e-11, atol=1e-12)
    guesses = np.empty_like(regrets)
    for x, (_, first, actions) in enumerate(NODES):
        own = slice(first, first + actions)
        sums = [((now - then)[own] ** 2).sum(axis=0) for now, then in ((new, before[1]), (regrets, before[0]))]
        place = 9 + LOW + x * HANDS
        np.testing.assert_allclose(changes[:, place : place + WIDTH], sums, rtol=1e-11)
        with np.errstate(divide="ignore", invalid="ignore"):
            damping = np.where(sums[1] > 0, np.minimum(np.sqrt(sums[0] / sums[1]), ADAPTIVE_CAP), ADAPTIVE_CAP * (sums[0] > 0))
        predicted = regrets[own] * np.where(regrets[own] > 0, weights.predicted_positive, weights.predicted_negative)
        guesses[own] = np.maximum(predicted + new[own] / (1.0 + damping), 0.0)
    np.testing.assert_allclose(tile.seen(tile.guesses), guesses, rtol=1e-11, atol=1e-12)


def test_expect() -> None:
    tile = random_tile(7)
    values, _ = backed_up(tile.rows[:, :WIDTH], policy(tile.seen(tile.regrets)))
    expect(NODES, ROOTS, tile.regrets, tile.start, HANDS, WIDTH, tile.rows, tile.scratch)
    np.testing.assert_allclose(tile.rows[:, :WIDTH], values, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("locked_nodes", [(), (0, 4), (1, 2, 3)])
@pytest.mark.parametrize("keep", [False, True])
def test_best(locked_nodes: tuple[int, ...], keep: bool) -> None:
    tile, first_infoset = random_tile(8), 4
    locked = np.zeros(first_infoset + len(NODES) * HANDS if locked_nodes else 0, np.uint8)
    held = policy(tile.seen(tile.regrets))
    for e in range(ACTIONS):
        tile.regrets[tile.start + e * HANDS :][:WIDTH] = held[e]
    lock = np.zeros((len(NODES), WIDTH), bool)
    for x in locked_nodes:
        lock[x, ::2] = True
        locked[first_infoset + x * HANDS + LOW :][:WIDTH] = lock[x]
    tile.rows[ROOTS + 8, 4] = tile.rows[ROOTS + 9, 4]  # equal actions
    values, played = tile.rows[:, :WIDTH].copy(), np.zeros((ACTIONS, WIDTH))
    for x in reversed(range(len(NODES))):
        parent, first, actions = NODES[x]
        action_values = values[ROOTS + first : ROOTS + first + actions]
        pure = (np.arange(actions)[:, None] == action_values.argmax(axis=0)).astype(float)
        played[first : first + actions] = np.where(lock[x], held[first : first + actions], pure)
        values[parent] += (played[first : first + actions] * action_values).sum(axis=0)
    rest = tile.others(tile.regrets).copy()
    best(
        *(NODES, ROOTS, tile.regrets, locked, tile.start, HANDS, first_infoset + LOW, HANDS, WIDTH, keep),
        *(tile.rows, tile.scratch),
    )
    np.testing.assert_allclose(tile.rows[:, :WIDTH], values, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(tile.others(tile.regrets), rest)
    free = np.repeat(~lock, NODES[:, 2], axis=0)
    kept = tile.seen(tile.regrets)
    np.testing.assert_array_equal(kept[free] if keep else kept, played[free] if keep else held)


def test_single_precision_drops_what_is_too_small() -> None:
    """Arithmetic near the smallest numbers of single precision is slow, so reach and regrets below 1e-30 become zero."""
    tile = random_tile(9)
    regrets, rows, scratch = (array.astype(np.float32) for array in (tile.regrets, tile.rows, tile.scratch))
    rows[:ROOTS] = 1e-31
    play(NODES, ROOTS, regrets, tile.start, HANDS, WIDTH, rows, scratch)
    assert (rows[ROOTS:, :WIDTH] == 0).all()
    regrets[:] = 1e-31
    rows[:, :WIDTH] = 0
    update(NODES, ROOTS, regrets, regrets, False, tile.start, HANDS, WIDTH, np.array(Weights()), rows, scratch)
    assert (tile.seen(regrets) == 0).all()
