"""``treeplex holdem``: solve spots and read them, one or on many flops; train, search and play on turns; limit hold'em."""

from treeplex.holdem.cli import limit
from treeplex.run.cli.shared.commands import examples_of, group_of

PACKAGES = ("treeplex.holdem.cli", "treeplex.learn.cli.holdem")
HELP = f"""Solve heads-up hold'em spots.

\b
  treeplex holdem solve --board "Td 9d 6h Qc 2s" --oop "66+,AJs+" --ip "QQ-22,ATs+" --pot 200 --stack 900 --out river.spot
{examples_of(PACKAGES, "treeplex holdem")}
"""

group = group_of(PACKAGES, "holdem", HELP)
group.add_typer(group_of((limit.__name__,), "limit", limit.HELP), short_help="Limit hold'em with bucketed cards.")
