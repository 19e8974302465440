"""Goofspiel: bidding for point cards.

Every player holds bid cards 1 to ``num_cards``. Each turn a point card is shown; all bid one card at once, the highest bid
takes the card's points, a tie discards it. The last turn is forced and played automatically. With ``imp_info`` the players
learn who won a turn but not the bids. Bids are hidden sequential moves, player 0 first.

Payoffs: ``win_loss`` shares +1 among the players with most points and -1 among the others (0 if all tie),
``point_difference`` is points minus the average, ``total_points`` is points (general sum).

With ``imp_info=false`` the infostates are OpenSpiel's, which forget who played which card when. Such games lack perfect recall,
and algorithms that need it refuse them. Source: Ross (1971), "Goofspiel: the game of pure strategy"; OpenSpiel's ``goofspiel``.
Unlike there, ``num_turns = num_cards - 1`` ends after those turns (OpenSpiel's state never ends).
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, CheckedState, Game
from treeplex.games.parameters import GameInfo, choice, flag, integer, observer
from treeplex.games.turn_based import TurnBased

TIE = -3
POINTS_ORDERS = ("random", "ascending", "descending")
RETURNS_TYPES = ("win_loss", "point_difference", "total_points")
MOST_CARDS = 99


@dataclass(frozen=True)
class GoofspielRules:
    """The parameters of one game; ``turns`` is the number of turns played (``num_cards`` if ``num_turns`` is -1)."""

    players: int
    num_cards: int
    points_order: str
    imp_info: bool
    returns_type: str
    turns: int


class GoofspielState(CheckedState):
    """The point cards shown, the bids of each turn (cards numbered from 0) and each turn's winner (``TIE`` for a tie)."""

    __slots__ = ("bids", "cards", "rules", "winners")

    def __init__(
        self,
        rules: GoofspielRules,
        cards: tuple[int, ...] = (),
        bids: tuple[tuple[int, ...], ...] = (),
        winners: tuple[int, ...] = (),
    ) -> None:
        self.rules = rules
        self.bids = bids
        self.winners = winners
        self.cards = cards
        if rules.points_order != "random" and len(cards) == len(bids) < rules.turns:
            shown = len(cards)
            self.cards += (shown if rules.points_order == "ascending" else rules.num_cards - 1 - shown,)

    def current_player(self) -> int:
        if len(self.bids) == self.rules.turns:
            return TERMINAL
        return CHANCE if len(self.cards) == len(self.bids) else SIMULTANEOUS

    def hand(self, player: int) -> list[int]:
        """Return the bid cards that a player still holds, numbered from 0."""
        played = {bid[player] for bid in self.bids}
        return [card for card in range(self.rules.num_cards) if card not in played]

    def points(self) -> list[int]:
        """Return the points won by each player."""
        won = [0] * self.rules.players
        for card, winner in zip(self.cards, self.winners, strict=False):
            if winner != TIE:
                won[winner] += card + 1
        return won

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        current = self.current_player()
        if current == TERMINAL:
            return []
        if current == CHANCE:
            return [card for card in range(self.rules.num_cards) if card not in self.cards]
        return self.hand(observer(self, player))

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        cards = self.legal_actions()
        return [(card, 1 / len(cards)) for card in cards]

    def after(self, action: int) -> "GoofspielState":
        if self.current_player() == CHANCE:
            return GoofspielState(self.rules, (*self.cards, action), self.bids, self.winners)
        bid = cast(tuple[int, ...], action)
        highest = max(bid)
        winner = bid.index(highest) if bid.count(highest) == 1 else TIE
        after = GoofspielState(self.rules, self.cards, (*self.bids, bid), (*self.winners, winner))
        if len(after.bids) != self.rules.num_cards - 1 or after.current_player() == TERMINAL:
            return after
        if after.current_player() == CHANCE:
            after = after.after(after.legal_actions()[0])
        return after.after(cast(int, tuple(after.hand(player)[0] for player in range(self.rules.players))))

    def returns(self) -> Sequence[float]:
        points = self.points()
        if self.rules.returns_type == "total_points":
            return [float(point) for point in points]
        if self.rules.returns_type == "point_difference":
            return [point - sum(points) / len(points) for point in points]
        best = [point == max(points) for point in points]
        if all(best):
            return [0.0] * len(points)
        return [1 / sum(best) if won else -1 / (len(best) - sum(best)) for won in best]

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        shown = "Point card sequence: " + "".join(f"{card + 1} " for card in self.cards) + "\n"
        won = "Win sequence: " + "".join(f"{winner} " for winner in self.winners) + "\n"
        won += "Points: " + "".join(f"{points} " for points in self.points()) + "\n"
        if not self.rules.imp_info:
            return shown + "".join(map(self.hand_text, range(self.rules.players))) + won
        played = f"P{player} action sequence: " + "".join(f"{bid[player]} " for bid in self.bids) + "\n"
        ended = int(self.current_player() == TERMINAL)
        return f"{self.hand_text(player)}{played}{shown}{won}Terminal?: {ended}\n"

    def hand_text(self, player: int) -> str:
        """Return the line of an infostate that shows a hand."""
        return f"P{player} hand: " + "".join(f"{card + 1} " for card in self.hand(player)) + "\n"

    def public_state(self) -> Hashable:
        if self.rules.imp_info:
            return self.cards, self.winners
        hands = tuple(frozenset(bid[player] for bid in self.bids) for player in range(self.rules.players))
        return self.cards, self.winners, hands

    def action_to_string(self, action: int) -> str:
        return f"Deal {action + 1}"

    def joint_action_to_string(self, player: int, action: int) -> str:
        """Return a readable name of a player's bid."""
        return f"[P{player}]Bid: {action + 1}"


class SimultaneousGoofspiel(Game):
    """Goofspiel with simultaneous moves; :func:`goofspiel` returns the sequential game."""

    def __init__(self, rules: GoofspielRules, parameters: Mapping[str, object]) -> None:
        self.rules = rules
        self.num_players = rules.players
        self.spec = INFO.spec(parameters)
        self._parameters = dict(parameters)

    def new_initial_state(self) -> GoofspielState:
        return GoofspielState(self.rules)

    def numba_rules(self) -> object | None:
        from treeplex.games.integers.goofspiel import MOST_CARDS, goofspiel_rules

        fits = self.rules.imp_info and self.rules.num_cards <= MOST_CARDS
        return goofspiel_rules(self.rules) if fits else None

    def parameters(self) -> Mapping[str, object]:
        return self._parameters


def goofspiel(
    *,
    players: int = 2,
    num_cards: int = 13,
    points_order: str = "random",
    imp_info: bool = False,
    returns_type: str = "win_loss",
    num_turns: int = -1,
) -> TurnBased:
    """Goofspiel with hidden sequential bids; see the module for the rules and payoffs.

    Raises:
        SpecError: a value outside its range.
    """
    players = integer("goofspiel", "players", players, 2, 10)
    num_cards = integer("goofspiel", "num_cards", num_cards, 1, MOST_CARDS)
    points_order = choice("goofspiel", "points_order", points_order, POINTS_ORDERS)
    imp_info = flag("goofspiel", "imp_info", imp_info)
    returns_type = choice("goofspiel", "returns_type", returns_type, RETURNS_TYPES)
    turns = num_cards if num_turns == -1 else integer("goofspiel", "num_turns", num_turns, 1, num_cards)
    parameters = {
        "players": players,
        "num_cards": num_cards,
        "points_order": points_order,
        "imp_info": imp_info,
        "returns_type": returns_type,
        "num_turns": -1 if turns == num_cards else turns,
    }
    rules = GoofspielRules(players, num_cards, points_order, imp_info, returns_type, turns)
    return TurnBased(SimultaneousGoofspiel(rules, parameters), spec=INFO.spec(parameters))


INFO = GameInfo(
    name="goofspiel",
    summary="bid cards for point cards, all at once",
    source="Ross (1971), Goofspiel: the game of pure strategy; OpenSpiel goofspiel as a turn-based game",
    build=goofspiel,
    meanings={
        "players": "number of players, 2 to 10",
        "num_cards": "number of bid cards per player and of point cards",
        "points_order": "order of the point cards: random, ascending or descending",
        "imp_info": "true: bids stay secret, players see only who wins each turn",
        "returns_type": "payoffs: win_loss, point_difference or total_points",
        "num_turns": "turns played; -1 for num_cards",
    },
    note="The defaults (those of OpenSpiel) are far too large to compile; try goofspiel(num_cards=4,imp_info=true).",
)
