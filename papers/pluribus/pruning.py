"""Pluribus' blueprints: external sampling with linear weights, with and without pruning, on games of three players."""

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import judge
from treeplex.solvers import make_solver

GAMES = {
    "Kuhn": ("kuhn_poker(players=3)", (10**4, 10**5, 10**6)),
    "Leduc, 6 cards, 1 raise": ("leduc_poker(players=3,ranks=3,raises=1)", (10**5, 10**6, 10**7)),
}
ALGORITHMS = ("pluribus-mccfr(prune=0)", "pluribus-mccfr", "pluribus-mccfr(prune_below=30)")
SEEDS = range(3)
STEP = 200
"""Iterations between checks of the visited histories."""


@study(title="Pluribus' blueprints: pruning", place=2, minutes=1)
def reproduce() -> Result:
    rows, numbers = [], {}
    for title, (spec, efforts) in GAMES.items():
        game = tp.compile(spec)
        for algorithm in ALGORITHMS:
            found, lengths = [], []
            for seed in SEEDS:
                solver, values = make_solver(game, algorithm, seed=seed), []
                for nodes in efforts:
                    while solver.nodes < nodes:
                        solver.run(max(STEP, solver.iteration // 50))
                    values.append(judge(game, solver.average_policy()).nash_conv)
                found.append(values)
                lengths.append(solver.nodes / solver.iteration)
            means = [sum(column) / len(SEEDS) for column in zip(*found, strict=True)]
            walked = sum(lengths) / len(SEEDS)
            rows.append([title, f"`{algorithm}`", f"{walked:.1f}", *(f"{mean:.4f}" for mean in means)])
            numbers[f"{title} {algorithm}"] = {"nash_conv": found, "nodes": list(efforts), "nodes an iteration": lengths}
            print(rows[-1], flush=True)
    return Result(
        source="Brown and Sandholm 2019, Superhuman AI for multiplayer poker, supplementary materials",
        findings=["Walks are shorter with pruning. Its effect at equal effort depends on how early it prunes."],
        tables=[
            Table(
                "NashConv, three players",
                ["game", "algorithm", "histories per iteration", "little effort", "ten times", "a hundred times"],
                rows,
            )
        ],
        notes=[
            "Means of three seeds, in chips. Little effort is 10,000 histories in Kuhn poker and 100,000 in Leduc poker.",
        ],
        numbers=numbers,
    )
