"""Exploitability of the first street's strategy in a spot, with all later streets solved as well as possible.

A first-street strategy does not define play on later streets, so it has no exploitability by itself. For a player whose first
street is locked, later play is chosen here against an unrestricted opponent: the spot is solved with that player's first
street locked, once for each player. The two locked players together are a strategy of the whole spot. Its exploitability,
computed exactly, is never below the minimum over all continuations of the first street, and equals it up to the accuracy of
the two solves. It therefore measures mistakes on the first street only.
"""

from collections.abc import Callable

import numpy as np

from treeplex.errors import PolicyError
from treeplex.evaluate.judge import Judgement
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.layout import own_parts
from treeplex.holdem.forms.spot_form import FixedStrategy, store_of_policy
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.policies.node_values import HoldemValues
from treeplex.holdem.solve.carried_regrets import START, without_average
from treeplex.holdem.solve.estimate import check_spot
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.spot import Spot

JUDGED_BY = "dcfr"
JUDGING = 100
"""Iterations of each of the two solves."""


def judge_first_street(
    solution: HoldemSolution,
    *,
    iterations: int = JUDGING,
    threads: int | None = None,
    start: HoldemSolution | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Judgement:
    """Evaluate a solution's first street, with the later streets of both players' strategies solved as described above.

    Args:
        solution: a solution of all streets of a spot, or of its first street only.
        iterations: iterations of each solve with one player's first street locked.
        threads: default: one per available core. Results do not depend on them.
        start: a solution of all streets of the same spot, without isomorphism and in storage float32, whose regrets both solves
            start from, so that few iterations suffice. Averages restart, since the old averages belong to a different
            first-street strategy.
        progress: called after each iteration with the numbers of iterations done and planned, over both solves.

    Raises:
        SpecError: the spot with all streets does not fit into memory.
        PolicyError: the solution is stored in 16-bit numbers, or ``start`` is unsuitable.
    """
    if solution.scales.size:
        raise PolicyError("first-street evaluation does not support 16-bit policies; solve with storage float32")
    fits = start is None or (
        start.state
        and (start.algorithm, start.settings.storage) == (JUDGED_BY, "float32")
        and not (start.game.isomorphism or start.game.cut_short)
    )
    if not fits:
        raise PolicyError(f"start from a resumable solution by {JUDGED_BY} with isomorphism=False and storage float32")
    if start is not None and start.spot.identity != solution.spot.identity:
        raise PolicyError("the solution to start from belongs to another spot; use a solution of this spot")
    if start is None:
        check_judging(solution.spot, threads=threads)
    game = compile_spot(solution.spot, isomorphism=False) if start is None else start.game
    locks = [first_street_locks(solution.hand_values, player) for player in (0, 1)]
    average = np.zeros(game.stored, np.float32)
    for player in (0, 1):
        solver = HoldemSolver(game, JUDGED_BY, threads=threads, horizon=iterations, locks=locks[player])
        if start is not None and start.state is not None:
            solver.restore(START, without_average(start.state))
            solver.store.regrets[solver.store.lock_places] = solver.store.lock_values
        for done in range(iterations):
            solver.run(1)
            if progress is not None:
                progress(player * iterations + done + 1, 2 * iterations)
        for part in own_parts(game, player, len(game.boards)):
            average[part] = solver.store.average[part]
        average[solver.store.lock_places] = solver.store.lock_values
    none = np.zeros(0, np.float32)
    return judge_spot(game, average, store_of_policy(game, average, none), judging_crew(game, threads or 1))


def check_judging(spot: Spot, *, threads: int | None = None) -> None:
    """Reject a spot for which :func:`judge_first_street` lacks memory, before anything is built.

    Raises:
        SpecError: the evaluation does not fit into memory.
    """
    check_spot(spot, JUDGED_BY, isomorphism=False, storage="float32", threads=threads or 1)


def first_street_locks(values: HoldemValues, player: int) -> list[FixedStrategy]:
    """A player's first-street strategy as locks for the whole spot, which is compiled without isomorphism."""
    numbers = values.game.forests[0].numbers[player]
    return [FixedStrategy(0, player, row, values.policy(0, 0, number)) for row, number in enumerate(numbers)]
