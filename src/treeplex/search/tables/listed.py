"""The actions listed for a person: all of them, or a selection if there are many bets."""

import numpy as np

from treeplex.games.public import PublicGame, State

MOST_OPTIONS = 60
"""Maximum number of listed actions; if there are more, a selection of bets is listed, and others can be typed."""
SIZES = (0.0, 0.33, 0.5, 0.75, 1.0, 1.5, np.inf)
"""Bets of this selection, as shares of the pot; the available bet closest to each is listed."""


def listed(
    options: dict[int, str], current: tuple[PublicGame, State] | None, also: int | None = None, *, most: int = MOST_OPTIONS
) -> dict[int, str]:
    """Select the options to list: all of them, or evenly spread bets if there are many.

    Args:
        options: names of the options by label.
        current: the game and its current state; None if unknown.
        also: a label that is always listed.
        most: number of options above which some are omitted.

    Returns:
        The selected options by label, in order.
    """
    if len(options) <= most:
        return options
    labels = list(options)
    few, bets = labels[:2], None if current is None else current[0].bets(current[1])
    if bets is not None:
        sizes = {label: size for label, size, kind in zip(labels, bets.sizes, bets.kinds, strict=True) if kind == "bet"}
        few = [label for label, kind in zip(labels, bets.kinds, strict=True) if kind != "bet"]
        for wanted in SIZES:
            few.append(min(sizes, key=lambda label: (abs(min(sizes[label], 1e9) - min(wanted, 1e9)), label)))
    labels_shown = sorted({*few, labels[-1], *(() if also is None else (also,))})
    return {label: options[label] for label in labels_shown}
