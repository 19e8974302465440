"""Leduc poker: two betting rounds, one private card each and one public card.

Deck: ``ranks`` ranks in ``suits`` suits; card number ``rank * suits + suit``. Everyone antes ``ante`` chips and gets one card,
player 0 first. In each round the players act in turn, the lowest-numbered one still in first: fold (only facing a raise),
call (or check), or raise by ``bets[round]`` chips, at most ``raises`` times per round. A public card is shown between the
rounds. At the end a pair with the public card beats any other hand, else the higher card wins; ties split the pot. Payoffs are
chips won. Stacks are never limiting; the 100 chips in infostates are cosmetic.

With ``suit_isomorphism`` chance deals ranks, not cards. Source: Southey et al. (2005), "Bayes' bluff: opponent modelling in
poker"; action numbers and infostates are those of OpenSpiel's ``leduc_poker``. Big Leduc (12 ranks, 6 raises) is that of Brown
and Sandholm (2019), "Solving imperfect-information games via discounted regret minimization".
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.games.base import CHANCE, TERMINAL, CheckedState, Game
from treeplex.games.betting.settlement import Settlement, shared_pot
from treeplex.games.betting.stakes import Stakes
from treeplex.games.card_game import CardGame
from treeplex.games.parameters import GameInfo, flag, integer, items, observer
from treeplex.games.public import Bets, Chance, Decision, PublicTree, Terminal, check_entries, pair_state
from treeplex.games.public import State as PublicGameState

FOLD, CALL, RAISE = 0, 1, 2
ACTION_NAMES = ("Fold", "Call", "Raise")
BET_KINDS = ("fold", "pass", "bet")
NO_CARD = -10000
SHOWN_STACK = 100
MOST_CARDS = 1000
RANKS, SUITS = "23456789TJQKA", "cdhs"


class LeducTable(NamedTuple):
    """The public information: player to act, public card, actions of both rounds, chips paid, folded players.

    ``betting_round`` is 0 or 1; ``raises`` and ``calls`` count this round's raises and the calls since the last raise.
    """

    player: int
    public_card: int
    rounds: tuple[tuple[int, ...], tuple[int, ...]]
    paid: tuple[int, ...]
    folded: tuple[bool, ...]
    betting_round: int = 0
    raises: int = 0
    calls: int = 0


class LeducState(CheckedState):
    """The rules, the private cards dealt so far, and the table."""

    __slots__ = ("game", "hands", "table")

    def __init__(self, game: "LeducPoker", hands: tuple[int, ...], table: LeducTable) -> None:
        self.game = game
        self.hands = hands
        self.table = table

    def current_player(self) -> int:
        return self.table.player

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.table.player == CHANCE:
            return [card for card, _ in self.game.deck(self.hands)]
        return self.game.actions(self.table)

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        deck = self.game.deck(self.hands)
        left = sum(copies for _, copies in deck)
        return [(card, copies / left) for card, copies in deck]

    def after(self, action: int) -> "LeducState":
        game, table = self.game, self.table
        if table.player != CHANCE:
            return LeducState(game, self.hands, game.bet(table, action))
        if len(self.hands) == game.num_players:
            return LeducState(game, self.hands, game.show(table, action))
        hands = (*self.hands, action)
        return LeducState(game, hands, game.dealt if len(hands) == game.num_players else table)

    def returns(self) -> Sequence[float]:
        table = self.table
        strengths = [
            -1 if folded else self.game.strength(hand, table.public_card)
            for hand, folded in zip(self.hands, table.folded, strict=True)
        ]
        best = max(strengths)
        share = sum(table.paid) / strengths.count(best)
        return [share * (strength == best) - paid for strength, paid in zip(strengths, table.paid, strict=True)]

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        card = self.hands[player] if player < len(self.hands) else NO_CARD
        return private_text(player, card) + table_text(self.table)

    def information_state_tensor(self, player: int | None = None) -> Sequence[float]:
        """Return observer, ranks and suits of both cards, pair flag, betting, and chips paid as fractions of the maximum."""
        player, game, table = observer(self, player), self.game, self.table
        copies = 1 if game.suit_isomorphism else game.suits
        hand = self.hands[player] if player < len(self.hands) else NO_CARD
        row = one_hot(player, game.num_players)
        for card in (hand, table.public_card):
            row += one_hot(card // copies, game.ranks) + one_hot(card % copies if card != NO_CARD else NO_CARD, copies)
        row.append(float(hand != NO_CARD and hand // copies == table.public_card // copies))
        longest = game.num_players * (game.raises + 1)
        for actions in table.rounds:
            for index in range(longest):
                row += one_hot(actions[index] if index < len(actions) else NO_CARD, len(ACTION_NAMES))
        most = game.ante + game.raises * sum(game.bets)
        return [*row, *(paid / most for paid in table.paid)]

    def knowledge(self, player: int) -> str:
        return self.game.knowledge(self.hands[player] if player < len(self.hands) else NO_CARD, self.table)

    def hand_name(self, player: int) -> str | None:
        return self.game.card_name(self.hands[player])

    def public_state(self) -> Hashable:
        return self.table

    def action_to_string(self, action: int) -> str:
        return f"Chance outcome:{action}" if self.table.player == CHANCE else ACTION_NAMES[action]


def one_hot(index: int, length: int) -> list[float]:
    """Return zeros with a one at ``index``, if it is in range."""
    return [float(index == i) for i in range(length)]


def private_text(player: int, card: int) -> str:
    """Return the private part of an infostate."""
    return f"[Observer: {player}][Private: {card}]"


def table_text(table: LeducTable) -> str:
    """Return the public part of an infostate."""
    money = " ".join(str(SHOWN_STACK - paid) for paid in table.paid)
    public = f"[Public: {table.public_card}]" if table.public_card != NO_CARD else ""
    first, second = (" ".join(map(str, actions)) for actions in table.rounds)
    return (
        f"[Round {table.betting_round + 1}][Player: {table.player}][Pot: {sum(table.paid)}]"
        f"[Money: {money}]{public}[Round1: {first}][Round2: {second}]"
    )


class LeducPoker(Game):
    """Leduc poker; see the module for the rules."""

    def __init__(
        self, *, players: int, ranks: int, suits: int, raises: int, bets: Sequence[int], ante: int, suit_isomorphism: bool
    ) -> None:
        self.num_players = players
        self.ranks = ranks
        self.suits = suits
        self.raises = raises
        self.bets = list(bets)
        self.ante = ante
        self.suit_isomorphism = suit_isomorphism
        self.spec = INFO.spec({**self.parameters(), "ranks": None if ranks == players + 1 else ranks})
        everyone = (self.ante,) * self.num_players, (False,) * self.num_players
        self.dealing = LeducTable(CHANCE, NO_CARD, ((), ()), *everyone)
        self.dealt = LeducTable(0, NO_CARD, ((), ()), *everyone)

    def new_initial_state(self) -> LeducState:
        return LeducState(self, (), self.dealing)

    def parameters(self) -> Mapping[str, object]:
        return {
            "players": self.num_players,
            "ranks": self.ranks,
            "suits": self.suits,
            "raises": self.raises,
            "bets": self.bets,
            "ante": self.ante,
            "suit_isomorphism": self.suit_isomorphism,
        }

    def public_tree(self) -> "LeducPublicTree | None":
        return LeducPublicTree(self) if self.num_players == 2 and not self.suit_isomorphism else None

    def public_game(self) -> "LeducCards | None":
        return None if self.suit_isomorphism else LeducCards(self)

    @property
    def big_blind(self) -> float:
        return float(self.ante)

    def numba_rules(self) -> object | None:
        from treeplex.games.integers.leduc_poker import leduc_rules

        if self.suit_isomorphism:
            return None
        first, second = self.bets
        return leduc_rules(self.num_players, self.ranks, self.suits, self.raises, (first, second), self.ante)

    def deck(self, hands: Sequence[int]) -> list[tuple[int, int]]:
        """Return the remaining deck as pairs (card or rank, copies left)."""
        copies, kinds = (self.suits, self.ranks) if self.suit_isomorphism else (1, self.ranks * self.suits)
        left = [(card, copies - hands.count(card)) for card in range(kinds)]
        return [pair for pair in left if pair[1]]

    def card_name(self, card: int) -> str:
        """Return the name of a card: three ranks are jack, queen and king; large decks use numbers."""
        if self.ranks > len(RANKS) or self.suits > len(SUITS):
            return str(card)
        rank, suit = (card, "") if self.suit_isomorphism else (card // self.suits, SUITS[card % self.suits])
        return RANKS[rank + max(0, RANKS.index("K") + 1 - self.ranks)] + suit

    def knowledge(self, card: int, table: LeducTable) -> str:
        """Return the private card and the public information in readable form."""
        parts = [] if card == NO_CARD else [f"card {self.card_name(card)}"]
        if table.public_card != NO_CARD:
            parts.append(f"public card {self.card_name(table.public_card)}")
        parts.append(f"pot {sum(table.paid)}")
        for number, actions in enumerate(table.rounds, start=1):
            if actions:
                parts.append(f"round {number}: {' '.join(ACTION_NAMES[action].lower() for action in actions)}")
        return ", ".join(parts)

    def strength(self, hand: int, public_card: int) -> int:
        """Return the strength of a hand at the showdown; higher wins."""
        if public_card == NO_CARD:
            return 0
        copies = 1 if self.suit_isomorphism else self.suits
        rank = hand // copies
        return rank + self.ranks if rank == public_card // copies else rank

    def actions(self, table: LeducTable) -> list[int]:
        """Return the legal actions of the player to act."""
        if table.player == TERMINAL:
            return []
        legal = [FOLD, CALL] if max(table.paid) > table.paid[table.player] else [CALL]
        return [*legal, RAISE] if table.raises < self.raises else legal

    def bets_at(self, table: LeducTable) -> Bets | None:
        """Return the bet sizes available to the player to act, for two players; None where no player acts."""
        if table.player < 0:
            return None
        actions, pot = self.actions(table), 2.0 * max(table.paid)
        chips = np.array([float(self.bets[table.betting_round]) if action == RAISE else 0.0 for action in actions])
        return Bets(tuple(BET_KINDS[action] for action in actions), chips / pot, chips, pot)

    def show(self, table: LeducTable, card: int) -> LeducTable:
        """Return the table after the public card."""
        return table._replace(player=table.folded.index(False), public_card=card)

    def bet(self, table: LeducTable, action: int) -> LeducTable:
        """Return the table after an action of the player to act."""
        player, raises, calls = table.player, table.raises, table.calls
        paid, folded, number = list(table.paid), list(table.folded), table.betting_round
        if action == FOLD:
            folded[player] = True
        else:
            paid[player] = max(paid)
            calls += 1
        if action == RAISE:
            paid[player] += self.bets[number]
            raises, calls = raises + 1, 0
        first, second = table.rounds
        rounds = ((*first, action), second) if number == 0 else (first, (*second, action))
        still_in = folded.count(False)
        round_over = calls == (still_in - 1 if raises else still_in)
        if still_in == 1 or (round_over and number == 1):
            player = TERMINAL
        elif round_over:
            player, number, raises, calls = CHANCE, 1, 0, 0
        else:
            player = next(seat for seat in [*range(player + 1, len(paid)), *range(player)] if not folded[seat])
        return LeducTable(player, table.public_card, rounds, tuple(paid), tuple(folded), number, raises, calls)


def stakes_of(table: LeducTable) -> Stakes:
    """Return the stakes at a table."""
    return Stakes(tuple(map(float, table.paid)), table.betting_round, table.player == TERMINAL)


class LeducCards(CardGame):
    """Leduc poker as a public game: public states are tables, hands are cards."""

    def __init__(self, game: LeducPoker) -> None:
        super().__init__(game.num_players, np.arange(game.ranks * game.suits)[:, None], suits=game.suits, deal=(0, 1))
        self.game = game

    def first_state(self) -> LeducTable:
        return self.game.dealt

    def shown(self, state: PublicGameState) -> Sequence[int]:
        card = table_of(state).public_card
        return () if card == NO_CARD else (card,)

    def mover(self, state: PublicGameState) -> int:
        return table_of(state).player

    def actions(self, state: PublicGameState) -> Sequence[int]:
        return self.game.actions(table_of(state))

    def moved(self, state: PublicGameState, label: int) -> LeducTable:
        table = table_of(state)
        return self.game.show(table, label) if table.player == CHANCE else self.game.bet(table, label)

    def settlement(self, state: PublicGameState) -> Settlement:
        table = table_of(state)
        return shared_pot(table.paid, table.folded)

    def strengths_on(self, board: Sequence[int]) -> NDArray[np.int64]:
        return np.array([self.game.strength(hand, board[0]) for hand in range(len(self.hands))])

    def line_of(self, state: PublicGameState) -> Hashable:
        return table_of(state)._replace(public_card=NO_CARD)

    def stakes_at(self, state: PublicGameState) -> Stakes | None:
        return stakes_of(table_of(state)) if self.players == 2 else None

    def bets(self, state: PublicGameState) -> Bets | None:
        return self.game.bets_at(table_of(state)) if self.players == 2 else None

    def infostate_at(self, state: PublicGameState, player: int, hand: int) -> str:
        return private_text(player, hand) + table_text(table_of(state))

    def name_of(self, state: PublicGameState) -> str:
        return self.game.knowledge(NO_CARD, table_of(state))

    def knowledge_at(self, state: PublicGameState, player: int, hand: int) -> str:
        return self.game.knowledge(hand, table_of(state))

    def history_at(self, state: PublicGameState, hands: Sequence[int]) -> LeducState:
        return LeducState(self.game, tuple(hands), table_of(state))

    def action_name(self, state: PublicGameState, label: int) -> str:
        return LeducState(self.game, (), table_of(state)).action_to_string(label)


def table_of(state: PublicGameState) -> LeducTable:
    """Return a public state of :class:`LeducCards` as a table."""
    assert isinstance(state, LeducTable)
    return state


class LeducPublicTree(PublicTree):
    """Two-player Leduc poker as public-tree rules: nodes are tables, hands are cards."""

    def __init__(self, game: LeducPoker) -> None:
        self.game = game
        cards = game.ranks * game.suits
        check_entries(game.spec, cards**3)
        self.deals: NDArray[np.int64] = 1 - np.eye(cards, dtype=np.int64)
        self.prior = self.deals / self.deals.sum()
        self.root: LeducTable = game.dealt
        self.deal_histories = 1 + cards
        self.deal_depth = 2
        self._uncontested = np.ones((cards, cards))
        self._showdowns = {card: self._showdown(card) for card in range(cards)}
        self._chance = Chance([(card, self._weight(card)) for card in range(cards)])

    def _showdown(self, public_card: int) -> NDArray[np.float64]:
        """Return the showdown winner, [hand, hand]: 1 for player 0, -1 for player 1, 0 for a split pot."""
        strength = np.array([self.game.strength(hand, public_card) for hand in range(len(self.deals))])
        wins: NDArray[np.float64] = np.sign(strength[:, None] - strength[None, :]).astype(np.float64)
        return wins

    def _weight(self, public_card: int) -> NDArray[np.float64]:
        """Return the probability of a public card given both hands, [hand, hand]."""
        weight: NDArray[np.float64] = self.deals / (len(self.deals) - 2)
        weight[public_card, :] = 0.0
        weight[:, public_card] = 0.0
        return weight

    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        assert isinstance(node, LeducTable)
        if node.player == CHANCE:
            return self._chance
        if node.player != TERMINAL:
            return Decision(node.player, self.game.actions(node))
        if True not in node.folded:
            return Terminal(self._showdowns[node.public_card], float(node.paid[0]))
        loser = node.folded.index(True)
        return Terminal(self._uncontested, float(node.paid[1] if loser else -node.paid[0]))

    def child(self, node: Hashable, action: int) -> LeducTable:
        assert isinstance(node, LeducTable)
        return self.game.show(node, action) if node.player == CHANCE else self.game.bet(node, action)

    def future(self, node: Hashable) -> Hashable:
        """Return the table with the betting of completed rounds removed."""
        assert isinstance(node, LeducTable)
        return node._replace(rounds=((), ()))

    def features(self, node: Hashable) -> NDArray[np.float64]:
        """Return the one-hot public card, chips paid as fractions of the maximum, raises, calls, and a chance flag."""
        assert isinstance(node, LeducTable)
        game, cards = self.game, len(self.deals)
        most = game.ante + game.raises * sum(game.bets)
        shown = np.zeros(cards)
        if node.public_card != NO_CARD:
            shown[node.public_card] = 1.0
        numbers = [
            node.paid[0] / most,
            node.paid[1] / most,
            node.raises / max(game.raises, 1),
            node.calls / 2,
            node.player == CHANCE,
        ]
        return np.concatenate((shown, np.array(numbers, np.float64)))

    def strengths(self, node: Hashable, player: int) -> NDArray[np.float64]:
        """Return the hand strengths; before the public card is dealt, these are the ranks."""
        assert isinstance(node, LeducTable)
        if node.public_card == NO_CARD:
            return np.arange(float(len(self.deals))) // self.game.suits
        return np.array([self.game.strength(hand, node.public_card) for hand in range(len(self.deals))], np.float64)

    def stakes(self, node: Hashable) -> Stakes:
        return stakes_of(table_of(node))

    def bets(self, state: PublicGameState) -> Bets | None:
        return self.game.bets_at(table_of(pair_state(state).node))

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        assert isinstance(node, LeducTable)
        return private_text(player, hand) + table_text(node)

    def name_of(self, state: PublicGameState) -> str:
        return self.game.knowledge(NO_CARD, table_of(pair_state(state).node))

    def knowledge(self, node: Hashable, player: int, hand: int) -> str:
        assert isinstance(node, LeducTable)
        return self.game.knowledge(hand, node)

    def history_at(self, state: PublicGameState, hands: Sequence[int]) -> LeducState:
        return LeducState(self.game, tuple(hands), table_of(pair_state(state).node))

    def action_to_string(self, node: Hashable, action: int) -> str:
        assert isinstance(node, LeducTable)
        return f"Chance outcome:{action}" if node.player == CHANCE else ACTION_NAMES[action]


def leduc_poker(
    *,
    players: int = 2,
    ranks: int | None = None,
    suits: int = 2,
    raises: int = 2,
    bets: Sequence[int] = (2, 4),
    ante: int = 1,
    suit_isomorphism: bool = False,
) -> LeducPoker:
    """Leduc poker; see the module for the rules. Payoffs in chips. ``ranks`` defaults to ``players + 1``.

    Raises:
        SpecError: a value outside its range, or fewer cards than the players and the table need.
    """
    players = integer("leduc_poker", "players", players, 2, 10)
    ranks = players + 1 if ranks is None else integer("leduc_poker", "ranks", ranks, 1, MOST_CARDS)
    suits = integer("leduc_poker", "suits", suits, 1, MOST_CARDS)
    if ranks * suits > MOST_CARDS:
        raise SpecError(f"leduc_poker: {ranks * suits} cards exceed the limit of {MOST_CARDS}; lower ranks or suits")
    if ranks * suits <= players:
        raise SpecError(
            f"leduc_poker: {ranks * suits} cards are too few for {players} players and a public card; raise ranks or suits"
        )
    sizes = [integer("leduc_poker", "bets", bet, 1) for bet in items("leduc_poker", "bets", bets)]
    if len(sizes) != 2:
        raise SpecError(f"leduc_poker: bets needs one size for each of the two rounds, such as bets=[2;4], not {sizes}")
    return LeducPoker(
        players=players,
        ranks=ranks,
        suits=suits,
        raises=integer("leduc_poker", "raises", raises, 0),
        bets=sizes,
        ante=integer("leduc_poker", "ante", ante, 1),
        suit_isomorphism=flag("leduc_poker", "suit_isomorphism", suit_isomorphism),
    )


def big_leduc() -> LeducPoker:
    """Big Leduc: two players, 12 ranks in 2 suits, ante 1, bets 2 and 4, up to 6 raises per round. Payoffs in chips."""
    game = leduc_poker(ranks=12, raises=6)
    game.spec = "big_leduc"
    return game


INFO = GameInfo(
    name="leduc_poker",
    summary="one private and one public card, two rounds of limit betting",
    source="Southey et al. (2005), Bayes' bluff: opponent modelling in poker; OpenSpiel leduc_poker",
    build=leduc_poker,
    meanings={
        "players": "number of players, 2 to 10",
        "ranks": "ranks in the deck (default: players + 1)",
        "suits": "suits in the deck",
        "raises": "maximum number of raises per round",
        "bets": "size of a raise in each round, in chips",
        "ante": "ante, in chips",
        "suit_isomorphism": "true: deal ranks only (the same game, fewer histories)",
    },
)

BIG_LEDUC_INFO = GameInfo(
    name="big_leduc",
    summary="Leduc poker with 12 ranks and up to 6 raises per round",
    source="Brown and Sandholm (2019), Solving imperfect-information games via discounted regret minimization",
    build=big_leduc,
)
