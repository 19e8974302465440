"""Boards of 3 by 3 up to symmetry: what that saves, and tabular curves of the abrupt ones."""

import resource
from typing import Any

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from papers.phantom.whole_boards import curve, seconds

ABRUPT_TTT, ABRUPT_HEX = "phantom_ttt(gameversion=abrupt,symmetric=true)", "dark_hex(gameversion=adh,symmetric=true)"
PUBLISHED = {ABRUPT_TTT: 0.5502, ABRUPT_HEX: 0.3844}
"""Values of abrupt boards, Rudolph et al. 2025."""
GAMES = (
    "phantom_ttt",
    "phantom_ttt(symmetric=true)",
    "dark_hex",
    "dark_hex(symmetric=true)",
    ABRUPT_TTT,
    ABRUPT_HEX,
)
CURVES = {
    ABRUPT_TTT: {"dcfr": (5, 10, 20, 50), "pcfr+": (5, 10, 20)},
    ABRUPT_HEX: {"dcfr": (5, 10, 20, 50, 80)},
}


@study(title="Phantom boards up to symmetry, and abrupt ones", place=2, minutes=60)
def reproduce() -> Result:
    for small in ("phantom_ttt(gameversion=abrupt,rows=2,columns=2,line=2)", "dark_hex(board_size=2)"):
        tp.judge(tp.compile(small), tp.Policy.uniform(tp.compile(small)))  # kernels
    numbers: dict[str, Any] = {}
    sizes, curves = [], []
    for spec in GAMES:
        game, compiling = seconds(lambda spec=spec: tp.compile(spec))
        factors = game.payoff.factors
        judging = seconds(lambda game=game: tp.judge(game, tp.Policy.uniform(game)))[1]
        row = {"compiling": compiling, "judging": judging, "terms": len(factors.others), "entries": len(factors.lists)}
        numbers[spec] = row | {"infosets": sum(game.infosets), "curves": {}}
        print(spec, numbers[spec], flush=True)
        sizes.append(
            [
                f"`{spec}`",
                f"{sum(game.infosets):,}",
                f"{row['entries']:,}",
                f"{row['terms']:,}",
                f"{compiling:.0f} s",
                f"{judging:.2f} s",
            ]
        )
        for algorithm, checked in CURVES.get(spec, {}).items():
            each = numbers[spec]["curves"][algorithm] = curve(game, algorithm, checked)
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
        numbers[spec]["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Result(
        source="Rudolph et al. 2025, Reevaluating Policy Gradient Methods for Imperfect-Information Games (arXiv 2502.08938)",
        findings=[],
        tables=[
            Table("Boards", ["game", "infosets", "entries of lists", "terms", "compiling", "judging"], sizes),
            Table(
                "Abrupt boards",
                ["game", "algorithm", "iterations", "exploitability", "value", "processor time"],
                curves,
            ),
        ],
        notes=[
            "Processor time of one thread; the machine did much other work meanwhile. Published values: "
            + " and ".join(f"{value} of `{spec}`" for spec, value in PUBLISHED.items())
            + f". The largest board took {numbers[ABRUPT_HEX]['peak'] / 1e9:.1f} GB at most, solving included."
        ],
        numbers=numbers,
    )
