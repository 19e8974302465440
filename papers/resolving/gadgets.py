"""Re-solving: Leduc poker's second betting rounds, from ranges alone and behind gadgets, from three blueprints."""

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import judge
from treeplex.search import resolve_subgames
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.solvers import make_solver

GAME = "leduc_poker"
BLUEPRINTS = (10, 50, 200)
ITERATIONS = 1000
KNOWN = {10: (0.889, 0.402, 0.688, 0.640), 50: (0.189, 0.064, 0.133, 0.121), 200: (0.0538, 0.127, 0.0437, 0.0354)}
"""Results of an independent implementation: blueprint, unsafe, resolve, maxmargin."""


@study(title="Re-solving with gadgets: Leduc poker", place=2, minutes=1)
def reproduce() -> Result:
    game, numbers, rows = tp.compile(GAME), {}, []
    for before in BLUEPRINTS:
        solver = make_solver(game, "cfr")
        solver.run(before)
        blueprint = solver.average_policy()
        found = {gadget: judge(game, resolve_subgames(game, blueprint, gadget, iterations=ITERATIONS)) for gadget in RESOLVING}
        judged = judge(game, blueprint)
        numbers[f"cfr {before}"] = {
            "blueprint": judged.best_response_values,
            "resolved": {gadget: each.best_response_values for gadget, each in found.items()},
        }
        cells = [judged, *found.values()]
        rows.append([f"CFR, {before} iterations", *(f"{each.exploitability:.4f}" for each in cells)])
        rows.append(["another implementation", *(f"{each:g}" for each in KNOWN[before]), "", ""])
        print(rows[-2], flush=True)
    safe = [gadget for gadget in RESOLVING if gadget != "none"]
    excess = max(
        after - before
        for each in numbers.values()
        for gadget in safe
        for before, after in zip(each["blueprint"], each["resolved"][gadget], strict=True)
    )
    return Result(
        source="the gadgets of Burch, Johanson and Bowling 2014 (resolve), Moravčík et al. 2016 (maxmargin) and Brown and "
        "Sandholm 2017 (reach), on Leduc poker",
        findings=[
            "With gadgets, neither player is more exploitable than before: at worst, a best response's value "
            f"changes by {excess:+.4f} chips.",
        ],
        tables=[Table("Exploitability", ["blueprint", "before", *(f"`{gadget}`" for gadget in RESOLVING)], rows)],
        notes=[
            f"All 30 second rounds, each re-solved for both players by {ITERATIONS:,} iterations of CFR+; blueprints "
            "are averages of CFR with alternating updates.",
        ],
        numbers=numbers,
    )
