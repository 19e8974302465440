"""DDCFR Table 4: sizes of the nine OpenSpiel games and Big Leduc, counted by compiling the library's own rules."""

import treeplex as tp
from papers.common.results import Result, Table, published
from papers.common.study import study

COLUMNS = ("histories", "infosets", "terminals", "depth", "largest infoset")


def counts(spec: str) -> list[int]:
    """The five columns of the table for one game."""
    game = tp.compile(spec)
    size = game.size
    return [size.histories, sum(game.infosets), size.terminals, size.depth, size.largest_infoset]


@study(title="DDCFR, Table 4: game sizes", place=6, minutes=0.2)
def reproduce() -> Result:
    numbers = published("ddcfr")
    table4 = numbers["table4"]
    measured = {name: counts(spec) for name, spec in numbers["games"].items()}
    rows = []
    for name, found in measured.items():
        same = found == table4[name]
        rows.append([name, *(f"{a:,} / {b:,}" for a, b in zip(table4[name], found, strict=True)), "yes" if same else "**no**"])
    equal = sum(found == table4[name] for name, found in measured.items())
    return Result(
        source=f"{numbers['source']}; {table4['source']}",
        findings=[f"{equal} of {len(measured)} games agree in all five columns."],
        tables=[Table("Published / measured", ["game", *COLUMNS, "equal"], rows)],
        notes=[
            "Depth counts nodes on the longest path, chance nodes included. The paper counts actions, one fewer.",
            "The two no-limit hold'em subgames of the table are in the section on hold'em.",
            *(f"{name} is `{spec}`." for name, spec in numbers["games"].items() if name != spec),
        ],
        numbers={"columns": COLUMNS, "measured": measured},
    )
