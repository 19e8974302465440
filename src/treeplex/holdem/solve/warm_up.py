"""Compile the kernels of hold'em, before the first run."""

from treeplex.holdem.betting.sizes import BetPlan
from treeplex.holdem.solve.solve import solve_spot
from treeplex.holdem.spots.known import holdem

BOARDS, STORAGE = ("Td9d6hQc2s", "Td9d6hQc"), ("float32", "int16")


def compile_spots() -> None:
    """Solve, judge and look at a river and a turn of hold'em, in both kinds of storage."""
    for storage in STORAGE:
        for board in BOARDS:
            spot = holdem(board, "AA,KK", "QQ,JJ", pot=20, stack=60, bets=BetPlan.same("50%", "a"))
            solution = solve_spot(spot, iterations=2, threads=1, storage=storage)
            assert len(solution.at("").action_ev)
