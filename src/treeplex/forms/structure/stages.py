"""Levels of play: cut a form with a fixed order of play into levels that begin where all players know the state."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.engine.histories.form import ACTOR, CHANCE
from treeplex.engine.histories.subtrees import meetings
from treeplex.forms.structure.history_view import HistoryView, Verdict, informed, unsure

PLAIN, NESTED, LADDER = range(3)
"""Required kinds of levels of a feedback game."""


@dataclass(frozen=True)
class Stages:
    """Information at each depth of a form with a fixed order of play; arrays are indexed by depth.

    Attributes:
        player: the player to move.
        known: whether every infoset is a single history.
        shared: the depth down to which all histories of each infoset have the same moves, least over infosets.
        chance: whether chance moves right before.
        nested, ladder: whether the move fits those before it in a (ladder-)nested level.
    """

    player: Ints
    known: NDArray[np.bool_]
    shared: Ints
    chance: NDArray[np.bool_]
    nested: NDArray[np.bool_]
    ladder: NDArray[np.bool_]

    def ends(self, start: int, kind: int) -> Iterator[int]:
        """Yield the possible ends of a level that starts at a depth, nearest first; none if players do not know the state
        there.
        """
        seen: set[int] = set()
        for depth in range(start, len(self.player)):
            inside = depth > start
            good = self.shared[depth] >= start and not self.chance[depth] if inside else bool(self.known[depth])
            fits = not inside or kind == PLAIN or (self.nested[depth] and (kind == NESTED or self.ladder[depth]))
            if not good or not fits or int(self.player[depth]) in seen:
                return
            seen.add(int(self.player[depth]))
            yield depth + 1

    def cut(self, kind: int) -> list[int] | None:
        """Return the starts of levels, with each level as long as possible; None if the form cannot be cut."""
        count = len(self.player)
        following: dict[int, int] = {count: count}
        for start in range(count - 1, -1, -1):
            ends = [end for end in self.ends(start, kind) if end in following]
            if ends:
                following[start] = ends[-1]
        if 0 not in following:
            return None
        starts = [0] if count else []
        while starts and following[starts[-1]] < count:
            starts.append(following[starts[-1]])
        return starts


def levels_of(survey: HistoryView) -> Stages:
    """Compute the information at every depth of a form with a fixed order of play."""
    depths = int(survey.depth.max(initial=-1)) + 1
    depth_of = np.zeros(survey.infosets, np.int64)
    depth_of[survey.key] = survey.depth
    player = survey.tree.infoset_player
    common = meetings(survey.parts.lines, survey.parts.ends)
    shared = survey.parts.lines.level[common].astype(np.int64) - (survey.nodes[common, ACTOR] == CHANCE)
    least = np.full(depths, np.iinfo(np.int64).max)
    np.minimum.at(least, depth_of, shared)
    known, nested, ladder = (np.ones(depths, bool) for _ in range(3))
    known[depth_of[survey.sizes > 1]] = False
    nested[depth_of[unsure(survey)]] = False
    ladder[depth_of[informed(survey)] + 1] = False
    chance = np.zeros(depths + 1, bool)
    chance[survey.parts.lines.level[survey.chances]] = True
    players = np.zeros(depths, np.int64)
    players[depth_of] = player
    return Stages(players, known, least, chance[:depths], nested, ladder)


def feedback_verdicts(survey: HistoryView, order: Verdict) -> tuple[tuple[int, ...], list[Verdict]]:
    """Return the starts of levels, and whether a form is a feedback game, one with nested levels, and one with ladder-nested
    levels.
    """
    if not order:
        return (), [order] * 3
    levels = levels_of(survey)
    cuts = [levels.cut(kind) for kind in (PLAIN, NESTED, LADDER)]
    best = next((starts for starts in reversed(cuts) if starts is not None), None)
    if best is None:
        return (), [Verdict(False, where_feedback_fails(survey, levels))] * 3
    verdicts = []
    for starts, name in zip(cuts, ("", "nested", "ladder-nested"), strict=True):
        verdicts.append(Verdict(True) if starts is not None else Verdict(False, f"its levels are not all {name}"))
    return tuple(best), verdicts


def where_feedback_fails(survey: HistoryView, levels: Stages) -> str:
    """Explain why a form cannot be cut into levels of a feedback game: some level would begin where the state is not known."""
    reached = {0}
    for start in range(len(levels.player)):
        if start in reached:
            reached.update(levels.ends(start, PLAIN))
    last = max(reached)
    infoset = int(survey.key[np.argmax((survey.depth == last) & (survey.sizes[survey.key] > 1))])
    return survey.confused(infoset, f", but a level of play would have to begin there, after {last} moves")
