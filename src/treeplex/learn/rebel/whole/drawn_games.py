"""Hands of whole hold'em with stacks and sizes of their own (Brown et al. 2020, appendix C.1)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from treeplex.games.base import CHANCE
from treeplex.holdem.whole.betting import WholeBetting
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.rebel.settings import WholeSelfPlaySettings


def closed_table(game: PublicHoldem, paid: tuple[int, int], street: int) -> WholeBetting:
    """A table after a street at whose end both players had paid so much; nothing else of the betting matters later."""
    first = game.rules.first_table
    return first._replace(
        player=CHANCE,
        street=street,
        paid=paid,
        waiting=(False, False),
        faced=max(paid),
        line="",
    )


def sizes_of(game: PublicHoldem) -> list[float]:
    """The numbers of all sizes of the plan."""
    return [size.value for own in game.rules.plan.lists() for size in own or ()]


def changed_game(game: PublicHoldem, stacks: tuple[int, ...], sizes: Sequence[float]) -> PublicHoldem:
    """The game with other stacks after antes, and other numbers of sizes."""
    rules, left = game.rules, iter(sizes)
    streets = tuple(
        tuple(None if own is None else tuple(replace(size, value=next(left)) for size in own) for own in street)
        for street in rules.plan.sizes
    )
    whole = tuple(stack + ante for stack, ante in zip(stacks, rules.antes, strict=True))
    found = copy(game)
    found.rules = replace(rules, betting=replace(rules.betting, stacks=whole), plan=replace(rules.plan, sizes=streets))
    return found


def drawn_game(game: PublicHoldem, settings: WholeSelfPlaySettings, generator: np.random.Generator) -> PublicHoldem:
    """The game with stacks and sizes drawn anew.

    Both players have the same stack, its logarithm uniform. Sizes in parts of the pot are moved by up to ``perturbed`` of it.
    """
    stacks, sizes = game.rules.stacks, sizes_of(game)
    if settings.stacks is not None:
        low, high = np.log(settings.stacks)
        stacks = (round(float(np.exp(generator.uniform(low, high)))),) * 2
    if settings.perturbed:
        kinds = [size.kind for own in game.rules.plan.lists() for size in own or ()]
        moves = generator.uniform(-settings.perturbed, settings.perturbed, len(sizes))
        sizes = [
            max(value + move, 0.05) if kind == "pot" else value for value, kind, move in zip(sizes, kinds, moves, strict=True)
        ]
    return changed_game(game, stacks, sizes)
