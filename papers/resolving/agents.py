"""Agents that re-solve while they play: exploitability of DeepStack, Libratus and Modicum in Leduc poker, by iterations."""

from dataclasses import replace

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import Policy, judge
from treeplex.search import (
    BlueprintLeaf,
    ExactLeaf,
    Horizon,
    LeafValue,
    ResolveSettings,
    ResolvingAgent,
    TableBlueprint,
    agent_policy,
    biased_policies,
    public_tree,
)
from treeplex.search.resolving.settings import ROUND
from treeplex.search.subgames.horizon import TO_THE_END
from treeplex.solvers import make_solver

GAME, RULES = tp.compile("leduc_poker"), public_tree("leduc_poker")
END_OF_ROUND = Horizon(rounds=1, dealt=True)
BUDGETS = (30, 100, 300, 1000)
"""Iterations of each solve."""
LEAF_ITERATIONS, MOST_WITH_LEAVES = 50, 300
"""Iterations of exact values at leaves, and the largest budget for which they are computed."""
CONTINUATIONS = 500
"""Iterations of Modicum's solves, for the second table."""


def solved(algorithm: str, iterations: int) -> Policy:
    """An average policy."""
    solver = make_solver(GAME, algorithm)
    solver.run(iterations)
    return solver.average_policy()


def exploitability(
    settings: ResolveSettings, leaves: LeafValue | list[LeafValue] | None = None, blueprint: Policy | None = None
) -> float:
    """Exploitability of an agent's policy at all infosets, in chips; leaves are at ends of rounds, and a blueprint plays the
    first round.
    """
    start, horizon = int(blueprint is not None), TO_THE_END if leaves is None else END_OF_ROUND
    table = None if blueprint is None else TableBlueprint(RULES, blueprint, start)
    agent = ResolvingAgent(RULES, settings, leaves, horizon=horizon, blueprint=table, start=start)
    return judge(GAME, agent_policy(agent, GAME)).exploitability


def continuations(blueprint: Policy, count: int) -> list[LeafValue]:
    """For each player, leaves at which the opponent chooses among the given number of continuations."""
    choices = biased_policies(blueprint)[:count]
    return [BlueprintLeaf(RULES, blueprint, {1 - player: choices}) for player in (0, 1)]


def by_budget() -> dict[str, list[float | None]]:
    """Each agent's exploitability for each budget; None if it takes too long."""
    rough, better, found = solved("cfr", 50), solved("cfr", 200), {}
    found["CFR+ on the whole game"] = [judge(GAME, solved("cfr+", budget)).exploitability for budget in BUDGETS]
    for name, settings, leaves, blueprint in (
        ("DeepStack, to the end of the game", ResolveSettings(), None, None),
        ("DeepStack, exact values after the round", ResolveSettings(), "exact", None),
        ("Libratus, maxmargin", ResolveSettings(gadget="maxmargin", every=ROUND), None, rough),
        ("Libratus, reach-maxmargin", ResolveSettings(gadget="reach-maxmargin", every=ROUND), None, rough),
        ("Libratus, each decision", ResolveSettings(gadget="maxmargin"), None, rough),
        ("Modicum, four continuations", ResolveSettings(every=ROUND), "continuations", better),
    ):
        row: list[float | None] = []
        for budget in BUDGETS:
            given = replace(settings, iterations=budget)
            if leaves == "exact" and budget > MOST_WITH_LEAVES:
                row.append(None)
            elif leaves == "exact":
                row.append(exploitability(given, ExactLeaf(method="cfr+", iterations=LEAF_ITERATIONS)))
            elif leaves == "continuations" and blueprint is not None:
                row.append(exploitability(given, continuations(blueprint, 4)))
            else:
                row.append(exploitability(given, blueprint=blueprint))
        found[name] = row
        print(name, row, flush=True)
    return found


def by_blueprint() -> dict[str, list[float]]:
    """For each blueprint, its exploitability and Modicum's with 1 and 4 continuations and two gadgets."""
    found = {}
    for name, blueprint in (
        ("an equilibrium", solved("lp", 1)),
        ("CFR, 200 iterations", solved("cfr", 200)),
        ("CFR, 50 iterations", solved("cfr", 50)),
        ("CFR, 10 iterations", solved("cfr", 10)),
    ):
        row = [judge(GAME, blueprint).exploitability]
        for gadget, count in (("resolve", 1), ("resolve", 4), ("maxmargin", 4)):
            settings = ResolveSettings(gadget=gadget, every=ROUND, iterations=CONTINUATIONS)
            row.append(exploitability(settings, continuations(blueprint, count)))
        found[name] = row
        print(name, row, flush=True)
    return found


@study(title="Agents that re-solve: Leduc poker", place=5, minutes=10)
def reproduce() -> Result:
    budgets, blueprints = by_budget(), by_blueprint()
    rough, better = blueprints["CFR, 50 iterations"][0], blueprints["CFR, 200 iterations"][0]
    last = {name: row[-1] for name, row in budgets.items()}
    safe = max(row for name, row in last.items() if name.startswith("Libratus") and row is not None)
    return Result(
        source="continual re-solving (Moravčík et al. 2017), nested safe subgame solving (Brown and Sandholm 2017) and "
        "depth-limited solving (Brown, Sandholm and Amos 2018), on Leduc poker",
        findings=[
            f"With {BUDGETS[-1]:,} iterations per solve, continual re-solving to the end has an exploitability of "
            f"{last['DeepStack, to the end of the game']:.5f} chips.",
            f"Re-solving second rounds with maxmargin lowers a blueprint's exploitability from {rough:.3f} to at most "
            f"{safe:.3f} chips.",
            f"Modicum lowers a blueprint's exploitability from {better:.3f} chips to "
            f"{last['Modicum, four continuations']:.3f}.",
        ],
        tables=[
            Table(
                "Exploitability by iterations per solve, in chips",
                ["agent", *(f"{budget:,}" for budget in BUDGETS)],
                [[name, *("" if each is None else f"{each:.4f}" for each in row)] for name, row in budgets.items()],
            ),
            Table(
                "Exploitability of Modicum by blueprint, in chips",
                ["blueprint", "its own", "1 continuation", "4 continuations", "4, `maxmargin`"],
                [[name, *(f"{each:.4f}" for each in row)] for name, row in blueprints.items()],
            ),
        ],
        notes=[
            f"Exploitability is that of the agent's policy at all 936 infosets, with a new playthrough for each public "
            f"history. Solves are by CFR+. Exact values at leaves are from {LEAF_ITERATIONS} iterations of CFR+, "
            "repeated in each iteration. Libratus plays the average of 50 iterations of CFR in the first round, and "
            "Modicum's leaves continue with that of 200. Agents solve with the `resolve` gadget unless stated otherwise.",
            f"The second table: {CONTINUATIONS} iterations per solve; both rounds are solved, each as a whole.",
        ],
        numbers={"budgets": {str(budget): {n: r[k] for n, r in budgets.items()} for k, budget in enumerate(BUDGETS)}}
        | {"blueprints": blueprints},
    )
