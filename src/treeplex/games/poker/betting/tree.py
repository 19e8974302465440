"""The betting tree of a spot: all betting lines of all remaining streets, with the cards factored out.

What players may bet does not depend on the cards, so one tree serves every board: a street ends in one :class:`StreetEnd`,
whatever card comes next. Nodes are numbered in preorder, the root is node 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treeplex.errors import SpecError
from treeplex.games.poker.betting.moves import Move, Sizing, Table
from treeplex.games.poker.spots.spot import Rake, Spot

MOST_NODES = 2_000_000


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
    matched = min(node.contributions)
    taken = rake.of(2 * matched)
    if isinstance(node, Showdown):
        return matched - taken, -matched, -taken / 2
    return (-matched, matched - taken) if node.loser == 0 else (matched - taken, -matched)


def betting_tree(spot: Spot) -> BettingTree:
    """Every betting line of a spot.

    Raises:
        SpecError: more than ``MOST_NODES`` nodes.
    """
    builder = TreeBuilder(spot)
    builder.grow()
    return BettingTree(tuple(builder.frozen()), spot.streets)


class Draft:
    """A decision or street end whose children are still to come."""

    __slots__ = ("children", "moves", "table")

    def __init__(self, table: Table, moves: list[Move]) -> None:
        self.table = table
        self.moves = moves
        self.children: list[int] = []


class TreeBuilder:
    """Grows the tree depth first with its own stack, so that long lines do not exhaust Python's."""

    def __init__(self, spot: Spot) -> None:
        self.sizing = Sizing(spot)
        self.half_pot = spot.pot / 2
        self.last_street = spot.streets[-1]
        self.drafts: list[Draft | Fold | Showdown] = []

    def grow(self) -> None:
        """Visit every node in preorder."""
        pending: list[tuple[Table, int, int]] = [(self.sizing.root(), -1, -1)]
        while pending:
            table, parent, move = pending.pop()
            number = len(self.drafts)
            if number >= MOST_NODES:
                raise SpecError(
                    f"the betting tree has more than {MOST_NODES} nodes; offer fewer sizes, or raise merge or force_allin"
                )
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

    def node(self, table: Table, parent: Draft | None, move: int) -> Draft | Fold | Showdown:
        """The node after move number ``move`` of a parent (the parent's ``table``), or after its cards are dealt."""
        if parent is None or not parent.moves:
            return self.decision(table)
        kind, amount = parent.moves[move]
        if kind == "fold":
            return Fold(table.street, table.player, self.contributions(table))
        if kind not in ("check", "call"):
            return self.decision(table.raised(amount))
        after = table.matched()
        if after.to_act:
            return self.decision(after)
        if table.street == self.last_street or not min(after.stacks):
            return Showdown(table.street, self.contributions(after))
        opened = self.sizing.opened(table.street + 1, after.stacks, kind == "call" and table.player == 0)
        return Draft(opened, [])

    def decision(self, table: Table) -> Draft:
        """A decision at this table."""
        return Draft(table, self.sizing.moves(table))

    def contributions(self, table: Table) -> tuple[float, float]:
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
