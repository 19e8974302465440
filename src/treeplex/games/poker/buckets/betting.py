"""Fixed-limit betting as compact arrays: streets that repeat are stated once."""

from dataclasses import dataclass, field

import numpy as np

from treeplex.engine.buckets.street import END, FOLD, NODE, Betting
from treeplex.errors import SpecError
from treeplex.games.poker.betting.sizes import FixedLimit
from treeplex.games.poker.buckets.plan import BLINDS, LIMIT_BETS

OPEN, LAST, FACING = 0, 1, 2
"""What a player to act sees: nothing yet, a check or a call of the blind, a bet."""


@dataclass(frozen=True)
class Node:
    """A decision within a street: who acts, the kinds and targets of the actions, and what folding loses on this street."""

    player: int
    actions: tuple[tuple[int, int], ...]
    loss: float


@dataclass
class StreetPlan:
    """The betting of one street from one start.

    Attributes:
        bet, most: chips of a bet or raise, and how many there are.
        blinds: chips of the two blinds; (0, 0) if none were posted.
        nodes, ends: filled by :meth:`grow`: decisions in preorder, chips of each player at each end.
    """

    bet: float
    most: int
    blinds: tuple[float, float] = (0.0, 0.0)
    nodes: list[Node | None] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)

    def grow(self, player: int, sees: int, bets: int) -> int:
        """Add the decision of a player who sees ``bets`` bets, and all that follow; its number."""
        number = len(self.nodes)
        self.nodes.append(None)
        blind = sees == OPEN and self.blinds[1] > 0
        actions = []
        if sees == FACING or blind:
            actions.append((FOLD, 0))
        if sees == OPEN:  # check, or call the blind
            actions.append((NODE, self.grow(1 - player, LAST, bets)))
        else:
            self.ends.append(self.chips(bets))
            actions.append((END, len(self.ends) - 1))
        if bets < self.most:
            actions.append((NODE, self.grow(1 - player, FACING, bets + 1)))
        loss = self.blinds[0] if blind else self.chips(bets - 1)
        self.nodes[number] = Node(player, tuple(actions), loss)
        return number

    def chips(self, bets: int) -> float:
        """Chips of a player who has put in so many bets on this street; the big blind counts as the first."""
        if bets <= 0:
            return 0.0
        return self.blinds[1] + (bets - 1) * self.bet if self.blinds[1] > 0 else bets * self.bet


def limit_betting(limits: FixedLimit = LIMIT_BETS, blinds: tuple[float, float] = BLINDS) -> Betting:
    """The betting of all streets: player 1 posts the small blind and acts first before the flop, player 0 on later streets.

    Args:
        limits: bets and most bets of each street; before the flop the big blind is the first bet.
        blinds: small and big blind in chips.

    Raises:
        SpecError: no streets, fewer than one bet on a street, or blinds out of order.
    """
    if not limits.bets or min(limits.most) < 1:
        raise SpecError(f"fixed limit: most is {limits.most}; give at least one street and at least one bet on each")
    if not 0 < blinds[0] < blinds[1]:
        raise SpecError(f"blinds are {blinds}; give (small, big) with 0 < small < big")
    streets: list[list[int]] = []
    nodes: list[list[int]] = []
    kinds, children, losses, ends = [], [], list[float](), list[float]()
    levels = [np.zeros(1)]
    for street, (bet, most) in enumerate(zip(limits.bets, limits.most, strict=True)):
        plan = StreetPlan(bet, most, blinds if street == 0 else (0.0, 0.0))
        plan.grow(1 if street == 0 else 0, OPEN, 1 if street == 0 else 0)
        slot, starts = 0, len(levels[-1])
        first_level = sum(map(len, levels[:-1]))
        streets.append([len(nodes), len(plan.nodes), starts, 0, len(plan.ends), len(ends), first_level])
        for node in plan.nodes:
            assert node is not None
            padded = [*node.actions, *[(FOLD, 0)] * (3 - len(node.actions))]
            nodes.append([node.player, len(node.actions), slot])
            kinds.append([kind for kind, _ in padded])
            children.append([child for _, child in padded])
            losses.append(node.loss)
            slot += len(node.actions)
        streets[-1][3] = slot
        ends.extend(plan.ends)
        levels.append((np.array(plan.ends)[:, None] + levels[-1]).reshape(-1))
    return Betting(
        np.array(streets, dtype=np.int64),
        np.array(nodes, dtype=np.int64),
        np.array(kinds, dtype=np.int64),
        np.array(children, dtype=np.int64),
        np.array(losses),
        np.array(ends),
        np.concatenate(levels[:-1]),
    )


def widths(betting: Betting) -> list[int]:
    """Numbers in a table's row on each street: slots times starts."""
    return [int(street[2] * street[3]) for street in betting.streets]


def decisions(betting: Betting) -> list[int]:
    """Decisions of both players on each street, all starts together."""
    return [int(street[1] * street[2]) for street in betting.streets]
