"""Compiles the hold'em kernels before the first run."""

from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.spot import Rake, Spot
from treeplex.holdem.study.equity import equity

RIVER, TURN, _ = BOARDS = ("Td9d6hQc2s", "Td9d6hQc", "Td9d6h")
STORAGE = ("float32", "int16")
VARIANTS = ("apcfr+", "vt-cfr+", "fp")
"""Algorithms whose updates have kernels of their own: adaptive, value-tested, and responses to averages."""


def small_spot(board: str, rake: Rake | None = None) -> Spot:
    """A spot with few hands and bet sizes."""
    return holdem(board, "AA,KK", "QQ,JJ", pot=20, stack=60, bets=BetPlan.same("50%", "a"), rake=rake)


def compile_spots() -> None:
    """Solve and evaluate a river, a turn and a flop in both storage types, view a node, and compute an equity."""
    for storage in STORAGE:
        for board in BOARDS:
            solution = solve_spot(small_spot(board), iterations=2, threads=1, storage=storage)
            assert len(solution.at("").action_ev)
    equity(["AKs", "QQ"], board="Td9d6h")


def compile_spot_variants() -> None:
    """Solve a river and a turn with rake, and by each algorithm whose updates have kernels of their own."""
    for board in (RIVER, TURN):
        solve_spot(small_spot(board, Rake(0.05, 3.0)), iterations=2, threads=1)
        for algorithm in VARIANTS:
            solve_spot(small_spot(board), algorithm, iterations=2, threads=1)
