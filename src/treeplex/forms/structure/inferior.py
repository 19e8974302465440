"""Informational inferiority between games with the same moves and payoffs (Basar and Olsder 1999, definition 3.14)."""

from typing import Any

import numpy as np

from treeplex.base.notices import reporting
from treeplex.base.spec import Spec
from treeplex.engine.histories.form import ACTOR, CHILD, CHILDREN
from treeplex.errors import GameError
from treeplex.forms.compile.views.histories import HistoryTree
from treeplex.forms.structure.classes import histories_of, single_act, tell_walked
from treeplex.forms.structure.decomposition import cut
from treeplex.forms.structure.history_view import HistoryView, Verdict
from treeplex.games.base import Game


def informationally_inferior(
    game: str | Spec | Game | Any, other: str | Spec | Game | Any, *, limit: int | None = None, progress: bool | None = None
) -> Verdict:
    """Test whether a single-act game is informationally inferior to another: its strategies are a proper subset.

    Then every Nash equilibrium of the game is one of the other, and an equilibrium of the other that can be played in the game
    is one of the game (proposition 3.7). The definition excludes chance; here both games may have the same chance moves.

    Args:
        game, other: specs, rules, files or compiled games, with the same moves, chances and payoffs.
        limit: maximum number of histories of each; default as for :func:`treeplex.structure`.
        progress: False hides progress; None shows it on a terminal or in a notebook, see :func:`treeplex.solve`.

    Returns:
        The verdict; if negative, the reason: two histories that only the game's player can distinguish, a player who moves
        twice, or equal information in both games.

    Raises:
        GameError: the games differ in more than information; also the errors of :func:`treeplex.structure`.
    """
    with reporting(progress, "walking the games"):
        fine, coarse = (histories_of(source, limit=limit, watch=tell_walked) for source in (other, game))
    check_same_moves(coarse, fine)
    survey = HistoryView(coarse, cut(coarse.histories, len(coarse.infostates)))
    single = single_act(survey)
    if not single:
        return single
    fine_key = HistoryView(fine, survey.parts).key
    for infoset in range(len(fine.infostates)):
        here = np.flatnonzero(fine_key == infoset)
        split = np.flatnonzero(survey.key[here] != survey.key[here[0]])
        if len(split):
            one, two = (survey.path(int(survey.moves[move])) for move in (here[0], here[split[0]]))
            who = f"player {fine.infoset_player[infoset]}"
            return Verdict(False, f"{who} can tell {one} from {two}, but not in {fine.spec}")
    choices = coarse.histories.nodes[survey.moves, CHILDREN] > 1
    pairs = {*zip(survey.key[choices].tolist(), fine_key[choices].tolist(), strict=True)}
    if len(pairs) == len(np.unique(survey.key[choices])):
        return Verdict(False, f"everybody knows as much as in {fine.spec}")
    return Verdict(True)


def check_same_moves(first: HistoryTree, second: HistoryTree) -> None:
    """Raise a :class:`GameError` unless two trees differ in infosets only."""
    columns = [ACTOR, CHILD, CHILDREN]
    alike = first.players == second.players and first.histories.nodes.shape == second.histories.nodes.shape
    if not (
        alike
        and np.array_equal(first.histories.nodes[:, columns], second.histories.nodes[:, columns])
        and np.array_equal(first.histories.chance, second.histories.chance)
        and np.array_equal(first.histories.payoffs, second.histories.payoffs)
    ):
        what = f"{first.spec} and {second.spec} differ in more than the players' information"
        raise GameError(f"{what}; compare games with the same moves, chance probabilities and payoffs")
