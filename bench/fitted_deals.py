"""Weighted flops, turns and rivers that represent all boards, fitted to equities of the 169 hand classes.

It writes the file of :mod:`treeplex.holdem.cards.fitted_deals`, in three minutes of processor time:

    python -m bench.fitted_deals

Deals are chosen greedily: each step adds the deal with the steepest descent of the error and refits all weights by nonnegative
least squares. Turns and rivers are then chosen flop by flop, and each choice also fits part of the error of the boards chosen
before.
"""

import itertools
from time import process_time

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import nnls

from treeplex.base.arrays import Floats
from treeplex.holdem.cards.canonical import canonical_boards
from treeplex.holdem.cards.cards import HAND_CLASSES, HANDS
from treeplex.holdem.cards.class_equities import SIZE, class_equities, count_margins
from treeplex.holdem.cards.fitted_deals import FILE, SETS, DealSet
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.forms.boards import deals
from treeplex.holdem.forms.suit_symmetry import Hands, symmetries_of
from treeplex.holdem.spots.files import read_spot_file
from treeplex.holdem.spots.spot import Spot

SPOT = "examples/spots/preflop.yaml"
UPPER = np.triu_indices(SIZE, 1)
FLOPS, TURNS, RIVERS = 17_296, 45, 44
"""Deals that are possible with two hands, street by street."""
SPREAD, HELD = 0.5, 0.1
"""Weights of the other fitted features: squared equities on the flop, and the share of each class not blocked by the board."""
EVEN = {"flop": 0.01, "later": 0.02}
"""Strength of the regularisation towards equal weights."""
CARRIED = 0.5
"""Share of the error of all boards so far that the next deals also fit."""


@njit(nogil=True)
def count_boards(hands, classes, boards, found):  # type: ignore[no-untyped-def]
    """Wins less losses of classes against each other on each board, upper triangle: float32 [B, 14196]."""
    one, single = np.zeros((1, 5), np.uint8), np.ones(1, np.int64)
    margins = np.zeros((SIZE, SIZE), np.int64)
    for board in range(boards.shape[0]):
        one[0] = boards[board]
        margins[:] = 0
        count_margins(hands, classes, one, single, margins)
        place = 0
        for row in range(SIZE):
            for column in range(row + 1, SIZE):
                found[board, place] = margins[row, column] - margins[column, row]
                place += 1


@njit(nogil=True)
def add_rows(rows, weights, places, found):  # type: ignore[no-untyped-def]
    """Add each row, times its weight, to several target rows."""
    for row in range(rows.shape[0]):
        for place in places[row]:
            found[place] += weights[row] * rows[row]


def margins_of(boards: NDArray[np.uint8]) -> NDArray[np.float32]:
    """:func:`count_boards`."""
    found = np.empty((len(boards), len(UPPER[0])), np.float32)
    count_boards(HANDS, HAND_CLASSES.astype(np.int64), boards, found)
    return found


def held_beside(board: tuple[int, ...]) -> Floats:
    """The share of each class not blocked by a board, float64 [169]."""
    free = ~np.isin(HANDS, board).any(axis=1)
    return np.asarray(np.bincount(HAND_CLASSES[free], minlength=SIZE) / np.bincount(HAND_CLASSES))


def flop_margins(flops: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Wins less losses on each flop over all turns and rivers, float32 [F, 14196]; isomorphic boards are evaluated once."""
    whole, firsts = canonical_boards(HOLDEM, 5), canonical_boards(HOLDEM, 3)
    rows = firsts.find(flops.astype(np.int64))[0]
    place = np.empty(len(rows), np.int64)
    place[rows] = np.arange(len(rows))
    subsets = np.array(list(itertools.combinations(range(5), 3)))
    within = place[firsts.find(whole.boards[:, subsets].reshape(-1, 3).astype(np.int64))[0]].reshape(-1, len(subsets))
    found = np.zeros((len(flops), len(UPPER[0])), np.float32)
    for start in range(0, len(whole.boards), 1000):
        part = slice(start, start + 1000)
        add_rows(margins_of(whole.boards[part]), whole.weights[part].astype(np.float32), within[part], found)
    return found / firsts.weights[rows][:, None].astype(np.float32)


def fit(gram: Floats, aim: Floats, chosen: list[int], pull: float, equal: float) -> Floats:
    """The weights of the chosen deals by least squares, regularised towards equal weights."""
    ridge = pull * np.diag(gram).mean()
    root = np.linalg.cholesky(gram[np.ix_(chosen, chosen)] + (ridge + 1e-15) * np.eye(len(chosen)))
    return np.asarray(nnls(root.T, np.linalg.solve(root, aim[chosen] + ridge * equal))[0])


def represent(gram: Floats, aim: Floats, count: int, total: float, pull: float, barred: tuple[int, ...] = ()) -> Floats:
    """Weights of all deals, at most ``count`` of them positive, whose weighted sum of features approximates the target.

    Args:
        gram: products of features, float64 [n, n].
        aim: products of each deal's features with the target's, float64 [n].
        count: deals to choose.
        total: approximate sum of the weights.
        pull: strength of the regularisation towards equal weights.
        barred: excluded deals.
    """
    scale, found = np.sqrt(np.diag(gram)), np.zeros(len(aim))
    chosen: list[int] = []
    while len(chosen) < min(count, len(aim)):
        gain = (aim - gram @ found) / scale
        gain[[*chosen, *barred]] = -np.inf
        chosen.append(int(np.argmax(gain)))
        found[:] = 0
        found[chosen] = fit(gram, aim, chosen, pull, total / len(chosen))
    if count > 4 or len(chosen) == len(aim):
        return found

    def cost(each: list[int]) -> float:
        own = fit(gram, aim, each, pull, total / len(each))
        return float(own @ gram[np.ix_(each, each)] @ own - 2 * own @ aim[each] + 1e9 * (own <= 0).any())

    best, better = cost(chosen), True
    while better:  # few deals: exchange them one by one as long as that helps
        better = False
        for place, other in itertools.product(range(len(chosen)), range(len(aim))):
            if other not in chosen:
                swapped = [*chosen[:place], other, *chosen[place + 1 :]]
                if (found_cost := cost(swapped)) < best - 1e-12 * abs(best):
                    chosen, best, better = swapped, found_cost, True
    found[:] = 0
    found[chosen] = fit(gram, aim, chosen, pull, total / len(chosen))
    return found


class DealFeatures:
    """Flops, turns and rivers of a full deck with the features used to choose among them."""

    def __init__(self) -> None:
        self.spot: Spot = read_spot_file(SPOT).spot()
        self.symmetries = symmetries_of(self.spot, Hands(self.spot))
        self.flops = deals(self.spot, (), self.symmetries, 3)
        self.copies = np.array([len(copies) for _, copies, _ in self.flops], float)
        tables = class_equities()
        self.pairs = tables.pairs[UPPER]
        self.root = np.concatenate(
            [np.sqrt(self.pairs / self.pairs.sum()), np.sqrt(HELD * np.bincount(HAND_CLASSES) / len(HANDS))]
        )
        self.exact = np.concatenate([(2 * tables.equity - 1)[UPPER], np.ones(SIZE)]) * self.root
        self.equity = flop_margins(np.array([dealt for dealt, *_ in self.flops], np.uint8)) / (self.pairs * TURNS * RIVERS / 2)
        held = np.stack([held_beside(dealt) for dealt, *_ in self.flops]) * FLOPS / 19_600
        first = np.concatenate([self.equity, held], axis=1) * self.root
        squares = self.equity**2 * self.root[: len(self.pairs)]
        self.gram = first @ first.T + SPREAD * squares @ squares.T

    def chosen(self, counts: tuple[int, int, int], barred: tuple[int, ...] = ()) -> DealSet:
        """A set with the given numbers of flops, turns and rivers, some flops excluded."""
        flops = represent(self.gram, self.gram @ self.copies, counts[0], self.copies.sum(), EVEN["flop"], barred)
        rows, error, began = [], -self.exact, process_time()
        taken = np.flatnonzero(flops)
        for flop in taken:
            error = error + flops[flop] / FLOPS * self.features(self.equity[flop], self.flops[flop][0], FLOPS / 19_600)
        for flop in taken[np.argsort(-flops[taken], kind="stable")]:
            found, error = self.runouts(int(flop), flops[flop], counts[1:], error)
            rows += found
        print(counts, f"{process_time() - began:.0f} s, error of equities {100 * self.error(error):.2f}%", flush=True)
        return DealSet.of(rows)

    def features(self, equity: NDArray[np.floating], board: tuple[int, ...], held: float) -> Floats:
        """Weighted features: equities of pairs of classes, and shares of classes not blocked."""
        return np.asarray(np.concatenate([equity, held_beside(board) * held]) * self.root)

    def error(self, features: Floats) -> float:
        """The root mean square error of equities."""
        return float(np.linalg.norm(features[: len(self.pairs)]) / 2)

    def runouts(self, flop: int, weight: float, counts: tuple[int, int], error: Floats) -> tuple[list, Floats]:
        """Turns and rivers of a flop: rows of cards and weights, and the error of all boards including these."""
        cards, copies, fixed = self.flops[flop]
        left = [card for card in range(52) if card not in cards]
        both = list(itertools.combinations(left, 2))
        margins = margins_of(np.array([(*cards, *pair) for pair in both], np.uint8))
        number = {pair: place for place, pair in enumerate(both)}
        margin = {(one, two): margins[number[min(one, two), max(one, two)]] for one in left for two in left if one != two}
        held = FLOPS / 19_600
        turns = deals(self.spot, cards, fixed, 1)
        rows = np.stack(
            [
                self.features(
                    sum(margin[dealt[0], other] for other in left if other != dealt[0]) / (self.pairs * TURNS * RIVERS),
                    (*cards, *dealt),
                    held / 47,
                )
                for dealt, *_ in turns
            ]
        )
        target = self.features(self.equity[flop], cards, held)
        shares = self.several(rows, target, turns, counts[0], error * FLOPS / weight, 49)
        error = error + weight / FLOPS * (shares @ rows - target)
        found = []
        for turn in np.flatnonzero(shares):
            (dealt,), own, still = turns[turn]
            rivers = deals(self.spot, (*cards, dealt), still, 1)
            below = np.stack(
                [
                    self.features(margin[dealt, river] / (self.pairs * TURNS * RIVERS), (*cards, dealt, river), held / 47 / 46)
                    for (river,), *_ in rivers
                ]
            )
            part = weight * shares[turn] / FLOPS
            ends = self.several(below, rows[turn], rivers, counts[1], error / part, 48)
            error = error + part * (ends @ below - rows[turn])
            for river in np.flatnonzero(ends):
                (last,), same, _ = rivers[river]
                sizes = np.array([len(copies), len(own), len(same)])
                found.append(((*cards, dealt, last), np.array([weight, shares[turn], ends[river]]) / sizes))
        return found, error

    def several(self, rows: Floats, target: Floats, dealt: list, count: int, error: Floats, total: int) -> Floats:
        """Number of deals that each deal of a street represents."""
        aim = rows @ (target - CARRIED * error)
        return represent(rows @ rows.T, np.asarray(aim), count, total, EVEN["later"])


def main() -> None:
    """Choose the sets and write the file."""
    began = process_time()
    fitting, barred, arrays = DealFeatures(), tuple[int, ...](), {}
    print(f"flops counted, {process_time() - began:.0f} s", flush=True)
    for name, counts in SETS.items():
        found = fitting.chosen(counts, barred if name.endswith("b") else ())
        numbers = {tuple(dealt): place for place, (dealt, *_) in enumerate(fitting.flops)}
        barred = tuple(sorted({numbers[tuple(map(int, board[:3]))] for board in found.boards}))
        arrays |= {f"{name}.boards": found.boards, f"{name}.shares": found.shares.astype(np.float32)}
    np.savez_compressed(FILE, **arrays)


if __name__ == "__main__":
    main()
