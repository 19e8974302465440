"""Re-solving: Leduc poker's second betting rounds solved again from ranges alone and behind gadgets, from three blueprints."""

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.search.resolving import RESOLVING, resolved
from treeplex.solvers import make_solver

GAME = "leduc_poker"
BLUEPRINTS = (10, 50, 200)
ITERATIONS = 1000


@study(title="Re-solving behind gadgets: Leduc poker", place=None, minutes=1)
def reproduce() -> Result:
    game, numbers, rows = compile_game(GAME), {}, []
    for before in BLUEPRINTS:
        solver = make_solver(game, "cfr")
        solver.run(before)
        blueprint = solver.average_policy()
        found = {gadget: judge(game, resolved(game, blueprint, gadget, iterations=ITERATIONS)) for gadget in RESOLVING}
        judged = judge(game, blueprint)
        numbers[f"cfr {before}"] = {
            "blueprint": judged.best_response_values,
            "resolved": {gadget: each.best_response_values for gadget, each in found.items()},
        }
        cells = [judged, *found.values()]
        rows.append([f"CFR, {before} iterations", *(f"{each.exploitability:.4f}" for each in cells)])
        print(rows[-1], flush=True)
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
            "Behind gadgets neither player is more exploitable than before: at worst, a best response's value "
            f"changes by {excess:+.4f} chips.",
        ],
        tables=[Table("Exploitability", ["blueprint", "before", *(f"`{gadget}`" for gadget in RESOLVING)], rows)],
        notes=[
            f"All 30 second rounds, each solved again for both players by {ITERATIONS:,} iterations of CFR+; blueprints are "
            "averages of CFR with alternating updates.",
        ],
        numbers=numbers,
    )
