"""Kuhn poker for two to six players.

Deck: one card more than players, ranked 0, 1, 2, ...; everyone antes 1 chip and gets one card, player 0 first. In turn each
player passes or bets 1 chip. After the first bet everybody else acts once more: a pass folds, a bet calls. The highest card
of those who bet (of all, if nobody did) takes the pot. Payoffs are chips won. For two players the first player loses 1/18.

Source: Kuhn (1950), "A simplified two-person poker"; more players as in OpenSpiel's ``kuhn_poker``.
"""

from collections.abc import Hashable, Mapping, Sequence

from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.rules import GameInfo, observer, whole

PASS, BET = 0, 1
LETTERS = "pb"


class KuhnState(State):
    """Cards dealt so far (one a player, in order) and the bets as a word of ``p`` and ``b``."""

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

    def child(self, action: int) -> "KuhnState":
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

    def parameters(self) -> Mapping[str, object]:
        return {"players": self.num_players}


def kuhn_poker(*, players: int = 2) -> KuhnPoker:
    """Kuhn poker for ``players`` (2 to 6) with ``players + 1`` cards; payoffs in chips.

    Raises:
        SpecError: ``players`` outside 2 to 6.
    """
    return KuhnPoker(whole("kuhn_poker", "players", players, 2, 6))


INFO = GameInfo(
    name="kuhn_poker",
    summary="one card each from players + 1, one bet of one chip",
    source="Kuhn (1950), A simplified two-person poker; OpenSpiel kuhn_poker",
    build=kuhn_poker,
    meanings={"players": "number of players, 2 to 6"},
)
