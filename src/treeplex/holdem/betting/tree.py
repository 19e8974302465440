"""The betting tree of a spot: all betting lines of all remaining streets, with the cards factored out.

What players may bet does not depend on the cards, so one tree serves every board: a street ends in one :class:`StreetEnd`,
whatever card comes next. Nodes are numbered in preorder, the root is node 0.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from treeplex.errors import SpecError
from treeplex.games.betting.stakes import Stakes
from treeplex.games.public import Bets
from treeplex.holdem.betting.moves import Move, Sizing, SpotBetting
from treeplex.holdem.spots.spot import Rake, Spot

MOST_NODES = 2_000_000
BET_KINDS = {"fold": "fold", "check": "pass", "call": "pass"}
MOST_TABLES = 15_000
"""Tables of a street at most, about, from which its size is counted."""


@dataclass(frozen=True, slots=True)
class Action:
    """What a player does.

    Attributes:
        kind: ``fold``, ``check``, ``call``, ``bet``, ``raise`` or ``allin`` (a bet or raise of the whole stack).
        amount: for bets and raises the player's chips on this street after the action ("raise to"), for a call the chips
            matched on this street, else 0.
    """

    kind: str
    amount: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.amount:.12g}" if self.kind in ("bet", "raise", "allin") else self.kind


@dataclass(frozen=True, slots=True)
class Decision:
    """A player acts.

    Attributes:
        street: index of ``format.deal``.
        player: 0 out of position, 1 in position.
        actions: fold and call, or check; then bets or raises by amount, all-in last.
        children: the node after each action.
        contributions: chips each player has in the pot, half of the starting pot included.
        street_bets: chips each player has put in on this street.
    """

    street: int
    player: int
    actions: tuple[Action, ...]
    children: tuple[int, ...]
    contributions: tuple[float, float]
    street_bets: tuple[float, float]

    def bets(self) -> Bets:
        """The actions as bets."""
        faced, pot = max(self.street_bets), 2 * max(self.contributions)
        kinds = tuple(BET_KINDS.get(action.kind, "bet") for action in self.actions)
        raised = np.array([kind == "bet" for kind in kinds])
        chips = np.where(raised, [action.amount for action in self.actions], 0.0)
        return Bets(kinds, np.where(raised, (chips - faced) / pot, 0.0), chips, pot)


@dataclass(frozen=True, slots=True)
class Fold:
    """Player ``loser`` folded on ``street``."""

    street: int
    loser: int
    contributions: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Showdown:
    """Betting ended on ``street``; before the last one both are all-in and the board runs out."""

    street: int
    contributions: tuple[float, float]


@dataclass(frozen=True, slots=True)
class StreetEnd:
    """``street`` ended with chips left: cards are dealt, then node ``child``, a decision, opens the next one."""

    street: int
    child: int
    contributions: tuple[float, float]


Node = Decision | Fold | Showdown | StreetEnd


@dataclass(frozen=True, eq=False)
class BettingTree:
    """All nodes in preorder, and the streets they lie on."""

    nodes: tuple[Node, ...]
    streets: range

    def __len__(self) -> int:
        return len(self.nodes)

    def decisions(self, street: int | None = None) -> Iterator[tuple[int, Decision]]:
        """The decisions (of one street) with their numbers, in preorder."""
        for number, node in enumerate(self.nodes):
            if isinstance(node, Decision) and street in (None, node.street):
                yield number, node


def payoffs(node: Fold | Showdown, rake: Rake) -> tuple[float, ...]:
    """What a terminal pays, in chips against getting back half of the starting pot each.

    With m the smaller contribution, the pot is 2m (an uncalled bet goes back) and the rake r is taken from it: the winner gets
    m - r, the loser -m, and in a tie both get -r/2.

    Returns:
        For a fold the payoffs of players 0 and 1; for a showdown those for a win, a loss and a tie.
    """
    matched, taken = min(node.contributions), rake_taken(node, rake)
    if isinstance(node, Showdown):
        return matched - taken, -matched, -taken / 2
    return (-matched, matched - taken) if node.loser == 0 else (matched - taken, -matched)


def rake_taken(node: Fold | Showdown, rake: Rake) -> float:
    """The chips that the house takes from the pot of a terminal."""
    return rake.of(2 * min(node.contributions), dealt=isinstance(node, Showdown) or node.street > 0)


def stakes_of(node: Node) -> Stakes:
    """The chips at a node of the betting; settled where it has ended."""
    return Stakes(node.contributions, node.street, isinstance(node, Fold | Showdown))


def betting_tree(spot: Spot) -> BettingTree:
    """Every betting line of a spot.

    Raises:
        SpecError: more than ``MOST_NODES`` nodes, found out before any is built.
    """
    check_nodes(betting_size(spot).nodes)
    builder = TreeBuilder(spot)
    builder.grow()
    return BettingTree(tuple(builder.frozen()), spot.streets)


def check_nodes(nodes: int) -> None:
    """Refuse a betting tree of more than ``MOST_NODES`` nodes.

    Raises:
        SpecError: it is larger.
    """
    if nodes > MOST_NODES:
        raise SpecError(
            f"the betting tree has more than {MOST_NODES:,} nodes; offer fewer sizes, or raise merge or force_allin"
        )


@dataclass
class StreetSize:
    """How much betting a street has, cards factored out.

    Attributes:
        roots: ways to come to the street; all-ins from before, after which nobody acts, are among them.
        decisions, actions: decisions of each player, and the actions there.
        folds, showdowns: where betting ends; a showdown counts on the street on which the board is complete.
        ends: ways to leave the street for the next one, as its ``roots``.
    """

    roots: int = 0
    decisions: list[int] = field(default_factory=lambda: [0, 0])
    actions: list[int] = field(default_factory=lambda: [0, 0])
    folds: int = 0
    showdowns: int = 0
    ends: int = 0


@dataclass(frozen=True)
class BettingSize:
    """The size of a betting tree.

    Attributes:
        streets: of each street that is played.
        nodes: nodes of the tree, as :func:`betting_tree` would number them.
        exact: whether all was counted; else the streets with more than ``MOST_TABLES`` tables were scaled up from those.
    """

    streets: tuple[StreetSize, ...]
    nodes: int
    exact: bool


def betting_size(spot: Spot) -> BettingSize:
    """The size of a spot's betting tree by arithmetic: betting that goes on from equal tables is counted once and multiplied.

    It takes a second or two at most, whatever the size.

    Raises:
        SpecError: a single street has so many lines that even counting them was broken off.
    """
    sizing, nodes, exact = Sizing(spot), 0, True
    opened, all_in, streets = Counter({sizing.root(): 1}), 0, []
    for street in spot.streets:
        size, following, last = StreetSize(roots=opened.total() + all_in), Counter[SpotBetting](), street == spot.streets[-1]
        tables, counted, begun = list(opened), 0, 0
        for place in random.Random(street).sample(range(len(tables)), len(tables)):
            if counted > MOST_TABLES:
                break
            begun += opened[tables[place]]
            counted += count_street(sizing, tables[place], opened[tables[place]], size, following)
        if 0 < begun < opened.total():
            exact, share = False, Fraction(opened.total(), begun)
            size = StreetSize(size.roots, *(scaled(getattr(size, name), share) for name in COUNTED))
            following = Counter({table: round(times * share) for table, times in following.items()})
        ended = size.showdowns
        nodes += sum(size.decisions) + size.folds + size.showdowns + following.total()
        if last:
            size.showdowns += all_in
        else:
            all_in += ended
            size.showdowns, size.ends = 0, following.total() + all_in
        opened = following
        streets.append(size)
    return BettingSize(tuple(streets), nodes, exact)


COUNTED = ("decisions", "actions", "folds", "showdowns")


def scaled(count: int | list[int], share: Fraction) -> Any:
    """Counts made larger by a factor."""
    return [round(each * share) for each in count] if isinstance(count, list) else round(count * share)


def count_street(sizing: Sizing, root: SpotBetting, times: int, size: StreetSize, following: Counter[SpotBetting]) -> int:
    """Count the betting of one street from a table that ``times`` lines come to; return how many tables there were.

    Args:
        sizing: the spot's.
        root: where the street begins.
        times: lines that come there.
        size: counts are added to it; showdowns before the last street too.
        following: to it are added the tables that open the next street, and the lines that come to each.
    """
    waiting, order, counted = {root: times}, count(), 0
    heap = [(0, 0, next(order), root)]
    while heap:  # tables with fewer chips in come first, so that all lines to a table are known when it is counted
        if counted > MOST_TABLES and counted % 1000 == 0:
            check_nodes(sum(size.decisions) + size.folds + size.showdowns + 2 * sum(waiting.values()))
        table = heappop(heap)[-1]
        lines, moves = waiting.pop(table), sizing.moves(table)
        counted += 1
        size.decisions[table.player] += lines
        size.actions[table.player] += lines * len(moves)
        for move in moves:
            what, after = sizing.after(table, move)
            if what == "fold":
                size.folds += lines
            elif what == "showdown":
                size.showdowns += lines
            elif what == "street":
                following[after] += lines
            elif after in waiting:
                waiting[after] += lines
            else:
                waiting[after] = lines
                heappush(heap, (sum(after.street_bets), -after.to_act, next(order), after))
    return counted


class Draft:
    """A decision or street end whose children are still to come."""

    __slots__ = ("children", "moves", "table")

    def __init__(self, table: SpotBetting, moves: list[Move]) -> None:
        self.table = table
        self.moves = moves
        self.children: list[int] = []


class TreeBuilder:
    """Grows the tree depth first with its own stack, so that long lines do not exhaust Python's."""

    def __init__(self, spot: Spot) -> None:
        self.sizing = Sizing(spot)
        self.half_pot = spot.pot / 2
        self.drafts: list[Draft | Fold | Showdown] = []

    def grow(self) -> None:
        """Visit every node in preorder."""
        pending: list[tuple[SpotBetting, int, int]] = [(self.sizing.root(), -1, -1)]
        while pending:
            table, parent, move = pending.pop()
            number = len(self.drafts)
            check_nodes(number + 1)
            if parent >= 0:
                self.parent(parent).children.append(number)
            node = self.node(table, None if parent < 0 else self.parent(parent), move)
            self.drafts.append(node)
            if isinstance(node, Draft):
                pending.extend((node.table, number, move) for move in reversed(range(max(1, len(node.moves)))))

    def parent(self, number: int) -> Draft:
        """The draft with this number."""
        draft = self.drafts[number]
        assert isinstance(draft, Draft)
        return draft

    def node(self, table: SpotBetting, parent: Draft | None, move: int) -> Draft | Fold | Showdown:
        """The node after move number ``move`` of a parent (the parent's ``table``), or after its cards are dealt."""
        if parent is None or not parent.moves:
            return self.decision(table)
        what, after = self.sizing.after(table, parent.moves[move])
        if what == "decision":
            return self.decision(after)
        if what == "fold":
            return Fold(table.street, table.player, self.contributions(table))
        if what == "showdown":
            return Showdown(table.street, self.contributions(after))
        return Draft(after, [])

    def decision(self, table: SpotBetting) -> Draft:
        """A decision at this table."""
        return Draft(table, self.sizing.moves(table))

    def contributions(self, table: SpotBetting) -> tuple[float, float]:
        """Chips in the pot, from each player."""
        paid = [self.half_pot + self.chips(self.sizing.stack - stack) for stack in table.stacks]
        return paid[0], paid[1]

    def chips(self, units: int) -> float:
        """Smallest chips as chips."""
        return units * self.sizing.chip

    def frozen(self) -> Iterator[Node]:
        """The finished nodes."""
        for draft in self.drafts:
            if not isinstance(draft, Draft):
                yield draft
            elif draft.moves:
                table = draft.table
                bets = self.chips(table.street_bets[0]), self.chips(table.street_bets[1])
                yield Decision(
                    table.street,
                    table.player,
                    self.actions(draft.moves),
                    tuple(draft.children),
                    self.contributions(table),
                    bets,
                )
            else:
                yield StreetEnd(draft.table.street - 1, draft.children[0], self.contributions(draft.table))

    def actions(self, moves: Sequence[Move]) -> tuple[Action, ...]:
        """Moves in chips."""
        return tuple(Action(kind, self.chips(amount)) for kind, amount in moves)
