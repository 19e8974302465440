"""A view of a game tree for classifying extensive forms, and descriptions of counterexamples."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.base.spec import shown
from treeplex.engine.histories.form import ACTOR, CHANCE, KEY
from treeplex.forms.compile.views.histories import HistoryTree
from treeplex.forms.structure.decomposition import Decomposition

SHOWN_MOVES = 8
"""Maximum number of moves of a history in a counterexample, counted from the last."""
SHOWN_CHARACTERS = 40
"""Maximum number of characters of an infostate in a counterexample."""


@dataclass(frozen=True)
class Verdict:
    """Whether a game belongs to a class; ``why`` is a counterexample or a proof."""

    holds: bool
    why: str = ""

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class HistoryView:
    """A tree with the quantities that define the classes; depth counts players' moves, not chance's."""

    tree: HistoryTree
    parts: Decomposition

    @cached_property
    def moves(self) -> Ints:
        """The histories where a player moves, in depth-first order."""
        histories = np.flatnonzero(self.nodes[:, ACTOR] >= 0)
        return np.asarray(histories[np.argsort(self.parts.lines.place[histories])], np.int64)

    @property
    def nodes(self) -> NDArray[np.int32]:
        """The histories."""
        return self.tree.histories.nodes

    @property
    def infosets(self) -> int:
        """The number of infosets."""
        return len(self.tree.infostates)

    @cached_property
    def key(self) -> Ints:
        """The infoset at each of :attr:`moves`."""
        return np.asarray(self.nodes[self.moves, KEY], np.int64)

    @cached_property
    def depth(self) -> Ints:
        """The number of moves before each of :attr:`moves`."""
        return self.parts.lines.level[self.moves].astype(np.int64)

    @cached_property
    def above(self) -> Ints:
        """The infoset of the move right before each of :attr:`moves`; -1 after chance or at the root."""
        parent = self.parts.lines.parent[self.moves]
        return np.where((parent >= 0) & (self.nodes[parent, ACTOR] >= 0), self.nodes[parent, KEY], -1).astype(np.int64)

    @cached_property
    def sizes(self) -> Ints:
        """The number of histories in each infoset."""
        return np.bincount(self.key, minlength=self.infosets)

    @cached_property
    def chances(self) -> Ints:
        """The chance histories after which a player moves."""
        lines = self.parts.lines
        moved = np.zeros(len(self.nodes) + 1, np.int64)
        moved[lines.place[self.moves] + 1] = 1
        moved = moved.cumsum()
        chance = np.flatnonzero(self.nodes[:, ACTOR] == CHANCE)
        start = lines.place[chance]
        return np.asarray(chance[moved[start + lines.extent[chance]] > moved[start]], np.int64)

    def path(self, history: int) -> str:
        """Describe the moves that lead to a history."""
        names: list[str] = []
        parent = self.parts.lines.parent
        while history > 0:
            actor, action = int(self.nodes[parent[history], ACTOR]), int(self.tree.actions[history])
            names.append(f"chance {action}" if actor == CHANCE else self.tree.action_names[actor].get(action, str(action)))
            history = int(parent[history])
        dots = ["..."] if len(names) > SHOWN_MOVES else []
        return f"[{', '.join([*dots, *reversed(names[:SHOWN_MOVES])])}]"

    def who(self, infoset: int) -> str:
        """Describe the player and infostate of an infoset."""
        return (
            f"player {self.tree.infoset_player[infoset]} at infostate {shown(self.tree.infostates[infoset], SHOWN_CHARACTERS)}"
        )

    def two_of(self, infoset: int, by: Callable[[int], int]) -> tuple[int, int]:
        """Return two histories of an infoset for which ``by`` differs, as indices into :attr:`moves`."""
        places = np.flatnonzero(self.key == infoset)
        return int(places[0]), next(int(move) for move in places if by(int(move)) != by(int(places[0])))

    def confused(self, infoset: int, what: str, by: Callable[[int], int] | None = None) -> str:
        """Describe two histories of an infoset that its player cannot distinguish."""
        one, two = self.two_of(infoset, by or (lambda move: move))
        return f"{self.who(infoset)} cannot tell {self.path(self.moves[one])} from {self.path(self.moves[two])}{what}"


def extremes(group: Ints, values: Ints, groups: int) -> tuple[Ints, Ints]:
    """Return the least and the greatest value in each group, int64 [groups]; the least exceeds the greatest in empty groups."""
    low, high = np.full(groups, np.iinfo(np.int64).max), np.full(groups, -1, np.int64)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return low, high


def unsure(survey: HistoryView) -> Ints:
    """Return the infosets whose histories follow different infosets of the previous player."""
    low, high = extremes(survey.key, survey.above, survey.infosets)
    return np.flatnonzero(low < high)


def informed(survey: HistoryView) -> Ints:
    """Return the infosets with several histories that are followed by more than one infoset of the next player."""
    inner = survey.above >= 0
    inner[inner] = survey.sizes[survey.above[inner]] > 1
    low, high = extremes(survey.above[inner], survey.key[inner], survey.infosets)
    return np.flatnonzero(low < high)
