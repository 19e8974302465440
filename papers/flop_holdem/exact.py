"""Flop hold'em, the game of Deep CFR, and related games: solved and evaluated exactly, all 115.6 million infosets."""

import resource
import time
from typing import Any

from papers.common.results import Result, Table, published
from papers.common.study import study
from treeplex.holdem import CompiledSpot, HoldemSolver, Spot, flop_holdem, rhode_island_holdem
from treeplex.holdem import compile as compile_spot

PUBLISHED = published("flop_holdem")["flop_holdem"]
MAIN = "Flop hold'em"
GAMES: dict[str, tuple[Spot, float]] = {
    MAIN: (flop_holdem(), 100.0),
    "Flop hold'em, 1 raise": (flop_holdem(1), 100.0),
    "Rhode Island hold'em": (rhode_island_holdem(), 10.0),
}
"""Each game, and its big blind in chips, or its first bet if there are only antes."""
CHECKED = (25, 50, 100, 150, 200, 250)
RUNS = (("dcfr", "float32"), ("cfr+", "float32"), ("dcfr", "int16"))
"""Iterations of the related games: only the first of these."""
THREADS = 2


def run(game: CompiledSpot, big_blind: float, algorithm: str, storage: str) -> list[dict[str, float]]:
    """Exploitability in mbb/hand, value and CPU time after each number of iterations."""
    solver, found, spent = HoldemSolver(game, algorithm, threads=THREADS, storage=storage), [], 0.0
    solver.run(0)
    for checked in CHECKED:
        began = time.process_time()
        solver.run(checked - solver.iteration)
        spent += time.process_time() - began
        began = time.process_time()
        best = solver.form.values(solver.tables, best=True)
        judging = time.process_time() - began
        value = solver.form.values(solver.tables, best=False)[0]
        gain = 1000 * float(best.sum()) / 2 / big_blind
        numbers = {"exploitability": gain, "value": 1000 * float(value) / big_blind, "seconds": spent, "judging": judging}
        found.append({"iterations": float(checked)} | numbers)
        print(algorithm, storage, found[-1], flush=True)
    return found


@study(title="Flop hold'em, exactly", place=1, minutes=45)
def reproduce() -> Result:
    numbers: dict[str, Any] = {}
    sizes, rows = [], []
    for title, (spot, big_blind) in GAMES.items():
        began = time.process_time()
        game = compile_spot(spot)
        compiling = time.process_time() - began
        sizes.append([title, f"{game.infosets:,}", f"{game.stored:,}", f"{compiling:.0f}"])
        for algorithm, storage in RUNS if title == MAIN else RUNS[:1]:
            found = run(game, big_blind, algorithm, storage)
            numbers[f"{title}/{algorithm}/{storage}"] = found
            cells = [f"{each['exploitability']:.2f}" for each in found]
            rows.append([title, f"`{algorithm}`", storage, *cells, f"{found[-1]['seconds']:.0f}", f"{found[-1]['value']:.1f}"])
    main = numbers[f"{MAIN}/dcfr/float32"]
    below = next((each for each in main if each["exploitability"] < 1), main[-1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return Result(
        source=PUBLISHED["source"],
        findings=[
            f"Deep CFR and NFSP are published at {PUBLISHED['deep cfr']} and {PUBLISHED['nfsp']} mbb/hand. `dcfr` without "
            f"abstraction reaches {below['exploitability']:.2f} after {below['iterations']:.0f} iterations and "
            f"{below['seconds']:.0f} CPU s on {THREADS} threads. An exact evaluation takes {below['judging']:.0f} s. Peak "
            f"memory is {peak:.1f} GB.",
            f"For the big blind, who acts last preflop, the value of the game is {main[-1]['value']:.1f} mbb/hand.",
        ],
        tables=[
            Table("Sizes", ("game", "infosets", "numbers per array", "seconds to compile"), sizes),
            Table(
                "Exploitability, in mbb/hand (of the first bet in Rhode Island hold'em)",
                ("game", "algorithm", "storage", *(f"{n} its" for n in CHECKED), "CPU s", "value of player 0"),
                rows,
            ),
        ],
        notes=[
            (
                "Boards that differ only by suits are solved once. Exploitability is from best responses over all boards and "
                "hands."
            )
        ],
        numbers={"runs": numbers},
        threads=THREADS,
    )
