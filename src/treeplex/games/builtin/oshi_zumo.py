"""Oshi-Zumo: two wrestlers bid coins, and the higher bid pushes the other back.

Both players have ``coins`` coins, and the wrestlers start in the middle of a field with ``size`` places on either side. Each
turn both players bid at once, at least ``min_bid`` or all their remaining coins. Bids are paid and revealed, and the higher bid
pushes by one place. A wrestler pushed off the field loses. The game also ends when nobody has coins left, or after ``horizon``
turns. Then the player pushed past the middle loses, unless ``alesia`` makes that a draw. Payoffs are 1 and -1, or 0.

Bids are hidden sequential moves, player 0 first. Rules, numbers and infostates are those of OpenSpiel's ``oshi_zumo``, played
turn by turn. Source: Buro (2004), Solving the Oshi-Zumo game.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from treeplex.games.base import SIMULTANEOUS, TERMINAL, CheckedState, Game
from treeplex.games.parameters import GameInfo, flag, integer, observer
from treeplex.games.turn_based import TurnBased


@dataclass(frozen=True)
class OshiZumoRules:
    """The parameters of one game."""

    coins: int
    size: int
    horizon: int
    alesia: bool
    min_bid: int


class OshiZumoState(CheckedState):
    """The bids of each turn, the remaining coins, and the wrestlers' position (0 is the middle)."""

    __slots__ = ("bids", "coins", "place", "rules")

    def __init__(self, rules: OshiZumoRules, bids: tuple[tuple[int, int], ...], coins: tuple[int, int], place: int) -> None:
        self.rules = rules
        self.bids = bids
        self.coins = coins
        self.place = place

    def current_player(self) -> int:
        over = abs(self.place) > self.rules.size or len(self.bids) == self.rules.horizon or self.coins == (0, 0)
        return TERMINAL if over else SIMULTANEOUS

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.current_player() == TERMINAL:
            return []
        held = self.coins[observer(self, player)]
        return range(min(self.rules.min_bid, held), held + 1)

    def after(self, action: int) -> "OshiZumoState":
        first, second = cast(tuple[int, int], action)
        coins = self.coins[0] - first, self.coins[1] - second
        position = self.place + (first > second) - (first < second)
        return OshiZumoState(self.rules, (*self.bids, (first, second)), coins, position)

    def returns(self) -> Sequence[float]:
        draw = self.place == 0 or (self.rules.alesia and abs(self.place) <= self.rules.size)
        won = 0.0 if draw else 1.0 if self.place > 0 else -1.0
        return [won, 0.0 - won]

    def information_state_string(self, player: int | None = None) -> str:
        observer(self, player)
        return ", ".join(str(bid) for pair in self.bids for bid in pair)

    def public_state(self) -> Hashable:
        return self.bids

    def picture(self) -> str:
        places = range(-self.rules.size - 1, self.rules.size + 2)
        field = "".join("W" if place == self.place else "#" if abs(place) > self.rules.size else "." for place in places)
        return f"Coins: {self.coins[0]} {self.coins[1]}, Field: {field}"

    def joint_action_to_string(self, player: int, action: int) -> str:
        """Return a readable name of a player's bid."""
        return f"[P{player}]Bid: {action}"


class SimultaneousOshiZumo(Game):
    """Oshi-Zumo with simultaneous moves; :func:`oshi_zumo` returns the sequential game."""

    def __init__(self, rules: OshiZumoRules, parameters: Mapping[str, object]) -> None:
        self.rules = rules
        self.spec = INFO.spec(parameters)
        self._parameters = dict(parameters)

    def new_initial_state(self) -> OshiZumoState:
        return OshiZumoState(self.rules, (), (self.rules.coins, self.rules.coins), 0)

    def numba_rules(self) -> object | None:
        from treeplex.games.integers.oshi_zumo import oshi_zumo_rules

        return oshi_zumo_rules(self.rules)

    def parameters(self) -> Mapping[str, object]:
        return self._parameters


def oshi_zumo(*, coins: int = 50, size: int = 3, horizon: int = 1000, alesia: bool = False, min_bid: int = 0) -> TurnBased:
    """Oshi-Zumo with hidden sequential bids; see the module for the rules.

    Raises:
        SpecError: a value outside its range.
    """
    name = "oshi_zumo"
    coins = integer(name, "coins", coins, 0, MOST)
    rules = OshiZumoRules(
        coins=coins,
        size=integer(name, "size", size, 0, MOST),
        horizon=integer(name, "horizon", horizon, 1),
        alesia=flag(name, "alesia", alesia),
        min_bid=integer(name, "min_bid", min_bid, 0, coins),
    )
    return TurnBased(SimultaneousOshiZumo(rules, vars(rules)), spec=INFO.spec(vars(rules)))


MOST = 1 << 20
INFO = GameInfo(
    name="oshi_zumo",
    summary="wrestlers bid coins to push each other off the field",
    source="Buro (2004), Solving the Oshi-Zumo game; OpenSpiel oshi_zumo as a turn-based game",
    build=oshi_zumo,
    meanings={
        "coins": "coins of each player",
        "size": "places on either side of the middle",
        "horizon": "turns after which the game ends",
        "alesia": "true: a draw unless a wrestler is pushed off the field",
        "min_bid": "minimum bid, if the player has enough coins",
    },
    note="The defaults (those of OpenSpiel) are far too large to compile; try oshi_zumo(coins=4,size=1,horizon=4).",
)
