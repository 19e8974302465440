"""Views of a solved spot: :class:`Browser` follows a line to its node, and :class:`NodeView` describes the node.

With isomorphism a solver stores one board per class. The cards in a line are mapped to the stored board and hands are mapped
back, so a view always shows the requested suits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import SpecError
from treeplex.holdem.betting.tree import Action, Decision, Fold, StreetEnd
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.forms.spot_form import FixedStrategy
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Hands, Renaming, renamed
from treeplex.holdem.policies.line import Place, action_text, board_at, deal_texts, find_place, joined
from treeplex.holdem.policies.node_values import HoldemValues, Pair, StreetValues, ratio

MOST_EQUITIES = 256
"""Number of equity arrays in the LRU cache."""


@dataclass(frozen=True, eq=False)
class Side:
    """One player at a node, with hands in ascending order.

    Attributes:
        order: int64 [n], positions in the board's own list.
        hands: int64 [n], rows of ``format.hands``.
        weight: float64 [n], range weight times own reach.
        met: float64 [n], the opponent's reach compatible with each hand.
        ev: float64 [n], chips relative to half the starting pot; NaN where ``met`` is zero.
    """

    order: Ints
    hands: Ints
    weight: Floats
    met: Floats
    ev: Floats


@dataclass(frozen=True, eq=False)
class NodeView:
    """A node of a solved spot; values and weights are those of the average strategy.

    Attributes:
        board: the board cards, int, in the order of the deal.
        street: index of ``format.deal``.
        player: the player to act, 0 out of position, 1 in position; None where cards are dealt or the hand is over.
        pot: chips in the pot, bets of this street included; after a fold without the uncalled bet.
        stacks: chips behind.
        street_bets: chips that each player has put in on this street.
        actions: the player's actions.
        line: canonical line to the node.
        hands: int64 [n], the acting player's hands on this board, rows of ``format.hands``; empty where no player acts.
        strategy: float32 [actions, n], probabilities; [0, 0] where no player acts.
        action_ev: float64 [actions, n], chips relative to half the starting pot after each action; NaN at zero
            compatible reach.
        represents: the number of deals that the street's cards stand for; 1 if all boards are dealt.
    """

    board: tuple[int, ...]
    street: int
    player: int | None
    pot: float
    stacks: tuple[float, float]
    street_bets: tuple[float, float]
    actions: tuple[Action, ...]
    line: str
    hands: Ints
    strategy: NDArray[np.float32]
    action_ev: Floats
    represents: float
    _sides: tuple[Side, Side]
    _find_equity: Callable[[], Pair]
    _children: Callable[[], tuple[str, ...]]

    def hands_of(self, player: int) -> Ints:
        """The hands of a player that have weight on the board, int64 [n]."""
        return self._sides[player].hands

    def weight_of(self, player: int) -> Floats:
        """Weight in the starting range times own reach, without card removal, float64 [n]."""
        return self._sides[player].weight

    def compatible_of(self, player: int) -> Floats:
        """Weight in the starting range times own reach times the opponent's compatible reach, float64 [n]."""
        return self._sides[player].weight * self._sides[player].met

    def ev_of(self, player: int) -> Floats:
        """Chips won from here on relative to half the starting pot, float64 [n]; NaN without a compatible opposing hand."""
        return self._sides[player].ev

    def equity_of(self, player: int) -> Floats:
        """Share of the pot at a showdown without further betting, in [0, 1], float64 [n]; NaN where EV is, and after a fold."""
        return self._equities[player]

    @property
    def frequency(self) -> Floats:
        """Action frequencies of the whole range, float64 [actions]; NaN at zero reach, and empty where no player acts."""
        if self.player is None:
            return np.zeros(0)
        met = self.compatible_of(self.player)
        total = float(met.sum())
        return np.asarray(self.strategy @ met / total if total else np.full(len(self.actions), np.nan), np.float64)

    def children(self) -> tuple[str, ...]:
        """The lines one step further; none at the end of a hand or after an all-in."""
        return self._children()

    @cached_property
    def _equities(self) -> Pair:
        return self._find_equity()

    def __repr__(self) -> str:
        who = "nobody" if self.player is None else ("OOP", "IP")[self.player]
        offers = ", ".join(map(str, self.actions))
        return f"<{cards_to_string(self.board)} {self.line or 'root'!r}: {who} acts, pot {self.pot:g} [{offers}]>"


@dataclass(frozen=True, eq=False)
class Location:
    """A location in the compiled spot.

    Attributes:
        place: the end of a line.
        street: index among the spot's streets.
        board: index of the board in its street's list.
        renaming: mapping from actual suits to the stored board's suits.
        tree: the betting tree of the street on the board.
    """

    place: Place
    street: int
    board: int
    renaming: Renaming
    tree: StreetValues


def nothing(sides: tuple[Side, Side]) -> Pair:
    """NaN equities, for nodes without a showdown."""
    return np.full(len(sides[0].hands), np.nan), np.full(len(sides[1].hands), np.nan)


class Browser:
    """Finds the views of one solved spot.

    Attributes:
        values: the values of the strategy.
        streets: number of streets available; later ones were omitted when the solution was saved.
    """

    def __init__(self, values: HoldemValues, *, streets: int | None = None) -> None:
        self.values, self.game = values, values.game
        self.streets = len(self.game.boards) if streets is None else streets
        self.maps = Hands(self.game.spot)
        self._equities: dict[tuple[int, int, int], Pair] = {}

    def view(self, line: str) -> NodeView:
        """The view of the node at the end of a line.

        Raises:
            SpecError: the spot does not have the line, or it ends on a street that was not saved.
        """
        location = self.find(line)
        spot, line_end, number = self.game.spot, location.place, location.place.node
        node = self.game.betting.nodes[number]
        sides = self.side(location, 0), self.side(location, 1)
        player = node.player if isinstance(node, Decision) else None
        strategy, action_ev = np.zeros((0, 0), np.float32), np.zeros((0, 0))
        if isinstance(node, Decision):
            side = sides[node.player]
            strategy = location.tree.policy[number][:, side.order].astype(np.float32)
            after = [location.tree.values[child][node.player][side.order] for child in node.children]
            action_ev = np.array([ratio(values, side.met) for values in after])
        paid = node.contributions
        over = isinstance(node, Fold)
        if over:  # an uncalled bet is returned
            paid = (min(paid), min(paid))
        return NodeView(
            board=board_at(spot, line_end),
            street=spot.streets[location.street],
            player=player,
            pot=paid[0] + paid[1],
            stacks=(spot.stack + spot.pot / 2 - paid[0], spot.stack + spot.pot / 2 - paid[1]),
            street_bets=node.street_bets if isinstance(node, Decision) else (0.0, 0.0),
            actions=node.actions if isinstance(node, Decision) else (),
            line=line_end.line,
            hands=sides[player].hands if player is not None else np.zeros(0, np.int64),
            strategy=strategy,
            action_ev=action_ev,
            represents=self.game.boards[location.street][location.board].share,
            _sides=sides,
            _find_equity=lambda: nothing(sides) if over else self.equity(location, sides),
            _children=lambda: self.children(line_end),
        )

    def locked(self, line: str, locks: Sequence[FixedStrategy]) -> NDArray[np.bool_]:
        """Whether each of the acting player's hands is fully locked at a node, [n] in the view's order; empty if no player
        acts.
        """
        location = self.find(line)
        node = self.game.betting.nodes[location.place.node]
        if not isinstance(node, Decision):
            return np.zeros(0, bool)
        order = self.side(location, node.player).order
        row = self.game.forests[location.street].numbers[node.player].index(location.place.node)
        here = self.values.board_number(location.street, location.board), node.player, row
        for lock in locks:
            if (lock.board, lock.player, lock.node) == here:
                fixed: NDArray[np.bool_] = np.asarray(np.isfinite(lock.strategy).all(axis=0))[order]
                return fixed
        return np.zeros(len(order), bool)

    def find(self, line: str) -> Location:
        """The location at the end of a line, found by following its streets and boards."""
        line_end = find_place(self.game.spot, self.game.betting, line)
        if len(line_end.roots) > self.streets:
            raise SpecError(
                f"line {line!r}: this solution was saved without its last streets; solve the spot again and save all of them"
            )
        board, renaming = 0, IDENTITY
        tree = self.values.tree(0, board, 0, self.values.root_reach())
        for street, (root, end, cards) in enumerate(zip(line_end.roots[1:], line_end.ends, line_end.deals, strict=True), 1):
            board, renaming = self.dealt(street, board, renaming, cards)
            tree = self.values.tree(street, board, root, self.values.below(street, board, tree.reach[end]))
        return Location(line_end, len(line_end.ends), board, renaming, tree)

    def dealt(self, street: int, above: int, renaming: Renaming, cards: tuple[int, ...]) -> tuple[int, Renaming]:
        """The stored board that represents the cards actually dealt, and the renaming of its suits."""
        wanted, before = sorted(renamed(cards, renaming)), len(self.game.boards[street - 1][above].cards)
        for child in self.game.boards[street - 1][above].children:
            board = self.game.boards[street][child]
            for copy in board.copies:
                if sorted(renamed(board.cards[before:], copy)) == wanted:
                    return child, cast(Renaming, tuple(copy.index(suit) for suit in renaming))
        name = cards_to_string(cards)
        if self.game.spot.runouts:
            raise SpecError(
                f"{name} is not dealt here, since this spot deals only a subset of boards; show the preceding line "
                "to see which cards are dealt"
            )
        raise SpecError(f"{name} cannot be dealt here, since every hand of one range contains one of these cards; name others")

    def deals(self, line_end: Place) -> set[frozenset[int]]:
        """The cards dealt at the end of a street in a spot with a subset of boards."""
        board, back = 0, IDENTITY
        for street, cards in enumerate(line_end.deals, 1):
            board, back = self.dealt(street, board, back, cards)
        inverse = cast(Renaming, tuple(back.index(suit) for suit in range(4)))
        street, parent = len(line_end.deals) + 1, self.game.boards[len(line_end.deals)][board]
        below = [self.game.boards[street][child] for child in parent.children]
        return {
            frozenset(renamed(renamed(child_board.cards[len(parent.cards) :], copy), inverse))
            for child_board in below
            for copy in child_board.copies
        }

    def side(self, location: Location, player: int) -> Side:
        """One player's side at a location."""
        number, tree = location.place.node, location.tree
        board = self.game.boards[location.street][location.board]
        back = cast(Renaming, tuple(location.renaming.index(suit) for suit in range(4)))
        hands = self.maps.map(back)[board.hands[player]]
        order = np.argsort(hands)
        number_of_board = self.values.board_number(location.street, location.board)
        met = self.values.compatible(number_of_board, player, tree.reach[number][1 - player])
        ev = ratio(tree.values[number][player], met)
        return Side(order, hands[order], tree.reach[number][player][order], met[order], ev[order])

    def equity(self, location: Location, sides: tuple[Side, Side]) -> Pair:
        """Both players' equities at a location, in the order of the sides."""
        key = (location.street, location.board, location.place.node)
        equities = self._equities.pop(key, None)
        if equities is None:
            equities = self.values.equity(location.street, location.board, location.tree.reach[location.place.node])
        self._equities[key] = equities
        while len(self._equities) > MOST_EQUITIES:
            del self._equities[next(iter(self._equities))]
        return equities[0][sides[0].order], equities[1][sides[1].order]

    def children(self, line_end: Place) -> tuple[str, ...]:
        """The lines one step further."""
        node = self.game.betting.nodes[line_end.node]
        if isinstance(node, Decision):
            return tuple(joined(line_end.line, action_text(action)) for action in node.actions)
        if isinstance(node, StreetEnd) and len(line_end.roots) < self.streets:
            texts = list(deal_texts(self.game.spot, line_end))
            if self.game.spot.runouts:
                dealt = self.deals(line_end)
                texts = [text for text in texts if frozenset(parse_cards(text)) in dealt]
            return tuple(joined(line_end.line, cards) for cards in texts)
        return ()
