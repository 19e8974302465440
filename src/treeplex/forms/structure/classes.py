"""Classes of extensive forms by the players' information when they move.

The classes are those of Basar and Olsder 1999, *Dynamic Noncooperative Game Theory*, definitions 3.10 to 3.21. They speak of
games without chance. Here chance after the last move counts as part of the payoffs; feedback games may also have chance at the
start of a level if all players observe it, and open-loop games chance that no player observes. A level of play is a stretch of
the game in which each player moves at most once; it is cut so that the definitions hold, if that is possible.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.notebook import table
from treeplex.base.notices import reporting, tell
from treeplex.base.spec import Spec, suggests_arguments
from treeplex.engine.histories.form import ACTOR
from treeplex.engine.histories.subtrees import forgotten, second_act
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import HistoryTree, grow
from treeplex.forms.sources.load import load
from treeplex.forms.structure.decomposition import cut
from treeplex.forms.structure.history_view import HistoryView, Verdict, extremes, informed, unsure
from treeplex.forms.structure.reordering import nested_orders
from treeplex.forms.structure.stages import LADDER, NESTED, PLAIN, feedback_verdicts
from treeplex.games.base import Game

MOST_HISTORIES = 5_000_000
"""Default limit of histories (a few minutes and a gigabyte)."""


@dataclass(frozen=True)
class Pieces:
    """Statistics of the pieces of imperfect information that backward recursion solves.

    Attributes:
        count: pieces; none in games of perfect information.
        static: pieces in which every player has a choice at no more than one infoset.
        players: maximum number of players with a choice in one piece.
        infosets: maximum number of infosets with a choice in one piece.
    """

    count: int
    static: int
    players: int
    infosets: int


@dataclass(frozen=True, repr=False)
class Structure:
    """The classes of a game; see the module and ``docs/theory.md``.

    Attributes:
        spec, players, histories: of the game.
        perfect_information: every infoset is one history.
        perfect_recall: no player forgets what they did or knew.
        single_act: every player moves at most once.
        nested: single-act, and every player knows what earlier players knew.
        ladder_nested: nested, and a player's additional information is only the previous player's action at singleton infosets.
        nested_reordered, ladder_nested_reordered: the same game has such a form with its players in another (or this) order.
        feedback: all players know the state at the start of each level of play.
        nested_feedback, ladder_nested_feedback: feedback, and every level is of that kind.
        open_loop: players never observe anything: one infoset per player and level.
        levels: moves before the start of each level of a feedback game; empty otherwise.
        sub_forms: sub-extensive forms of a nested single-act form (definition 3.16); None otherwise.
        pieces: statistics of backward recursion; None without perfect recall.
    """

    spec: str
    players: int
    histories: int
    perfect_information: Verdict
    perfect_recall: Verdict
    single_act: Verdict
    nested: Verdict
    ladder_nested: Verdict
    nested_reordered: Verdict
    ladder_nested_reordered: Verdict
    feedback: Verdict
    nested_feedback: Verdict
    ladder_nested_feedback: Verdict
    open_loop: Verdict
    levels: tuple[int, ...]
    sub_forms: int | None
    pieces: Pieces | None

    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts by name, in display order."""
        return {name: value for name, value in vars(self).items() if isinstance(value, Verdict)}

    def __repr__(self) -> str:
        held = [name.replace("_", " ") for name, verdict in self.verdicts().items() if verdict]
        return f"<structure of {self.spec}: {', '.join(held) or 'none of the classes'}>"

    def _repr_html_(self) -> str:
        rows = ((name.replace("_", " "), "yes" if verdict else "no", verdict.why) for name, verdict in self.verdicts().items())
        return table(("class", "holds", "why"), rows, self.spec)


@suggests_arguments
def structure(
    game: str | Spec | Game | Any,
    *,
    refine: bool = False,
    limit: int | None = None,
    watch: Callable[[int], None] | None = None,
    progress: bool | None = None,
) -> Structure:
    """Classify a game, compiled or not; return its :class:`Structure`.

    Args:
        game: a spec, rules or a file, as for :func:`treeplex.load`; or a compiled game.
        refine: split infosets that differ in the player's own past first.
        limit: maximum number of histories; default: :data:`MOST_HISTORIES`.
        watch: called periodically with the number of histories walked so far.
        progress: False hides progress; None shows it on a terminal or in a notebook, see :func:`treeplex.solve`.

    Raises:
        SpecError: an unknown name or parameter.
        FileError: a file that cannot be read.
        GameError: rules that do not describe a game, or too many histories.
    """
    with reporting(progress, "walking the game"):
        return classify(histories_of(game, refine=refine, limit=limit, watch=watch or tell_walked))


def tell_walked(histories: int) -> None:
    """Report the progress of a walk."""
    tell(f"walking the game: {histories:,} histories")


def histories_of(
    game: str | Spec | Game | Any,
    *,
    refine: bool = False,
    limit: int | None = None,
    watch: Callable[[int], None] | None = None,
) -> HistoryTree:
    """Return all histories of a game; arguments as for :func:`structure`."""
    compiled = game if isinstance(game, CompiledGame) else None
    rules = load(game).enumerable_rules() if compiled is None else compiled.rules or load(compiled.spec).enumerable_rules()
    return grow(rules, recall=refine, limit=MOST_HISTORIES if limit is None else limit, watch=watch)


def classify(tree: HistoryTree) -> Structure:
    """Determine the classes of a game."""
    survey = HistoryView(tree, cut(tree.histories, len(tree.infostates)))
    recall, single = perfect_recall(survey), single_act(survey)
    order = fixed_order(survey)
    chance = no_chance(survey)
    nested = single and chance and order and nested_verdict(survey)
    ladder = nested and ladder_verdict(survey)
    reordered = reordered_verdicts(survey, nested, ladder) if single and chance else (nested, ladder)
    levels, feedback = feedback_verdicts(survey, order)
    return Structure(
        spec=tree.spec,
        players=tree.players,
        histories=len(tree),
        perfect_information=perfect_information(survey),
        perfect_recall=recall,
        single_act=single,
        nested=nested,
        ladder_nested=ladder,
        nested_reordered=reordered[0],
        ladder_nested_reordered=reordered[1],
        feedback=feedback[PLAIN],
        nested_feedback=feedback[NESTED],
        ladder_nested_feedback=feedback[LADDER],
        open_loop=order and open_loop(survey),
        levels=levels,
        sub_forms=sub_forms(survey) if nested else None,
        pieces=count_pieces(survey) if recall else None,
    )


def no_chance(survey: HistoryView) -> Verdict:
    """Return whether chance moves only at the end of the game, or never."""
    if not len(survey.chances):
        return Verdict(True)
    return Verdict(False, f"chance moves after {survey.path(int(survey.chances[0]))}; the class is one of games without chance")


def perfect_information(survey: HistoryView) -> Verdict:
    """Return whether all infosets are single histories."""
    wide = np.flatnonzero(survey.sizes > 1)
    return Verdict(False, survey.confused(int(wide[0]), "")) if len(wide) else Verdict(True)


def perfect_recall(survey: HistoryView) -> Verdict:
    """Return whether all histories of each infoset have the same past of the player to act."""
    other = forgotten(survey.nodes, survey.parts.lines, survey.parts.ends)
    lost = np.flatnonzero(other >= 0)
    if not len(lost):
        return Verdict(True)
    infoset = int(lost[0])
    paths = survey.path(int(survey.parts.ends[infoset, 0])), survey.path(int(other[infoset]))
    return Verdict(False, f"{survey.who(infoset)} forgets what they did or knew: {paths[0]} or {paths[1]}")


def single_act(survey: HistoryView) -> Verdict:
    """Return whether every player moves at most once."""
    again = second_act(survey.nodes, survey.parts.lines)
    return (
        Verdict(True)
        if again < 0
        else Verdict(False, f"player {survey.nodes[again, ACTOR]} moves again after {survey.path(again)}")
    )


def fixed_order(survey: HistoryView) -> Verdict:
    """Return whether the number of past moves determines the player to move, and each infoset has a single depth."""
    for depth in range(int(survey.depth.max(initial=-1)) + 1):
        here = survey.moves[survey.depth == depth]
        actors = survey.nodes[here, ACTOR]
        if (actors != actors[0]).any():
            other = int(here[np.argmax(actors != actors[0])])
            return Verdict(
                False,
                f"no fixed order of play: player {actors[0]} moves after {survey.path(int(here[0]))}, "
                f"player {survey.nodes[other, ACTOR]} after {survey.path(other)}",
            )
    low, high = extremes(survey.key, survey.depth, survey.infosets)
    mixed = np.flatnonzero(low < high)
    if len(mixed):
        return Verdict(False, survey.confused(int(mixed[0]), ", of other length", lambda move: int(survey.depth[move])))
    return Verdict(True)


def nested_verdict(survey: HistoryView) -> Verdict:
    """Return whether every player knows what earlier players knew, in a single-act form."""
    wrong = unsure(survey)
    if not len(wrong):
        return Verdict(True)
    infoset = int(wrong[0])
    one, _ = survey.two_of(infoset, lambda move: int(survey.above[move]))
    before = survey.tree.infoset_player[survey.above[one]]
    what = f", between which player {before} could, who moved before"
    return Verdict(False, survey.confused(infoset, what, lambda move: int(survey.above[move])))


def ladder_verdict(survey: HistoryView) -> Verdict:
    """Return whether a nested form is ladder-nested."""
    wrong = informed(survey)
    if not len(wrong):
        return Verdict(True)
    infoset = int(wrong[0])
    after = np.flatnonzero(survey.above == infoset)
    player = survey.nodes[survey.moves[after[0]], ACTOR]
    return Verdict(False, survey.confused(infoset, "") + f", and player {player}, who moves next, knows more than that")


def sub_forms(survey: HistoryView) -> int:
    """Count the sub-extensive forms of a nested form: for every singleton infoset, the infosets that its branches enter."""
    inner = survey.above >= 0
    inner[inner] = survey.sizes[survey.above[inner]] == 1
    pairs = set(zip(survey.above[inner].tolist(), survey.key[inner].tolist(), strict=True))
    return len(pairs) or int(len(survey.moves) > 0)


def reordered_verdicts(survey: HistoryView, nested: Verdict, ladder: Verdict) -> tuple[Verdict, Verdict]:
    """Return whether some player order of a single-act game without chance makes it nested, or ladder-nested."""
    if ladder:
        return nested, ladder
    orders = nested_orders(survey.parts)
    if isinstance(orders, str):
        failed = Verdict(False, orders)
        return (nested or failed), failed
    texts = ["" if order is None else f"with the players in the order {', '.join(map(str, order))}" for order in orders]
    missing = "in no order of its players"
    return (
        nested or Verdict(bool(texts[NESTED]), texts[NESTED] or missing),
        Verdict(bool(texts[LADDER]), texts[LADDER] or missing),
    )


def open_loop(survey: HistoryView) -> Verdict:
    """Return whether all histories after the same number of moves are in one infoset."""
    low, high = extremes(survey.depth, survey.key, int(survey.depth.max(initial=-1)) + 1)
    wrong = np.flatnonzero(low < high)
    if not len(wrong):
        return Verdict(True)
    here = np.flatnonzero(survey.depth == wrong[0])
    one, two = here[0], here[np.argmax(survey.key[here] != survey.key[here[0]])]
    player = survey.nodes[survey.moves[one], ACTOR]
    paths = survey.path(survey.moves[one]), survey.path(survey.moves[two])
    return Verdict(False, f"player {player} can tell {paths[0]} from {paths[1]}")


def count_pieces(survey: HistoryView) -> Pieces:
    """Count the pieces that backward recursion solves."""
    pieces = [(piece.static, len(piece.choosers), sum(map(len, piece.choices.values()))) for piece in survey.parts.pieces()]
    return Pieces(
        count=len(pieces),
        static=sum(static for static, _, _ in pieces),
        players=max((players for _, players, _ in pieces), default=0),
        infosets=max((infosets for _, _, infosets in pieces), default=0),
    )
