"""A made-up solved spot with the fields of the real one: a small betting tree with strategies drawn from a seed."""

from dataclasses import dataclass

import numpy as np

from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import HANDS, parse_cards
from treeplex.holdem.spots.spot import Spot

POT, STACK = 200.0, 900.0
BOARD = parse_cards("Td 9d 6h Qc")


@dataclass(frozen=True)
class FakeAction:
    kind: str
    amount: float = 0.0

    def __str__(self):
        return {"allin": f"allin {self.amount:g}", "bet": f"bet {self.amount:g}", "raise": f"raise {self.amount:g}"}.get(
            self.kind, self.kind
        )


X, F, C = FakeAction("check"), FakeAction("fold"), FakeAction("call")
B1, B2, A = FakeAction("bet", 100), FakeAction("bet", 200), FakeAction("allin", 900)
R = FakeAction("raise", 300)
NODES = {
    "": (0, (X, B1, B2, A), (0.0, 0.0)),
    "x": (1, (X, B1, A), (0.0, 0.0)),
    "b100": (1, (F, C, R, A), (100.0, 0.0)),
    "x,b100": (0, (F, C, R, A), (0.0, 100.0)),
    "x,b100,r300": (1, (F, C, A), (300.0, 100.0)),
}
CHILDREN = {
    "": ("x", "b100", "b200", "a"),
    "x": ("x,x", "x,b100", "x,a"),
    "b100": ("b100,f", "b100,c", "b100,r300", "b100,a"),
    "x,b100": ("x,b100,f", "x,b100,c", "x,b100,r300", "x,b100,a"),
    "x,b100,r300": ("x,b100,r300,f", "x,b100,r300,c", "x,b100,r300,a"),
}


class FakeView:
    """One node; nodes that are not in NODES are terminal or chance nodes."""

    def __init__(self, line=""):
        self.line, self.board, self.street = line, BOARD, 2
        self.player, self.actions, self.street_bets = NODES.get(line, (None, (), (0.0, 0.0)))
        self.pot = POT + sum(self.street_bets)
        self.stacks = tuple(STACK - bet for bet in self.street_bets)
        draw = np.random.default_rng(sum(map(ord, line)) + 5)
        gone = np.isin(HANDS, np.array(BOARD)).any(axis=1)
        strength = (HANDS.astype(int) // 4).sum(axis=1) / 24 + 0.3 * (HANDS[:, 0] // 4 == HANDS[:, 1] // 4)
        self._hands, self._weight, self._value = [], [], []
        for player in (0, 1):
            hands = np.flatnonzero(~gone & (strength > 0.45 + 0.1 * player))
            weight = np.clip(3 * (strength[hands] - 0.4) + 0.3 * draw.random(len(hands)), 0.03, 1.0)
            self._hands.append(hands)
            self._weight.append(weight)
            self._value.append(np.clip(strength[hands] / 1.4 + 0.1 * draw.normal(size=len(hands)), 0, 1))
        self.hands = self._hands[self.player] if self.player is not None else np.zeros(0, int)
        n, count = len(self.hands), len(self.actions)
        if count:
            taste = np.linspace(-1, 1, count)[:, None] * (8 * self._value[self.player] - 4) + draw.normal(size=(count, 1))
            power = np.exp(taste + 0.4 * draw.normal(size=(count, n)))
            self.strategy = (power / power.sum(axis=0)).astype(np.float32)
            self.action_ev = POT * (self._value[self.player] - 0.5) + 10 * taste
        else:
            self.strategy = self.action_ev = np.zeros((0, 0))

    @property
    def frequency(self):
        met = self.compatible_of(self.player)
        total = met.sum()
        return self.strategy @ met / total if total else np.full(len(self.actions), np.nan)

    def hands_of(self, player):
        return self._hands[player]

    def weight_of(self, player):
        return self._weight[player]

    def compatible_of(self, player):
        return self._weight[player] * 100

    def ev_of(self, player):
        if player == self.player:
            return (self.strategy * self.action_ev).sum(axis=0)
        return POT * (self._value[player] - 0.5)

    def equity_of(self, player):
        return self._value[player]

    def children(self):
        return CHILDREN.get(self.line, ())


SPOT = Spot(BOARD, POT, STACK, (np.ones(len(HANDS)), np.ones(len(HANDS))), BetPlan.same("50%,100%,a", "a"))


class FakeSolution:
    """The solved spot."""

    spot = SPOT
    algorithm, iterations, seconds = "dcfr", 100, 1.25
    exploitability, ev = 0.61, (-4.5, 4.5)

    def at(self, line):
        if line not in NODES and line not in {child for each in CHILDREN.values() for child in each}:
            raise SpecError(f"line {line!r} is not there")
        return FakeView(line)
