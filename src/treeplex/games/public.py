"""Public-tree rules: public actions over fixed private hands.

In many games (poker, Liar's Dice) chance first deals every player one private *hand* and all that follows is public. Such a
game needs no histories: a tree of public nodes and, at its leaves, one payoff matrix over hands. Both compile paths give
the same game; this one never enumerates histories.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError

MOST_ENTRIES = 50_000_000
"""The most entries of the tables over pairs of hands: some gigabytes."""


@dataclass(frozen=True)
class Decision:
    """A public node where ``player`` acts; every hand has the same actions.

    A ``private`` action is seen by its player alone: there is one public node after it (the child of the first action), and a
    hand h with action number a of A becomes the hand ``h * A + a`` there.
    """

    player: int
    actions: Sequence[int]
    private: bool = False


@dataclass(frozen=True)
class Chance:
    """A public node where chance shows something.

    ``outcomes`` are pairs (label, weight): ``weight[h0, h1]`` is the probability of the outcome given both hands
    (zero where a hand blocks it). For each pair of hands that can get here the weights sum to one.
    """

    outcomes: Sequence[tuple[int, NDArray[np.float64]]]


@dataclass(frozen=True)
class Leaf:
    """A terminal public node: player 0 gets ``scale * matrix[h0, h1]``, player 1 the negative.

    Leaves that share a matrix (the same object or equal contents) share one operator.
    """

    matrix: NDArray[np.float64]
    scale: float


class PublicTree(ABC):
    """A two-player zero-sum game as public-tree rules.

    ``prior[h0, h1]`` is the joint probability of the two hands (shape [H0, H1], sums to one; zero where they exclude
    each other). Nodes are hashable values; ``root`` is the node after the deal.

    ``deal_histories`` and ``deal_depth`` say what the deal costs in the history tree (counts of Table 4 of the DDCFR paper):
    the number of histories strictly before the full deal (the empty history included) and the number of chance actions;
    ``deals[h0, h1]`` is the number of histories that are that deal (1 where a deal is one path, 0 where impossible).
    """

    prior: NDArray[np.float64]
    root: Hashable
    deal_histories: int
    deal_depth: int
    deals: NDArray[np.int64]

    @abstractmethod
    def visit(self, node: Hashable) -> Decision | Chance | Leaf:
        """What happens at a public node."""

    @abstractmethod
    def child(self, node: Hashable, action: int) -> Hashable:
        """The public node after a public action or a chance label."""

    def future(self, node: Hashable) -> Hashable:
        """What of a node the rest of the game depends on: nodes with equal futures have the same actions, chance and payoffs.

        The default is the node itself; a coarser answer lets search compile less.
        """
        return node

    def features(self, node: Hashable) -> "NDArray[np.float64] | None":
        """A node as numbers for a network, float64 [F]; whose turn it is need not be among them. None where not written."""
        return None

    def strengths(self, node: Hashable, player: int) -> "NDArray[np.float64] | None":
        """How strong each hand of a player is at a node, float64 [H], more is better; None where hands have no such order."""
        return None

    def picture(self, node: Hashable) -> str | None:
        """What everybody sees at a node, as lines of text; None where nothing is drawn."""
        return None

    @abstractmethod
    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        """The infostate string of ``player`` holding ``hand`` at a decision node: equal to the rules' own string."""

    def knowledge(self, node: Hashable, player: int, hand: int) -> str:
        """What ``player`` knows for people to read; the infostate where nothing else is written."""
        return self.infostate(node, player, hand)

    @abstractmethod
    def action_to_string(self, node: Hashable, action: int) -> str:
        """A readable name of a public action, equal to the rules' own."""


def check_entries(spec: str, entries: int) -> None:
    """Raise :class:`GameError` for a game whose tables over pairs of hands would have too many ``entries``."""
    if entries > MOST_ENTRIES:
        raise GameError(
            f"{spec} has too many hands: tables over them would have {entries:,} entries, more than {MOST_ENTRIES:,}; "
            "make it smaller"
        )
