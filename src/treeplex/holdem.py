"""Hold'em: spots, how large they are, solving them and looking at solutions; ``tp.holdem``.

>>> import treeplex as tp
>>> river = tp.holdem.spot("Td 9d 6h Qc 2s", "AA,QJs,JTs", "KK,T8s", pot=20, stack=60, bets="50%,a", raises="a")
>>> solution = tp.solve(river, iterations=200, threads=1)
>>> solution.exploitability < 1
True
>>> list(solution["", "QdJd"])  # check, bet ten chips, all-in
['x', 'b10', 'a']

A spot is a game as any other: :func:`treeplex.solve`, :func:`treeplex.compare`, :func:`treeplex.judge` and
:func:`treeplex.load_policy` take it.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.evaluate.holdem.equity import Equity, RangeEquity, equity
from treeplex.forms.holdem.compile_spot import compile_spot as compile
from treeplex.forms.sources.load import load_spot
from treeplex.games.poker.betting.sizes import BetPlan, FixedLimit
from treeplex.games.poker.cards.cards import cards_to_string, parse_cards
from treeplex.games.poker.cards.ranges import parse_range, range_to_string
from treeplex.games.poker.public import HoldemGame
from treeplex.games.poker.spots.files import request_from_options
from treeplex.games.poker.spots.known import (
    flop_holdem,
    leduc_holdem,
    limit_holdem,
    rhode_island_holdem,
    royal_holdem,
    turn_endgame_holdem,
)
from treeplex.games.poker.spots.libratus import read_endgame
from treeplex.games.poker.spots.locks import NodeLock
from treeplex.games.poker.spots.spot import Rake, Spot
from treeplex.runs.holdem.estimate import SpotEstimate
from treeplex.runs.holdem.estimate import estimate_spot as estimate
from treeplex.runs.holdem.policy import HoldemPolicy
from treeplex.runs.holdem.report.breakdown import Group, groups_by, range_text
from treeplex.runs.holdem.report.comparison import Comparison, compare_nodes
from treeplex.runs.holdem.report.measures import Measures, measures
from treeplex.runs.holdem.report.page_data import classes, report
from treeplex.runs.holdem.report.runouts import Runouts, runouts
from treeplex.runs.holdem.report.view import View
from treeplex.runs.holdem.review.review import Review, ReviewSettings, review
from treeplex.runs.holdem.solution import HoldemSolution, load_solution
from treeplex.search.holdem.agent import game_of, holdem_agent
from treeplex.solvers.holdem.push_fold import PushFold, push_fold

__all__ = [
    "BetPlan",
    "Comparison",
    "Equity",
    "FixedLimit",
    "Group",
    "HoldemGame",
    "HoldemPolicy",
    "HoldemSolution",
    "Measures",
    "NodeLock",
    "PushFold",
    "Rake",
    "RangeEquity",
    "Review",
    "ReviewSettings",
    "Runouts",
    "Spot",
    "SpotEstimate",
    "View",
    "cards_to_string",
    "classes",
    "compare_nodes",
    "compile",
    "equity",
    "estimate",
    "flop_holdem",
    "game_of",
    "groups_by",
    "holdem_agent",
    "leduc_holdem",
    "limit_holdem",
    "load_solution",
    "load_spot",
    "measures",
    "parse_cards",
    "parse_range",
    "push_fold",
    "range_text",
    "range_to_string",
    "read_endgame",
    "report",
    "review",
    "rhode_island_holdem",
    "royal_holdem",
    "runouts",
    "spot",
    "turn_endgame_holdem",
]


def spot(
    board: str,
    oop: str | NDArray[np.float64],
    ip: str | NDArray[np.float64],
    *,
    pot: float | str,
    stack: float | str,
    **fields: Any,
) -> Spot:
    """A hold'em spot: ``spot("Td9d6h", "QQ+,AK", "22+", pot=20, stack=90, bets={"default": "50%,a", "river": "a"})``.

    Args:
        board: cards on the board; empty before the flop, which needs ``blinds``.
        oop, ip: ranges out of position and in position, as text or float64 [H] in the order of ``format.hands``.
        pot: chips in the pot, or big blinds: ``"6.5bb"``.
        stack: chips behind, of the smaller stack, or big blinds.
        fields: all other fields of a spot file, in texts, numbers, lists and dictionaries: ``bets``, ``raises``, ``donk``,
            ``thresholds``, ``min_bet``, ``limit``, ``blinds``, ``rake``, ``chip``, ``format``; ``target``, ``iterations``,
            ``algorithm``, ``threads``, ``storage`` and ``locks``, which solving follows where it is not told otherwise; and the
            options of ``treeplex holdem solve`` for parts of them, such as ``river_bets`` and ``rake_cap``.

    Raises:
        SpecError: an unknown field, a text that cannot be read, or a value outside its range.
    """
    texts = ["all" if isinstance(given, np.ndarray) else given for given in (oop, ip)]
    options = {"board": board, "oop": texts[0], "ip": texts[1], "pot": pot, "stack": stack, **fields}
    made = request_from_options(options, "argument ").spot()
    own = [given if isinstance(given, np.ndarray) else read for given, read in zip((oop, ip), made.ranges, strict=True)]
    return replace(made, ranges=(own[0], own[1])) if "all" in texts else made
