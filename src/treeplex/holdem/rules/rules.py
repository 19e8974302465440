"""Poker rules: any :class:`Spot` as a game whose histories can be enumerated.

Chance deals the hand of player 0, then that of player 1: a pair of hands has a probability proportional to the product of
its range weights, and 0 if it shares a card. The betting tree of the spot follows. When a street ends, the cards of the next
one are dealt at once; after an all-in the board runs out street by street. Payoffs are chips relative to getting half of the
starting pot back.

Methods that need single histories or infosets (an exact linear program, a policy by infostate, a learner's environment) use
these rules with small decks. Hold'em is solved by :mod:`treeplex.holdem.forms.compile_spot`, which never enumerates hands.
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.games import public
from treeplex.games.base import CHANCE, TERMINAL, CheckedState, Game
from treeplex.games.betting.stakes import Stakes
from treeplex.games.parameters import observer
from treeplex.holdem.betting.added import action_to, offered, with_bet
from treeplex.holdem.betting.tree import (
    Decision,
    Fold,
    Node,
    Showdown,
    StreetEnd,
    betting_tree,
    payoffs,
    stakes_of,
)
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.rules.features import equities, features_of_betting, features_of_board, futures
from treeplex.holdem.spots.spot import Spot

MOST_SEQUENCES = 20_000_000
"""Maximum number of a player's sequences in public-tree rules; enumerating more infosets would not finish."""

Outcomes = Sequence[tuple[int, float]]


class PokerState(CheckedState):
    """The hands dealt so far (indices into ``format.hands``), the node of the betting tree, and the board."""

    __slots__ = ("board", "game", "hands", "node")

    def __init__(self, game: "PokerGame", hands: tuple[int, ...], node: int, board: tuple[int, ...]) -> None:
        self.game = game
        self.hands = hands
        self.node = node
        self.board = board

    def current_player(self) -> int:
        return CHANCE if len(self.hands) < 2 else self.game.player_at(self.node, self.board)

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        current = self.current_player()
        if current == CHANCE:
            return [action for action, _ in self.chance_outcomes()]
        return [] if current == TERMINAL else self.game.moves[self.node]

    def chance_outcomes(self) -> Outcomes:
        if len(self.hands) < 2:
            return self.game.hand_deals(self.hands)
        deals = self.game.board_deals(self.board, self.hands)
        return [(number_of_deal(cards), 1.0 / len(deals)) for cards in deals]

    def after(self, action: int) -> "PokerState":
        game, node = self.game, self.game.tree.nodes[self.node]
        if len(self.hands) < 2:
            return PokerState(game, (*self.hands, action), self.node, self.board)
        if isinstance(node, Decision):
            return PokerState(game, self.hands, node.children[game.moves[self.node].index(action)], self.board)
        board = (*self.board, *cards_of_deal(action, game.next_deal(self.board)))
        return PokerState(game, self.hands, node.child if isinstance(node, StreetEnd) else self.node, board)

    def returns(self) -> Sequence[float]:
        node, rake = self.game.tree.nodes[self.node], self.game.spot.rake
        assert isinstance(node, Fold | Showdown)
        paid = payoffs(node, rake)
        if isinstance(node, Fold):
            return list(paid)
        win, lose, tie = paid
        strength = self.game.strengths(self.board)
        first, second = strength[self.hands[0]], strength[self.hands[1]]
        return [tie, tie] if first == second else [win, lose] if first > second else [lose, win]

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        hand = self.hands[player] if player < len(self.hands) else None
        return self.game.infostate(player, hand, self.current_player(), self.node, self.board)

    def knowledge(self, player: int) -> str:
        return self.game.knowledge(self.hands[player] if player < len(self.hands) else None, self.node, self.board)

    def hand_name(self, player: int) -> str:
        return str(self.game.hand_names[self.hands[player]])

    def public_state(self) -> Hashable:
        return self.current_player(), self.node, self.board

    def action_to_string(self, action: int) -> str:
        if len(self.hands) < 2:
            return f"Deal {self.game.hand_names[action]}"
        return self.game.action_text(self.node, self.board, action)


class PokerGame(Game):
    """The rules of a spot as a game; see the module docstring.

    Attributes:
        spot: the spot.
        tree: its betting tree.
        names: the text of every player action; an action id is an index of this list.
        moves: the action ids at each node of the tree (empty where no player acts).
        lines: the actions that lead to each node, as text; streets are separated by ``/``.
        hand_names: the text of every hand.
    """

    def __init__(self, spot: Spot, spec: str = "", parameters: Mapping[str, object] | None = None) -> None:
        """Wrap a spot; ``spec`` and ``parameters`` are for games with a name."""
        self.spot, self.spec = spot, spec
        self._parameters = dict(parameters or {})
        self.tree = betting_tree(spot)
        self.names, self.moves, self.lines = self.tree.names, self.tree.moves, self.tree.lines
        self.hand_names = spot.format.names()
        self._cards = [frozenset(map(int, hand)) for hand in spot.format.hands]
        self._strengths: dict[tuple[int, ...], list[int]] = {}

    def new_initial_state(self) -> PokerState:
        return PokerState(self, (), 0, self.spot.board)

    def parameters(self) -> Mapping[str, object]:
        return self._parameters

    @property
    def big_blind(self) -> float | None:
        """The ante; None if the game has none."""
        ante = self._parameters.get("ante")
        return float(ante) if isinstance(ante, int) else None

    def public_tree(self) -> "PokerPublicTree | None":
        """Public-tree rules of this game; None with rake, because payoffs then do not sum to zero."""
        return None if self.spot.rake.rate > 0 and self.spot.rake.cap > 0 else PokerPublicTree(self)

    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """The joint probability of the two hands, [H, H]."""
        hands = self.spot.format.hands.astype(np.int64)
        shared = (hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
        weights = np.where(shared, 0.0, np.multiply.outer(*self.spot.ranges))
        prior: NDArray[np.float64] = weights / weights.sum()
        return prior

    def hand_deals(self, hands: tuple[int, ...]) -> Outcomes:
        """The hands that the next player can be dealt, and their probabilities."""
        chances = self.prior[hands[0]] if hands else self.prior.sum(axis=1)
        possible = np.flatnonzero(chances)
        return list(zip(possible.tolist(), (chances[possible] / chances.sum()).tolist(), strict=True))

    def next_deal(self, board: tuple[int, ...]) -> int:
        """The number of cards dealt after this board; 0 if the board is complete."""
        form = self.spot.format
        street = form.board_sizes.index(len(board)) + 1
        return form.deal[street] if street < form.streets else 0

    def board_deals(self, board: tuple[int, ...], hands: Sequence[int]) -> list[tuple[int, ...]]:
        """All possible deals of the next street's cards, given the hands."""
        dead = frozenset(board).union(*(self._cards[hand] for hand in hands))
        return list(combinations(self.spot.format.cards_left(dead), self.next_deal(board)))

    def player_at(self, node: int, board: tuple[int, ...]) -> int:
        """The player to act at a node of the betting tree, after hands are dealt."""
        event = self.tree.nodes[node]
        if isinstance(event, Decision):
            return event.player
        if isinstance(event, StreetEnd) or (isinstance(event, Showdown) and self.next_deal(board)):
            return CHANCE
        return TERMINAL

    def strengths(self, board: tuple[int, ...]) -> list[int]:
        """The strength of every hand on a complete board: higher wins."""
        if board not in self._strengths:
            from treeplex.holdem.cards.evaluator import (
                format_strengths,
            )  # imported here because it loads Numba, which most games do not need

            given = self.spot.strengths
            self._strengths[board] = (format_strengths(self.spot.format, board) if given is None else given).tolist()
        return self._strengths[board]

    def infostate(self, observing: int, hand: int | None, acting: int, node: int, board: tuple[int, ...]) -> str:
        """The infostate of a player with this hand (None before the deal); ``acting`` is the player to act."""
        private, shown = "" if hand is None else self.hand_names[hand], self.shown_board(board)
        return f"[Observer: {observing}][Private: {private}][Player: {acting}][Board: {shown}][Actions: {self.lines[node]}]"

    def knowledge(self, hand: int | None, node: int, board: tuple[int, ...]) -> str:
        """What a player with this hand knows, as readable text."""
        parts = ["no cards yet" if hand is None else self.hand_names[hand]]
        parts += [f"board {self.shown_board(board)}"] if board else []
        parts.append(f"pot {sum(self.tree.nodes[node].contributions):g}")
        streets = [street.replace(",", ", ") for street in self.lines[node].split("/") if street]
        return ", ".join(parts) + (f"; {' / '.join(streets)}" if streets else "")

    def shown_board(self, board: tuple[int, ...]) -> str:
        """The board as text, street by street."""
        sizes = [size for size in self.spot.format.board_sizes if size <= len(board)]
        return " ".join(
            cards_to_string(board[start:end]) for start, end in zip([0, *sizes], sizes, strict=False) if end > start
        )

    def action_text(self, node: int, board: tuple[int, ...], action: int) -> str:
        """The name of a player's action, or of a deal of board cards."""
        if isinstance(self.tree.nodes[node], Decision):
            return self.names[action]
        return f"Deal {cards_to_string(cards_of_deal(action, self.next_deal(board)))}"


class PokerPublicTree(public.PublicTree):
    """A spot without rake as public-tree rules; a public node is a betting-tree node and a board.

    Attributes:
        hands: the possible hands, int64 [H], as indices of ``format.hands``: without those blocked by the first board or
            outside both ranges.
    """

    deals_hands = True

    def __init__(self, game: PokerGame) -> None:
        """Prepare the tables.

        Raises:
            GameError: too many hands, boards or sequences for tables over them.
        """
        form, tree = game.spot.format, game.tree
        boards = prod(comb(len(form.deck), cards) for cards in form.deal[game.spot.street + 1 :])
        public.check_entries(game.spec or "the spot", len(form.hands) ** 2 * boards)
        check_sequences(game)
        self.game = game
        dealt = game.prior > 0
        self.hands = np.flatnonzero(dealt.any(axis=0) | dealt.any(axis=1))
        self.prior = game.prior[np.ix_(self.hands, self.hands)]
        self.deals = (self.prior > 0).astype(np.int64)
        self.deal_histories = 1 + int((self.prior > 0).any(axis=1).sum())
        self.deal_depth = 2
        self.root = (0, game.spot.board)
        self._cards = form.hands[self.hands]
        self._nodes: tuple[Node, ...] = tree.nodes
        self._uncontested = np.ones_like(self.prior)
        self._showdowns: dict[tuple[int, ...], NDArray[np.float64]] = {}
        self._chances: dict[tuple[int, ...], public.Chance] = {}
        self._orders: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def visit(self, node: Hashable) -> public.Decision | public.Chance | public.Terminal:
        number, board = node_and_board(node)
        event, player = self._nodes[number], self.game.player_at(number, board)
        if player == CHANCE:
            return self._chance(board)
        if isinstance(event, Decision):
            return public.Decision(player, self.game.moves[number])
        assert isinstance(event, Fold | Showdown)
        scale = payoffs(event, self.game.spot.rake)[0]
        return public.Terminal(self._uncontested if isinstance(event, Fold) else self._showdown(board), scale)

    def child(self, node: Hashable, action: int) -> tuple[int, tuple[int, ...]]:
        number, board = node_and_board(node)
        state = PokerState(self.game, (0, 0), number, board).after(action)
        return state.node, state.board

    def future(self, node: Hashable) -> Hashable:
        """The remaining betting and the board cards, regardless of their order."""
        number, board = node_and_board(node)
        return self._futures[number], tuple(sorted(board))

    def features(self, node: Hashable) -> NDArray[np.float64]:
        """Network features of the betting, then of the board; see :mod:`treeplex.holdem.rules.features`."""
        number, board = node_and_board(node)
        spot = self.game.spot
        return np.concatenate((features_of_betting(self._nodes[number], spot), features_of_board(spot.format, board)))

    def strengths(self, node: Hashable, player: int) -> NDArray[np.float64]:
        """Each hand's probability of beating a uniformly random hand (a tie counts half), over the remaining runouts."""
        _, board = node_and_board(node)
        key = tuple(sorted(board))
        if key not in self._orders:
            form = self.game.spot.format
            complete = [*form.complete_boards(board)]
            apart = (~(self._cards[:, None, :, None] == self._cards[None, :, None, :]).any(axis=(2, 3))).astype(np.float64)
            free = np.array([~np.isin(self._cards, cards).any(axis=1) for cards in complete])
            self._orders[key] = equities([self._showdown(cards) for cards in complete], free, apart)
        return self._orders[key]

    def stakes(self, node: Hashable) -> Stakes:
        number, _ = node_and_board(node)
        return stakes_of(self._nodes[number])

    @cached_property
    def _futures(self) -> list[int]:
        """A number for each betting-tree node; nodes with the same future betting have the same number."""
        return futures(self.game.tree)

    def bets(self, state: public.State) -> public.Bets | None:
        event = self._nodes[node_and_board(public.pair_state(state).node)[0]]
        return event.bets() if isinstance(event, Decision) else None

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        return self.game.infostate(player, int(self.hands[hand]), player, *node_and_board(node))

    def knowledge(self, node: Hashable, player: int, hand: int) -> str:
        return self.game.knowledge(int(self.hands[hand]), *node_and_board(node))

    def history_at(self, state: public.State, hands: Sequence[int]) -> PokerState:
        return PokerState(
            self.game, tuple(int(self.hands[hand]) for hand in hands), *node_and_board(public.pair_state(state).node)
        )

    def action_to_string(self, node: Hashable, action: int) -> str:
        return self.game.action_text(*node_and_board(node), action)

    def with_action(self, state: public.State, action: float) -> "tuple[PokerPublicTree, int]":
        """The game with one more bet or raise for the player to act, to ``action`` total chips on this street, and its
        action id.

        A size that the spot does not offer is added for that player on that street. Infostates are unchanged.

        Raises:
            GameError: the state is no decision, or the rules allow no such bet.
        """
        number, game = node_and_board(public.pair_state(state).node)[0], self.game
        event = self._nodes[number]
        if not isinstance(event, Decision):
            raise GameError(f"no player acts at {self.name_of(state)}")
        index = action_to(event, action)
        if index is not None:
            return self, game.moves[number][index]
        larger = PokerGame(with_bet(game.spot, event, action), game.spec, game.parameters())
        there = larger.lines.index(game.lines[number])
        after = larger.tree.nodes[there]
        assert isinstance(after, Decision)
        return PokerPublicTree(larger), larger.moves[there][offered(after, action, game.spot)]

    def label_in(self, state: public.State, label: int, other: public.PublicGame, there: public.State) -> int:
        if not isinstance(self.visit(public.pair_state(state).node), public.Decision):
            return label
        assert isinstance(other, PokerPublicTree)
        name = self.game.names[label]
        if name not in other.game.names:
            raise GameError(f"with that size, the spot's setting 'merge' drops {name}, which was played; give another size")
        return other.game.names.index(name)

    def state_in(self, state: public.State, other: public.PublicGame) -> public.PublicState:
        assert isinstance(other, PokerPublicTree)
        number, board = node_and_board(public.pair_state(state).node)
        return public.PublicState((other.game.lines.index(self.game.lines[number]), board), public.pair_state(state).weight)

    def _showdown(self, board: tuple[int, ...]) -> NDArray[np.float64]:
        """The sign of the showdown, [H, H]: 1 if player 0 wins, -1 if player 1 wins, 0 for a tie."""
        if board not in self._showdowns:
            strength = np.array(self.game.strengths(board))[self.hands]
            self._showdowns[board] = np.sign(strength[:, None] - strength[None, :]).astype(np.float64)
        return self._showdowns[board]

    def _chance(self, board: tuple[int, ...]) -> public.Chance:
        """The chance node for the next street: each deal, and its probability given both hands, [H, H]."""
        if board not in self._chances:
            form = self.game.spot.format
            count = self.game.next_deal(board)
            chance = 1.0 / comb(len(form.deck) - len(board) - 2 * form.hole, count)
            outcomes = []
            for cards in self.game.board_deals(board, ()):
                free = (~np.isin(self._cards, cards).any(axis=1)).astype(np.float64)
                outcomes.append((number_of_deal(cards), chance * np.multiply.outer(free, free)))
            self._chances[board] = public.Chance(outcomes)
        return self._chances[board]


def node_and_board(node: Hashable) -> tuple[int, tuple[int, ...]]:
    """The betting-tree node and the board of a public node."""
    assert isinstance(node, tuple)
    return node


def check_sequences(game: PokerGame) -> None:
    """Reject a game with too many sequences to enumerate."""
    form, boards, total = game.spot.format, 1, 0
    for street in game.spot.streets:
        if street > game.spot.street:
            boards *= comb(len(form.deck) - form.board_sizes[street - 1], form.deal[street])
        actions = sum(len(node.actions) for _, node in game.tree.decisions(street))
        total += boards * len(form.hands) * actions // 2
    if total > MOST_SEQUENCES:
        raise GameError(
            f"{game.spec or 'the spot'} has about {total:,} sequences per player, too many to enumerate; "
            "use fewer ranks or suits, or fewer bets"
        )


def number_of_deal(cards: Sequence[int]) -> int:
    """The action id for a deal of board cards: the card numbers as digits in base 52."""
    number = 0
    for card in cards:
        number = number * 52 + card
    return number


def cards_of_deal(number: int, count: int) -> tuple[int, ...]:
    """The cards given by a deal's action id, the inverse of :func:`number_of_deal`."""
    return tuple(number // 52**digit % 52 for digit in range(count - 1, -1, -1))
