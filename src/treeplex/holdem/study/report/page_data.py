"""Report of a solved spot's node, for display and export: totals, hand classes and hands of both players.

EVs are chips won or lost relative to half the starting pot, as everywhere in the library; :meth:`NodeReport.from_the_pot`
converts them to chips won from the pot from here on, where a fold is worth 0, as commands and pages show them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, HANDS, PICTURES, cards_to_string, hand_numbers
from treeplex.holdem.cards.format import Format
from treeplex.holdem.cards.ranges import parse_range

PLAYERS = ("OOP", "IP")
"""Names of the players: out of position, in position."""
ABSENT = 0.0005
"""Weight, relative to the largest, below which a hand class is shown as absent and a hand is listed last."""
LEAST_HEIGHT = 0.06
"""Smallest filled height, so that rare classes stay visible."""


class ActionLike(Protocol):
    """An action of a betting tree: ``kind``, and ``amount``, the player's chips on this street after it; ``str`` names it."""

    @property
    def kind(self) -> str: ...
    @property
    def amount(self) -> float: ...


class NodeView(Protocol):
    """A node of a solved spot; see :mod:`treeplex.holdem.solve.solve_spot`."""

    @property
    def board(self) -> tuple[int, ...]: ...
    @property
    def street(self) -> int: ...
    @property
    def player(self) -> int | None: ...
    @property
    def pot(self) -> float: ...
    @property
    def stacks(self) -> tuple[float, float]: ...
    @property
    def street_bets(self) -> tuple[float, float]: ...
    @property
    def actions(self) -> Sequence[ActionLike]: ...
    @property
    def line(self) -> str: ...
    @property
    def strategy(self) -> NDArray[np.floating]: ...
    @property
    def action_ev(self) -> NDArray[np.floating]: ...
    @property
    def frequency(self) -> NDArray[np.floating]: ...
    @property
    def represents(self) -> float: ...
    def hands_of(self, player: int) -> NDArray[np.integer]: ...
    def weight_of(self, player: int) -> NDArray[np.floating]: ...
    def compatible_of(self, player: int) -> NDArray[np.floating]: ...
    def ev_of(self, player: int) -> NDArray[np.floating]: ...
    def equity_of(self, player: int) -> NDArray[np.floating]: ...
    def children(self) -> Sequence[str]: ...


@dataclass(frozen=True, eq=False)
class Side:
    """One player at a node, hand by hand.

    Attributes:
        player: 0 out of position, 1 in position.
        cards: uint8 [n, hole], the hands that the board does not block, the lower card first.
        names: [n], the hands as text, ``"AsKd"``.
        weight: [n], weight in the starting range, whose largest weight counts as 1, times the player's own reach.
        share: [n], ``weight`` times the opponent's compatible reach, normalised to sum 1 (all zero at zero reach).
        ev: [n], chips relative to half the starting pot; NaN where the hand or all opposing hands have zero reach.
        equity: [n], share of the pot at a showdown without further betting, in [0, 1]; NaN likewise.
        frequency: [A, n], the strategy; A = 0 for the player not to act.
        action_ev: [A, n], chips relative to half the starting pot after each action.
    """

    player: int
    cards: NDArray[np.uint8]
    names: tuple[str, ...]
    weight: Floats
    share: Floats
    ev: Floats
    equity: Floats
    frequency: Floats
    action_ev: Floats

    def mean(self, values: Floats) -> float:
        """Mean of a per-hand value over the range, weighted by ``share``; NaN at zero reach."""
        return weighted_mean(values, self.share)

    def with_more(self, chips: float) -> "Side":
        """A copy with all EVs raised by ``chips``."""
        return replace(self, ev=self.ev + chips, action_ev=self.action_ev + chips)

    @property
    def totals(self) -> Floats:
        """The whole range's frequency of each action, [A]."""
        return np.array([self.mean(row) for row in self.frequency])

    @property
    def combos(self) -> float:
        """Weighted number of combos in the range."""
        return float(self.weight.sum())

    @property
    def action_combos(self) -> Floats:
        """Weighted number of combos that take each action, [A]."""
        return np.asarray(self.frequency @ self.weight)

    @property
    def action_values(self) -> Floats:
        """EV of each action over the hands that take it, [A]; NaN for an action never taken."""
        return np.array(
            [weighted_mean(ev, self.share * taken) for ev, taken in zip(self.action_ev, self.frequency, strict=True)]
        )


def weighted_mean(values: Floats, weights: Floats) -> float:
    """The weighted mean of the finite values; NaN where no weight is left."""
    good = np.isfinite(values) & (weights > 0)
    total = float(weights[good].sum())
    return float(values[good] @ weights[good]) / total if total > 0 else float("nan")


@dataclass(frozen=True, eq=False)
class Classes:
    """A player's side aggregated by hand class, in the order of ``CLASSES``.

    Attributes:
        possible: [169], number of hands of the class that the board leaves.
        weight: [169], mean weight of those hands, in [0, 1] for ranges in [0, 1].
        share: [169], share of the range; sums to 1.
        frequency: [A, 169], the class's frequency of each action; NaN for an absent class.
        ev: [169], chips relative to half the starting pot; NaN for an absent class.
        equity: [169], in [0, 1]; NaN for an absent class.
    """

    possible: NDArray[np.int64]
    weight: Floats
    share: Floats
    frequency: Floats
    ev: Floats
    equity: Floats

    @property
    def heights(self) -> Floats:
        """Filled height of each cell, [169]: relative weight, with a minimum for rare classes; 0 for absent ones."""
        largest = float(self.weight.max())
        beside: Floats = self.weight / largest if largest > 0 else self.weight
        return np.where(beside >= ABSENT, np.maximum(beside, LEAST_HEIGHT), 0.0)


@dataclass(frozen=True, eq=False)
class NodeReport:
    """Report of a node, for both players.

    Attributes:
        line: canonical line to the node; empty at the root.
        cards: the board cards.
        street: the street's name.
        player: the player to act; None where chance deals or the hand is over.
        pot: chips in the pot, bets of this street included.
        stacks: chips behind.
        committed: each player's chips in the pot, including half of the starting pot.
        actions: names such as ``"bet 120"``.
        kinds: kinds of the actions: fold, check, call, bet, raise, allin.
        sides: out of position, in position.
        children: the lines one step further.
    """

    line: str
    cards: tuple[int, ...]
    street: str
    player: int | None
    pot: float
    stacks: tuple[float, float]
    committed: tuple[float, float]
    actions: tuple[str, ...]
    sizes: tuple[str, ...]
    kinds: tuple[str, ...]
    sides: tuple[Side, Side]
    children: tuple[str, ...]

    @property
    def board(self) -> str:
        """The board as text, ``"Td9d6h"``."""
        return cards_to_string(self.cards)

    def from_the_pot(self) -> "NodeReport":
        """A copy whose EVs count chips won from the pot from this node onwards."""
        oop, ip = (side.with_more(chips) for side, chips in zip(self.sides, self.committed, strict=True))
        return replace(self, sides=(oop, ip))


class SpotLike(Protocol):
    """The fields of a spot that a report needs; see :class:`treeplex.holdem.spots.spot.Spot`."""

    @property
    def pot(self) -> float: ...
    @property
    def stack(self) -> float: ...
    @property
    def format(self) -> Format: ...
    @property
    def ranges(self) -> tuple[Floats, Floats]: ...


def report(view: NodeView, spot: SpotLike) -> NodeReport:
    """The report of a node: a ``view`` of it (``solution.at(line)``), and the ``spot``."""
    acting, format = view.player, spot.format
    sides = (side(view, 0, spot), side(view, 1, spot))
    actions = tuple(view.actions) if acting is not None else ()
    return NodeReport(
        line=view.line,
        cards=tuple(int(card) for card in view.board),
        street=HOLDEM_STREETS[view.street] if format.deal == (0, 3, 1, 1) else f"street {view.street}",
        player=acting,
        pot=float(view.pot),
        stacks=(float(view.stacks[0]), float(view.stacks[1])),
        committed=(committed(view.stacks[0], spot), committed(view.stacks[1], spot)),
        actions=tuple(str(action) for action in actions),
        sizes=tuple(sized(action, view) for action in actions),
        kinds=tuple(action.kind for action in actions),
        sides=sides,
        children=tuple(view.children()),
    )


def committed(left: float, spot: SpotLike) -> float:
    """A player's chips in the pot, including half of the starting pot, given ``left`` chips behind."""
    return spot.pot / 2 + spot.stack - float(left)


def side(view: NodeView, player: int, spot: SpotLike) -> Side:
    """One player's side of a view."""
    format = spot.format
    hands = np.asarray(view.hands_of(player))
    compatible = np.nan_to_num(np.asarray(view.compatible_of(player), dtype=np.float64))
    total = compatible.sum()
    acts = view.player == player
    empty = np.zeros((0, len(hands)))
    return Side(
        player=player,
        cards=format.hands[hands],
        names=tuple(format.names(int(hand) for hand in hands)),
        weight=np.asarray(view.weight_of(player), dtype=np.float64) / max(float(spot.ranges[player].max()), 1e-300),
        share=compatible / total if total > 0 else compatible,
        ev=np.asarray(view.ev_of(player), dtype=np.float64),
        equity=np.asarray(view.equity_of(player), dtype=np.float64),
        frequency=np.asarray(view.strategy, dtype=np.float64) if acts else empty,
        action_ev=np.asarray(view.action_ev, dtype=np.float64) if acts else empty,
    )


def chosen_hands(side: Side, wanted: str | None, *, few: int = 12) -> tuple[list[int], int]:
    """Rows of a table of hands, and the number of hands omitted.

    Args:
        side: the player.
        wanted: ``"all"``, a hand (``AsKs``), or classes or ranges (``AK,QQ+``), all listed from high cards to low; None for the
            few hands of highest EV (hands of tiny weight last).
        few: number of hands for None.

    Raises:
        SpecError: the text names no hands, or none in the range.
    """
    order = [int(row) for row in np.lexsort(tuple(-column.astype(np.int64) for column in side.cards.T)) if side.weight[row] > 0]
    if wanted is None:
        least = ABSENT * float(side.weight.max(initial=0.0))
        rank = np.where(np.isfinite(side.ev), -side.ev, math.inf)
        best = sorted(order, key=lambda row: (side.weight[row] < least, rank[row]))
        return best[:few], max(0, len(order) - few)
    wanted = wanted.translate(PICTURES)
    if wanted.strip().lower() == "all":
        return order, 0
    if side.cards.shape[1] == 2:
        named = parse_range(wanted) > 0
        numbers = hand_numbers(side.cards)
        rows = [row for row in order if named[numbers[row]]]
    else:
        words = [word.strip().lower() for word in wanted.split(",")]
        rows = [row for row in order if any(word and side.names[row].lower().startswith(word) for word in words)]
    if not rows:
        raise SpecError(f"no hand of {PLAYERS[side.player]} here is in {wanted!r}; write hands such as AsKs or AK,QQ+, or all")
    return rows, 0


def sized(action: ActionLike, view: NodeView) -> str:
    """The size of a bet or raise in percent of the pot after calling, ``"60%"``; empty for other actions."""
    if action.kind not in ("bet", "raise", "allin") or view.player is None:
        return ""
    put_in, other = view.street_bets[view.player], view.street_bets[1 - view.player]
    after_call = view.pot + other - put_in
    if action.amount <= other or after_call <= 0:
        return ""
    return f"{100 * (action.amount - other) / after_call:.0f}%"


def hand_classes(side: Side, board: Sequence[int]) -> Classes:
    """A ``side`` of a node by hand class, on its ``board``; only for formats with two hole cards."""
    size = len(CLASSES)
    numbers = class_numbers(side.cards)
    gone = np.isin(HANDS, np.array(board, dtype=np.uint8)).any(axis=1)
    possible = np.bincount(HAND_CLASSES[~gone], minlength=size)
    # At zero reach all shares are zero, but the strategy is still of interest: use weights, then hands.
    measure = next((candidate for candidate in (side.share, side.weight) if candidate.sum() > 0), np.ones(len(numbers)))

    def total(values: Floats) -> Floats:
        return summed(np.nan_to_num(values) * measure, numbers)

    def mean(values: Floats) -> Floats:
        known = total(np.isfinite(values).astype(np.float64))
        means: Floats = np.divide(total(values), known, out=np.full(size, np.nan), where=known > 0)
        return means

    weight = summed(side.weight, numbers)
    frequency = np.array([mean(row) for row in side.frequency]).reshape(len(side.frequency), size)
    return Classes(
        possible=possible,
        weight=np.divide(weight, possible, out=np.zeros(size), where=possible > 0),
        share=summed(side.share, numbers),
        frequency=frequency,
        ev=mean(side.ev),
        equity=mean(side.equity),
    )


def summed(values: Floats, numbers: NDArray[np.int64]) -> Floats:
    """Sums over the hands of each class, float64 [169]."""
    return np.bincount(numbers, weights=values, minlength=len(CLASSES)).astype(np.float64)


def class_numbers(cards: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Index in ``CLASSES`` of hands given as cards [n, 2], the lower card first, int64 [n]."""
    return HAND_CLASSES[hand_numbers(cards)].astype(np.int64)
