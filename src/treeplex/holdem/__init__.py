"""Hold'em spots: describe, estimate and solve them, and read their solutions. Available as ``tp.holdem``.

>>> import treeplex as tp
>>> river = tp.holdem.spot("Td 9d 6h Qc 2s", "AA,QJs,JTs", "KK,T8s", pot=20, stack=60, bets="50%,a", raises="a")
>>> solution = tp.solve(river, iterations=200, threads=1)
>>> solution.exploitability < 1
True
>>> list(solution["", "QdJd"])  # check, bet ten chips, all-in
['x', 'b10', 'a']

A spot is a game like any other: :func:`treeplex.solve`, :func:`treeplex.compare`, :func:`treeplex.judge` and
:func:`treeplex.load_policy` accept it.
"""

from typing import TYPE_CHECKING

from treeplex.base.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
    from treeplex.holdem.cards.cards import cards_to_string, parse_cards
    from treeplex.holdem.cards.ranges import parse_range, range_to_string
    from treeplex.holdem.forms.compile_spot import CompiledSpot
    from treeplex.holdem.forms.compile_spot import compile_spot as compile
    from treeplex.holdem.forms.river_batch import RiverValues, solve_rivers
    from treeplex.holdem.policies.spot_policy import HoldemPolicy
    from treeplex.holdem.policies.view import NodeView
    from treeplex.holdem.rules.public import HoldemGame
    from treeplex.holdem.search.agent import agent_game, holdem_agent
    from treeplex.holdem.solve.estimate import SpotEstimate
    from treeplex.holdem.solve.estimate import estimate_spot as estimate
    from treeplex.holdem.solve.solution import HoldemSolution, load_solution
    from treeplex.holdem.solve.solver import HoldemSolver
    from treeplex.holdem.solve.spot_game import SpotOptions
    from treeplex.holdem.spots.files import load_spot, spot
    from treeplex.holdem.spots.known import (
        flop_holdem,
        leduc_holdem,
        limit_holdem,
        rhode_island_holdem,
        royal_holdem,
        turn_endgame_holdem,
    )
    from treeplex.holdem.spots.libratus_endgames import read_libratus_endgame
    from treeplex.holdem.spots.locks import NodeLock
    from treeplex.holdem.spots.spot import Rake, Spot
    from treeplex.holdem.study.equity import Equity, RangeEquity, equity
    from treeplex.holdem.study.push_fold import PushFold, push_fold
    from treeplex.holdem.study.report.breakdown import HandGroup, group_hands, node_range
    from treeplex.holdem.study.report.comparison import NodeComparison, compare_nodes
    from treeplex.holdem.study.report.measures import NodeStatistics, node_statistics
    from treeplex.holdem.study.report.page_data import hand_classes, report
    from treeplex.holdem.study.report.runouts import Runouts, runouts
    from treeplex.holdem.study.review.bulk import review_many
    from treeplex.holdem.study.review.leaks import leaks
    from treeplex.holdem.study.review.review import Review, ReviewSettings, review
    from treeplex.holdem.study.review.review_file import ReviewFile

_HOMES = {
    "treeplex.holdem.solve.spot_game": "SpotOptions",
    "treeplex.holdem.solve.solver": "HoldemSolver",
    "treeplex.holdem.study.equity": "Equity, RangeEquity, equity",
    "treeplex.holdem.forms.compile_spot": "CompiledSpot, compile_spot as compile",
    "treeplex.holdem.forms.river_batch": "RiverValues, solve_rivers",
    "treeplex.holdem.betting.bet_plan": "BetPlan, FixedLimit",
    "treeplex.holdem.cards.cards": "cards_to_string, parse_cards",
    "treeplex.holdem.cards.ranges": "parse_range, range_to_string",
    "treeplex.holdem.rules.public": "HoldemGame",
    "treeplex.holdem.spots.files": "load_spot, spot",
    "treeplex.holdem.spots.known": "flop_holdem, leduc_holdem, limit_holdem, "
    "rhode_island_holdem, royal_holdem, turn_endgame_holdem",
    "treeplex.holdem.spots.libratus_endgames": "read_libratus_endgame",
    "treeplex.holdem.spots.locks": "NodeLock",
    "treeplex.holdem.spots.spot": "Rake, Spot",
    "treeplex.holdem.solve.estimate": "SpotEstimate, estimate_spot as estimate",
    "treeplex.holdem.policies.spot_policy": "HoldemPolicy",
    "treeplex.holdem.study.report.breakdown": "HandGroup, group_hands, node_range",
    "treeplex.holdem.study.report.comparison": "NodeComparison, compare_nodes",
    "treeplex.holdem.study.report.measures": "NodeStatistics, node_statistics",
    "treeplex.holdem.study.report.page_data": "hand_classes, report",
    "treeplex.holdem.study.report.runouts": "Runouts, runouts",
    "treeplex.holdem.policies.view": "NodeView",
    "treeplex.holdem.study.review.bulk": "review_many",
    "treeplex.holdem.study.review.leaks": "leaks",
    "treeplex.holdem.study.review.review": "Review, ReviewSettings, review",
    "treeplex.holdem.study.review.review_file": "ReviewFile",
    "treeplex.holdem.solve.solution": "HoldemSolution, load_solution",
    "treeplex.holdem.search.agent": "agent_game, holdem_agent",
    "treeplex.holdem.study.push_fold": "PushFold, push_fold",
}

__all__ = [
    "BetPlan",
    "CompiledSpot",
    "Equity",
    "FixedLimit",
    "HandGroup",
    "HoldemGame",
    "HoldemPolicy",
    "HoldemSolution",
    "HoldemSolver",
    "NodeComparison",
    "NodeLock",
    "NodeStatistics",
    "NodeView",
    "PushFold",
    "Rake",
    "RangeEquity",
    "Review",
    "ReviewFile",
    "ReviewSettings",
    "RiverValues",
    "Runouts",
    "Spot",
    "SpotEstimate",
    "SpotOptions",
    "agent_game",
    "cards_to_string",
    "compare_nodes",
    "compile",
    "equity",
    "estimate",
    "flop_holdem",
    "group_hands",
    "hand_classes",
    "holdem_agent",
    "leaks",
    "leduc_holdem",
    "limit_holdem",
    "load_solution",
    "load_spot",
    "node_range",
    "node_statistics",
    "parse_cards",
    "parse_range",
    "push_fold",
    "range_to_string",
    "read_libratus_endgame",
    "report",
    "review",
    "review_many",
    "rhode_island_holdem",
    "royal_holdem",
    "runouts",
    "solve_rivers",
    "spot",
    "turn_endgame_holdem",
]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
