"""No-limit games: Libratus' Table 1 on no-limit Leduc and a small deck of hold'em, action translation and a self-improver."""

from collections.abc import Iterator

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import CompiledGame, Policy, best_response, judge
from treeplex.search import (
    CoarsePolicy,
    bet_abstraction,
    compile_abstraction,
    improve_blueprint,
    most_frequent_actions,
    off_tree_actions,
    public_tree,
    resolve_subgames,
    translated_policy,
)
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.search.translation.mapping import MAPPINGS
from treeplex.solvers import make_solver

LEDUC = "no_limit_leduc"
REAL = "no_limit_leduc(sizes=[50%;100%;200%;a])"
DECK = "small_holdem(ranks=4,hole=2,deal=[0;3],sizes=[100%;a],stack=10)"
ANTES = {LEDUC: 100, REAL: 100, DECK: 1}
BLUEPRINTS = (("cfr", 10), ("cfr+", 100), ("cfr+", 1000))
ITERATIONS = 5000
ROUNDS, ADDED = 5, 8
"""Settings of the self-improver: number of improvements, and bets added in each."""


def solved(game: CompiledGame, algorithm: str, iterations: int) -> Policy:
    """A blueprint."""
    solver = make_solver(game, algorithm)
    solver.run(iterations)
    return solver.average_policy()


def blueprints() -> Iterator[tuple[str, str, CompiledGame, Policy]]:
    """The blueprints of the first table: game, name, compiled game, policy of it."""
    for spec in (LEDUC, DECK):
        game = tp.compile(spec)
        for algorithm, iterations in BLUEPRINTS:
            yield spec, f"{algorithm.upper()}, {iterations:,} iterations", game, solved(game, algorithm, iterations)
    few, many = tp.compile(LEDUC), tp.compile(REAL)
    yield REAL, "pot and all-in, translated", many, translated_policy(many, solved(few, "cfr+", 1000), public_tree(LEDUC))


def losses(game: CompiledGame, blueprint: CoarsePolicy) -> tuple[float, dict[tuple[int, ...], float]]:
    """The exploitability of a translated blueprint, and the off-tree bets of best responses with their probabilities."""
    policy = translated_policy(game, blueprint.policy, blueprint.rules)
    found: dict[tuple[int, ...], float] = {}
    for seat in (0, 1):
        for path, likely in off_tree_actions(blueprint.rules, best_response(game, policy, seat)[1]).items():
            found[path] = found.get(path, 0.0) + likely
    return judge(game, policy).exploitability, found


def improvement() -> tuple[list[list[str]], dict[str, list[float]]]:
    """Rows and numbers of the self-improver's table."""
    game, menu = tp.compile(REAL), bet_abstraction(public_tree(REAL), ["100%", "a"])
    first, curves = CoarsePolicy(menu, solved(compile_abstraction(game, menu), "cfr+", 1000)), {}
    for gadget in ("reach-maxmargin", "resolve", "none"):
        blueprint, curve = first, list[float]()
        for _ in range(ROUNDS + 1):
            lost, unknown = losses(game, blueprint)
            curve.append(lost)
            print(gadget, curve, flush=True)
            if len(curve) <= ROUNDS:
                blueprint = improve_blueprint(game, blueprint, most_frequent_actions(unknown, ADDED), gadget, iterations=1000)
        curves[gadget] = curve
    rows = [[f"`{gadget}`", *(f"{lost:.2f}" for lost in curve)] for gadget, curve in curves.items()]
    return rows, curves


@study(title="Re-solving and off-tree bets in no-limit games", place=4, minutes=6)
def reproduce() -> Result:
    rows, numbers, excess = [], {}, 0.0
    for spec, name, game, blueprint in blueprints():
        before = judge(game, blueprint)
        after = {gadget: judge(game, resolve_subgames(game, blueprint, gadget, iterations=ITERATIONS)) for gadget in RESOLVING}
        unit = 1000 / ANTES[spec]
        numbers[f"{spec}: {name}"] = {
            "blueprint": [unit * each for each in before.best_response_values],
            "resolved": {gadget: [unit * each for each in judged.best_response_values] for gadget, judged in after.items()},
        }
        excess = max(
            excess,
            *(
                unit * (new - old)
                for gadget in RESOLVING[1:]
                for old, new in zip(before.best_response_values, after[gadget].best_response_values, strict=True)
            ),
        )
        rows.append([f"`{spec}`", name, *(f"{unit * each.exploitability:.2f}" for each in (before, *after.values()))])
        print(rows[-1], flush=True)
    known = tp.compile(REAL)
    coarse = solved(tp.compile(LEDUC), "cfr+", 1000)
    heard = {
        mapping: judge(known, translated_policy(known, coarse, public_tree(LEDUC), mapping=mapping)).exploitability
        for mapping in MAPPINGS
    }
    improvements, curves = improvement()
    numbers |= {"translated": heard, "self-improver": curves}
    return Result(
        source="table 1 and self-improvement of Brown and Sandholm 2018 (Libratus), on other games; translation of Ganzfried "
        "and Sandholm 2013",
        findings=[
            "Without a gadget re-solving improves a rough blueprint most, and makes a good one many times as "
            f"exploitable. With gadgets, neither player becomes more exploitable, except for {excess:.2f} mbb that "
            f"remain after {ITERATIONS:,} iterations.",
            f"A blueprint with two bet sizes loses {heard['random']:.1f} chips against all four sizes with random "
            f"translation, and {heard['likelier']:.1f} with the likelier size.",
            f"The self-improver lowers that to {curves['reach-maxmargin'][-1]:.1f} chips. Without a gadget its responses "
            f"are worse than translation.",
        ],
        tables=[
            Table(
                "Exploitability in thousandths of the ante",
                ["game", "blueprint", "before", *(f"`{gadget}`" for gadget in RESOLVING)],
                rows,
            ),
            Table(
                "Exploitability of a translated blueprint in chips, by number of improvements",
                ["solution after an added bet", *map(str, range(ROUNDS + 1))],
                improvements,
            ),
        ],
        notes=[
            f"All second rounds are re-solved for both players by {ITERATIONS:,} iterations of CFR+. Blueprints are "
            f"averages of CFR with alternating updates and of CFR+; the last one is for `{LEDUC}`.",
            f"The blueprint of the second table has bets of the pot and all-in, in `{REAL}`. Each improvement adds "
            f"the {ADDED} most frequent unknown bets of its best responses in either seat. All bets may exploit it.",
        ],
        numbers=numbers,
    )
