"""Kuhn poker for two to six players.

Deck: one card more than players, ranked 0, 1, 2, ...; everyone antes 1 chip and gets one card, player 0 first. In turn each
player passes or bets 1 chip. After the first bet everybody else acts once more: a pass folds, a bet calls. The highest card
of those who bet (of all, if nobody did) takes the pot. Payoffs are chips won. For two players the first player loses 1/18.

Source: Kuhn (1950), "A simplified two-person poker"; more players as in OpenSpiel's ``kuhn_poker``.
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeplex.games.base import CHANCE, TERMINAL, CheckedState, Game
from treeplex.games.betting.settlement import Settlement, shared_pot
from treeplex.games.betting.stakes import Stakes
from treeplex.games.card_game import CardGame
from treeplex.games.parameters import GameInfo, integer, observer
from treeplex.games.public import Bets, Decision, PublicGame, PublicTree, Terminal, pair_state
from treeplex.games.public import State as PublicGameState

PASS, BET = 0, 1
LETTERS = "pb"
RANKS = "23456789TJQK"
"""Names of cards; the highest is the king."""


class KuhnState(CheckedState):
    """Cards dealt so far (one per player, in order) and the bets as a string of ``p`` and ``b``."""

    __slots__ = ("bets", "cards", "players")

    def __init__(self, players: int, cards: tuple[int, ...] = (), bets: str = "") -> None:
        self.players = players
        self.cards = cards
        self.bets = bets

    def current_player(self) -> int:
        if len(self.cards) < self.players:
            return CHANCE
        last = self.players + max(self.bets.find("b"), 0)
        return TERMINAL if len(self.bets) == last else len(self.bets) % self.players

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        current = self.current_player()
        if current == CHANCE:
            return [card for card in range(self.players + 1) if card not in self.cards]
        return [PASS, BET] if current != TERMINAL else []

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        cards = self.legal_actions()
        return [(card, 1 / len(cards)) for card in cards]

    def after(self, action: int) -> "KuhnState":
        if len(self.cards) < self.players:
            return KuhnState(self.players, (*self.cards, action))
        return KuhnState(self.players, self.cards, self.bets + LETTERS[action])

    def returns(self) -> Sequence[float]:
        n, first = self.players, self.bets.find("b")
        if first < 0:
            in_pot = [True] * n
            paid = [1] * n
        else:
            in_pot = [self.bets[player if player >= first else n + player] == "b" for player in range(n)]
            paid = [1 + bet for bet in in_pot]
        winner = max((player for player in range(n) if in_pot[player]), key=lambda player: self.cards[player])
        return [float(sum(paid) * (player == winner) - paid[player]) for player in range(n)]

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        return "".join(map(str, self.cards[player : player + 1])) + self.bets

    def public_state(self) -> Hashable:
        return self.bets

    def hand_name(self, player: int) -> str | None:
        lowest = len(RANKS) - 1 - self.players
        return RANKS[lowest + self.cards[player]] if lowest >= 0 else None

    def action_to_string(self, action: int) -> str:
        if len(self.cards) < self.players:
            return f"Deal:{action}"
        return "Bet" if action == BET else "Pass"


class KuhnPoker(Game):
    """Kuhn poker; see the module for the rules."""

    def __init__(self, players: int) -> None:
        self.num_players = players
        self.spec = INFO.spec(self.parameters())

    def new_initial_state(self) -> KuhnState:
        return KuhnState(self.num_players)

    def numba_rules(self) -> object | None:
        from treeplex.games.integers.kuhn_poker import kuhn_rules

        return kuhn_rules(self.num_players)

    def parameters(self) -> Mapping[str, object]:
        return {"players": self.num_players}

    def public_game(self) -> "KuhnCards":
        return KuhnCards(self.num_players)

    @cached_property
    def public(self) -> PublicGame:
        """The public tree for two players, the public game for more."""
        return KuhnPublicTree() if self.num_players == 2 else self.public_game()

    @property
    def big_blind(self) -> float:
        return 1.0


ENDS = ("pp", "bp", "bb", "pbp", "pbb")
"""Bets of two players that end a hand."""


def stakes_after(bets: str) -> Stakes:
    """Return the stakes of two players after their bets so far."""
    return Stakes((1.0 + ("b" in bets[::2]), 1.0 + ("b" in bets[1::2])), settled=bets in ENDS)


def bets_after(bets: str) -> Bets | None:
    """Return the bet sizes available after the bets so far; None at the end of the hand."""
    if bets in ENDS:
        return None
    if "b" in bets:
        return Bets(("fold", "pass"), np.zeros(2), np.zeros(2), 4.0)
    return Bets(("pass", "bet"), np.array([0.0, 0.5]), np.array([0.0, 1.0]), 2.0)


class KuhnCards(CardGame):
    """Kuhn poker as a public game: public states are the bets so far, hands are cards."""

    def __init__(self, players: int) -> None:
        super().__init__(players, np.arange(players + 1)[:, None])

    def first_state(self) -> str:
        return ""

    def shown(self, state: PublicGameState) -> Sequence[int]:
        return ()

    def mover(self, state: PublicGameState) -> int:
        return self._dealt(state).current_player()

    def actions(self, state: PublicGameState) -> Sequence[int]:
        return PASS, BET

    def moved(self, state: PublicGameState, label: int) -> str:
        return f"{state}{LETTERS[label]}"

    def settlement(self, state: PublicGameState) -> Settlement:
        bets = str(state)
        first, bettor = bets.find("b"), [True] * self.players
        if first >= 0:
            bettor = [bets[seat if seat >= first else self.players + seat] == "b" for seat in range(self.players)]
        return shared_pot([1 + (bet and first >= 0) for bet in bettor], [not bet for bet in bettor])

    def strengths_on(self, board: Sequence[int]) -> NDArray[np.int64]:
        return np.arange(len(self.hands))

    def line_of(self, state: PublicGameState) -> Hashable:
        return state

    def stakes_at(self, state: PublicGameState) -> Stakes | None:
        return stakes_after(str(state)) if self.players == 2 else None

    def bets(self, state: PublicGameState) -> Bets | None:
        return bets_after(str(state)) if self.players == 2 else None

    def infostate_at(self, state: PublicGameState, player: int, hand: int) -> str:
        return f"{hand}{state}"

    def history_at(self, state: PublicGameState, hands: Sequence[int]) -> KuhnState:
        return KuhnState(self.players, tuple(hands), str(state))

    def action_name(self, state: PublicGameState, label: int) -> str:
        return self._dealt(state).action_to_string(label)

    def _dealt(self, state: PublicGameState) -> KuhnState:
        """Return a history with these bets, after an arbitrary deal."""
        return KuhnState(self.players, tuple(range(self.players)), str(state))


class KuhnPublicTree(PublicTree):
    """Two-player Kuhn poker as public-tree rules, for search: nodes are the bets so far, hands are cards."""

    def __init__(self) -> None:
        self.deals: NDArray[np.int64] = 1 - np.eye(3, dtype=np.int64)
        self.prior = self.deals / 6.0
        self.root = ""
        self.deal_histories, self.deal_depth = 4, 2
        self._uncontested = np.ones((3, 3))
        cards = np.arange(3)
        self._showdown = np.sign(cards[:, None] - cards[None, :]).astype(np.float64)

    def visit(self, node: Hashable) -> Decision | Terminal:
        assert isinstance(node, str)
        if node in ("pp", "bb", "pbb"):
            return Terminal(self._showdown, 1.0 if node == "pp" else 2.0)
        if node in ("bp", "pbp"):
            return Terminal(self._uncontested, 1.0 if node == "bp" else -1.0)
        return Decision(len(node) % 2, (PASS, BET))

    def child(self, node: Hashable, action: int) -> str:
        return f"{node}{LETTERS[action]}"

    def features(self, node: Hashable) -> NDArray[np.float64]:
        """Return a one-hot vector of the four decision nodes."""
        return np.array([node == other for other in ("", "p", "b", "pb")], np.float64)

    def strengths(self, node: Hashable, player: int) -> NDArray[np.float64]:
        """Return the ranks of the cards."""
        return np.arange(3.0)

    def stakes(self, node: Hashable) -> Stakes:
        return stakes_after(str(node))

    def bets(self, state: PublicGameState) -> Bets | None:
        return bets_after(str(pair_state(state).node))

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        return f"{hand}{node}"

    def history_at(self, state: PublicGameState, hands: Sequence[int]) -> KuhnState:
        return KuhnState(2, tuple(hands), str(pair_state(state).node))

    def action_to_string(self, node: Hashable, action: int) -> str:
        return "Bet" if action == BET else "Pass"


def kuhn_poker(*, players: int = 2) -> KuhnPoker:
    """Kuhn poker for ``players`` (2 to 6) with ``players + 1`` cards; payoffs in chips.

    Raises:
        SpecError: ``players`` outside 2 to 6.
    """
    return KuhnPoker(integer("kuhn_poker", "players", players, 2, 6))


INFO = GameInfo(
    name="kuhn_poker",
    summary="one card each from a deck of players + 1, one bet of one chip",
    source="Kuhn (1950), A simplified two-person poker; OpenSpiel kuhn_poker",
    build=kuhn_poker,
    meanings={"players": "number of players, 2 to 6"},
)
