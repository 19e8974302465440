"""Boards of 3 by 3 up to symmetry: savings, and tabular curves of the abrupt versions."""

import resource
from typing import Any

import treeplex as tp
from papers.common.results import Result, Table, stored
from papers.common.study import study
from papers.phantom.whole_boards import curve, seconds
from treeplex import CompiledGame
from treeplex.solvers import make_solver

ABRUPT_TTT, ABRUPT_HEX = "phantom_ttt(gameversion=abrupt,symmetric=true)", "dark_hex(gameversion=adh,symmetric=true)"
PUBLISHED = {ABRUPT_TTT: 0.5502, ABRUPT_HEX: 0.3844}
"""Values of abrupt boards, Rudolph et al. 2025."""
WHOLE_TTT = "phantom_ttt(gameversion=abrupt)"
UNFOLDED = 20
"""Iterations of the policy that is transferred from the symmetry-reduced game to the full one."""
GAMES = (
    "phantom_ttt",
    "phantom_ttt(symmetric=true)",
    "dark_hex",
    "dark_hex(symmetric=true)",
    ABRUPT_TTT,
    WHOLE_TTT,
    ABRUPT_HEX,
)
CURVES = {
    ABRUPT_TTT: {"dcfr": (5, 10, 20, 50), "pcfr+": (5, 10, 20)},
    WHOLE_TTT: {"dcfr": (5, 10)},
    ABRUPT_HEX: {"dcfr": (5, 10, 20, 50, 80)},
}


def measured(spec: str) -> dict[str, Any]:
    """Sizes, times, exploitability of the uniform policy, curves, and peak memory of the process."""
    game, compiling = seconds(lambda: tp.compile(spec))
    judged, judging = seconds(lambda: tp.judge(game, tp.Policy.uniform(game)))
    found = {"compiling": compiling, "judging": judging, "uniform": judged.exploitability, "infosets": sum(game.infosets)}
    found |= {"terms": len(game.payoff.factors.others), "entries": len(game.payoff.factors.lists)}
    print(spec, found, flush=True)
    found["curves"] = {algorithm: curve(game, algorithm, checked) for algorithm, checked in CURVES.get(spec, {}).items()}
    if spec == WHOLE_TTT:
        found["unfolded"] = unfolded(game)
        print(found["unfolded"], flush=True)
    return found | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def unfolded(whole: CompiledGame) -> dict[str, float]:
    """Exploitability of a policy of the symmetry-reduced game, there and in the full game."""
    solver = make_solver(tp.compile(ABRUPT_TTT), "dcfr")
    solver.run(UNFOLDED)
    policy = solver.average_policy()
    there = tp.judge(policy.game, policy)
    here = tp.judge(whole, tp.policies.unfold(policy, whole))
    return {"symmetric": there.exploitability, "whole": here.exploitability, "value": here.value[0]}


@study(title="Phantom boards up to symmetry, and abrupt versions", place=2, minutes=75)
def reproduce(*options: str) -> Result:
    """Options: boards to measure; others are taken as stored."""
    before: dict[str, Any] = stored("phantom/abrupt_boards") if options else {}
    for small in ("phantom_ttt(gameversion=abrupt,rows=2,columns=2,line=2)", "dark_hex(board_size=2)"):
        tp.judge(tp.compile(small), tp.Policy.uniform(tp.compile(small)))  # kernels
    numbers = {spec: before[spec] if options and spec not in options else measured(spec) for spec in GAMES}
    sizes, curves = [], []
    for spec, found in numbers.items():
        sizes.append(
            [
                f"`{spec}`",
                f"{found['infosets']:,}",
                f"{found['entries']:,}",
                f"{found['terms']:,}",
                f"{found['compiling']:.0f} s",
                f"{found['judging']:.2f} s",
            ]
        )
        for algorithm, each in found["curves"].items():
            curves += [
                [
                    f"`{spec}`" if at is each[0] else "",
                    f"`{algorithm}`" if at is each[0] else "",
                    str(at["iterations"]),
                    f"{at['exploitability']:.1e}",
                    f"{at['value']:.4f}",
                    f"{at['seconds']:.0f} s",
                ]
                for at in each
            ]
    whole = numbers[WHOLE_TTT]
    both = whole["unfolded"]
    return Result(
        source="Rudolph et al. 2025, Reevaluating Policy Gradient Methods for Imperfect-Information Games (arXiv 2502.08938)",
        findings=[
            f"A policy of `{ABRUPT_TTT}` after {UNFOLDED} iterations, with exploitability {both['symmetric']:.9f}, "
            f"has {both['whole']:.9f} as a policy of `{WHOLE_TTT}`, where symmetric cells are chosen by a coin toss."
        ],
        tables=[
            Table("Boards", ["game", "infosets", "entries of lists", "terms", "compiling", "judging"], sizes),
            Table(
                "Abrupt boards",
                ["game", "algorithm", "iterations", "exploitability", "value", "CPU time"],
                curves,
            ),
        ],
        notes=[
            "CPU time of one thread; the machine was busy with other jobs. Published values: "
            + " and ".join(f"{value} of `{spec}`" for spec, value in PUBLISHED.items())
            + f". `{ABRUPT_HEX}` took at most {numbers[ABRUPT_HEX]['peak'] / 1e9:.1f} GB, `{WHOLE_TTT}` "
            f"{whole['peak'] / 1e9:.1f} GB, solving included. Runs with and without symmetry start at different "
            "uniform policies, so their curves differ."
        ],
        numbers=numbers,
    )
