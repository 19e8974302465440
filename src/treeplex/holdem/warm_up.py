"""Compiles the hold'em kernels before the first run."""

from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.study.equity import equity

BOARDS, STORAGE = ("Td9d6hQc2s", "Td9d6hQc", "Td9d6h"), ("float32", "int16")


def compile_spots() -> None:
    """Solve and evaluate a river, a turn and a flop in both storage types, view a node, and compute an equity."""
    for storage in STORAGE:
        for board in BOARDS:
            spot = holdem(board, "AA,KK", "QQ,JJ", pot=20, stack=60, bets=BetPlan.same("50%", "a"))
            solution = solve_spot(spot, iterations=2, threads=1, storage=storage)
            assert len(solution.at("").action_ev)
    equity(["AKs", "QQ"], board="Td9d6h")
