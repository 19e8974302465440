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

from typing import TYPE_CHECKING

from treeplex.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.evaluate.holdem.equity import Equity, RangeEquity, equity
    from treeplex.forms.holdem.compile_spot import compile_spot as compile
    from treeplex.forms.sources.load import load_spot
    from treeplex.games.poker.betting.sizes import BetPlan, FixedLimit
    from treeplex.games.poker.cards.cards import cards_to_string, parse_cards
    from treeplex.games.poker.cards.ranges import parse_range, range_to_string
    from treeplex.games.poker.public import HoldemGame
    from treeplex.games.poker.spots.files import spot
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

_HOMES = {
    "treeplex.evaluate.holdem.equity": "Equity, RangeEquity, equity",
    "treeplex.forms.holdem.compile_spot": "compile_spot as compile",
    "treeplex.forms.sources.load": "load_spot",
    "treeplex.games.poker.betting.sizes": "BetPlan, FixedLimit",
    "treeplex.games.poker.cards.cards": "cards_to_string, parse_cards",
    "treeplex.games.poker.cards.ranges": "parse_range, range_to_string",
    "treeplex.games.poker.public": "HoldemGame",
    "treeplex.games.poker.spots.files": "spot",
    "treeplex.games.poker.spots.known": "flop_holdem, leduc_holdem, limit_holdem, "
    "rhode_island_holdem, royal_holdem, turn_endgame_holdem",
    "treeplex.games.poker.spots.libratus": "read_endgame",
    "treeplex.games.poker.spots.locks": "NodeLock",
    "treeplex.games.poker.spots.spot": "Rake, Spot",
    "treeplex.runs.holdem.estimate": "SpotEstimate, estimate_spot as estimate",
    "treeplex.runs.holdem.policy": "HoldemPolicy",
    "treeplex.runs.holdem.report.breakdown": "Group, groups_by, range_text",
    "treeplex.runs.holdem.report.comparison": "Comparison, compare_nodes",
    "treeplex.runs.holdem.report.measures": "Measures, measures",
    "treeplex.runs.holdem.report.page_data": "classes, report",
    "treeplex.runs.holdem.report.runouts": "Runouts, runouts",
    "treeplex.runs.holdem.report.view": "View",
    "treeplex.runs.holdem.review.review": "Review, ReviewSettings, review",
    "treeplex.runs.holdem.solution": "HoldemSolution, load_solution",
    "treeplex.search.holdem.agent": "game_of, holdem_agent",
    "treeplex.solvers.holdem.push_fold": "PushFold, push_fold",
}

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
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
