"""The actions that are listed for a person: all, or some of very many bets."""

import numpy as np

from treeplex.games.public import PublicGame, State

MOST_OPTIONS = 60
"""Actions that are listed; of more, which are bets of all sizes, some are, and the rest can be typed."""
SIZES = (0.0, 0.33, 0.5, 0.75, 1.0, 1.5, np.inf)
"""Bets that are listed then, the closest to each, in parts of the pot."""


def listed(
    options: dict[int, str], place: tuple[PublicGame, State] | None, also: int | None = None, *, most: int = MOST_OPTIONS
) -> dict[int, str]:
    """The options that are listed: all, or of very many some bets, spread over them.

    Args:
        options: names by label.
        place: the game and where it stands, where that is known.
        also: a label that is listed whatever happens.
        most: how many are listed before some are left out.
    """
    if len(options) <= most:
        return options
    labels = list(options)
    few, bets = labels[:2], None if place is None else place[0].bets(place[1])
    if bets is not None:
        sizes = {label: size for label, size, kind in zip(labels, bets.sizes, bets.kinds, strict=True) if kind == "bet"}
        few = [label for label, kind in zip(labels, bets.kinds, strict=True) if kind != "bet"]
        for wanted in SIZES:
            few.append(min(sizes, key=lambda label: (abs(min(sizes[label], 1e9) - min(wanted, 1e9)), label)))
    kept = sorted({*few, labels[-1], *(() if also is None else (also,))})
    return {label: options[label] for label in kept}
