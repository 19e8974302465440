"""``treeplex holdem``: commands for hold'em only. The general commands support hold'em too."""

from treeplex.run.cli.shared.commands import examples_of, group_of

PACKAGES = ("treeplex.holdem.cli", "treeplex.learn.cli.holdem")
HELP = f"""Hold'em: equities, charts, many boards, reviews, protocols. Spots and whole hands are solved, shown and played by
treeplex solve, show, compare, evaluate, train and play, as any other game.

\b
{examples_of(PACKAGES, "treeplex holdem")}
"""

group = group_of(PACKAGES, "holdem", HELP)
