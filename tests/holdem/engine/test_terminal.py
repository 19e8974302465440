"""Folds and showdowns against dense matrices over pairs of hands."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from treeplex.holdem.engine.form import ANY_CARD, NO_CARD
from treeplex.holdem.engine.showdowns.terminal import CARDS, PADDING, folds, raked_showdowns, showdowns

Floats = NDArray[np.floating]
COLUMNS = 2 * PADDING


@dataclass(frozen=True)
class Table:
    """Two lists of hands in order of strength.

    Attributes:
        cards: for each player the rows of ``HoldemForm.cards``.
        order: for each player ranks of strength, ascending.
        twin: for each player the place of the same hand in the other list, or -1.
        compatible: [n, m], whether two hands share no card.
        reach: [m + 1, columns], of the second player; the last row is zero.
    """

    cards: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    order: tuple[NDArray[np.int16], NDArray[np.int16]]
    twin: tuple[NDArray[np.int16], NDArray[np.int16]]
    compatible: NDArray[np.bool_]
    reach: Floats

    @property
    def sign(self) -> NDArray[np.int64]:
        """[n, m], who wins."""
        return np.sign(self.order[0].astype(int)[:, None] - self.order[1].astype(int)[None, :])

    @property
    def scratch(self) -> tuple[Floats, Floats, Floats]:
        """Room for values and sums, filled with what must not matter."""
        kind = self.reach.dtype
        return (
            np.full((len(self.cards[0]), COLUMNS), np.nan, kind),
            np.full(COLUMNS, np.nan, kind),
            np.full((CARDS, COLUMNS), np.nan, kind),
        )


def random_table(seed: int, hole: int, *, deck: int = 9, keep: float = 0.7, levels: int = 5, kind: type = np.float64) -> Table:
    """Random hands of a deck: each player lacks some, strengths tie, some columns are empty, cards are spread over 0..51."""
    generator = np.random.default_rng(seed)
    names = np.sort(generator.choice(52, deck, replace=False))
    hands = names[np.stack(np.triu_indices(deck, 1), axis=1)] if hole == 2 else names[:, None]
    strength = generator.integers(levels, size=len(hands))
    held = []
    for _ in range(2):
        own = np.flatnonzero(generator.random(len(hands)) < keep)
        held.append(own[np.argsort(strength[own], kind="stable")])
    cards = []
    for own in held:
        rows = hands[own]
        filler = np.full((len(own), 1), ANY_CARD), np.full((len(own), 1), NO_CARD)
        cards.append((rows[:, [0, 1, 1]] if hole == 2 else np.concatenate((rows, *filler), axis=1)).astype(np.uint8))
    twins = []
    for own, other in ((held[0], held[1].tolist()), (held[1], held[0].tolist())):
        twins.append(np.array([other.index(hand) if hole == 2 and hand in other else -1 for hand in own], np.int16))
    shared = (hands[held[0]][:, None, :, None] == hands[held[1]][None, :, None, :]).any(axis=(2, 3))
    reach = generator.random((len(held[1]) + 1, COLUMNS))
    reach[-1] = 0.0
    reach[:, 3] = 0.0
    reach[:, 5] *= generator.random(len(reach)) < 0.2
    orders = tuple(strength[own].astype(np.int16) for own in held)
    return Table((cards[0], cards[1]), (orders[0], orders[1]), (twins[0], twins[1]), ~shared, reach.astype(kind))


def by_folds(table: Table) -> Floats:
    values, total, by_card = table.scratch
    folds(table.cards[0], table.twin[0], table.cards[1], table.reach, values, total, by_card)
    return values


def by_showdowns(table: Table) -> Floats:
    values, total, by_card = table.scratch
    showdowns(table.cards[0], table.order[0], table.cards[1], table.order[1], table.reach, values, total, by_card)
    return values


def by_raked_showdowns(table: Table, chips: Floats) -> Floats:
    values, total, by_card = table.scratch
    raked_showdowns(
        table.cards[0],
        table.order[0],
        table.twin[0],
        table.cards[1],
        table.order[1],
        table.reach,
        chips.astype(values.dtype),
        values,
        total,
        by_card,
    )
    return values


def tolerance(kind: type) -> float:
    return 1e-12 if kind is np.float64 else 2e-5


TABLES = [
    pytest.param(seed, hole, options, id=f"{hole} cards, {seed}")
    for hole in (1, 2)
    for seed, options in enumerate(
        [
            {},
            {"keep": 1.0},
            {"keep": 0.2},
            {"levels": 1},
            {"levels": 1000},
            {"deck": 20, "levels": 40},
            {"deck": 4, "keep": 0.5},
            {"deck": 30, "kind": np.float32},
        ]
    )
]


@pytest.mark.slow_cases("1 cards, 7", "2 cards, 0", "2 cards, 1", "2 cards, 2", "2 cards, 7")
@pytest.mark.parametrize(("seed", "hole", "options"), TABLES)
def test_against_dense_matrices(seed: int, hole: int, options: dict[str, object]) -> None:
    table = random_table(seed, hole, **options)  # type: ignore[arg-type]
    close = {"rtol": 0, "atol": tolerance(options.get("kind", np.float64)) * max(1, len(table.reach))}  # type: ignore[arg-type]
    reach = table.reach[:-1].astype(np.float64)
    np.testing.assert_allclose(by_folds(table), table.compatible @ reach, **close)  # type: ignore[arg-type]
    np.testing.assert_allclose(by_showdowns(table), (table.compatible * table.sign) @ reach, **close)  # type: ignore[arg-type]
    chips = np.random.default_rng(seed).normal(size=(3, COLUMNS))
    won, lost, tied = ((table.compatible & (table.sign == sign)) @ reach for sign in (1, -1, 0))
    expected = chips[0] * won + chips[1] * lost + chips[2] * tied
    np.testing.assert_allclose(by_raked_showdowns(table, chips), expected, **close)  # type: ignore[arg-type]


def test_tables_have_what_they_are_for() -> None:
    table = random_table(0, 2)
    assert (table.twin[0] == -1).any()
    assert (table.twin[0] >= 0).any()
    assert (table.sign == 0).any()
    assert not table.compatible.all()
    assert (table.reach[:-1].sum(axis=0) == 0).any()
    assert np.array_equal(table.cards[0][table.twin[0] >= 0], table.cards[1][table.twin[0][table.twin[0] >= 0]])


@pytest.mark.slow_cases("2")
@pytest.mark.parametrize("hole", [1, 2])
def test_nobody_to_play_against(hole: int) -> None:
    table = random_table(1, hole)
    empty = table.cards[1][:0], table.order[1][:0]
    twin, reach = np.full(len(table.cards[0]), -1, np.int16), table.reach[-1:]
    for kernel, arguments in (
        (folds, (table.cards[0], twin, empty[0], reach)),
        (showdowns, (table.cards[0], table.order[0], *empty, reach)),
        (raked_showdowns, (table.cards[0], table.order[0], twin, *empty, reach, np.ones((3, COLUMNS)))),
    ):
        values, total, by_card = table.scratch
        kernel(*arguments, values, total, by_card)
        assert (values == 0).all()
