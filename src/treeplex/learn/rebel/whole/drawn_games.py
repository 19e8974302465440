"""Full-game hold'em with random stacks and bet sizes (Brown et al. 2020, appendix C.1)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from treeplex.games.base import CHANCE
from treeplex.games.betting.size_grammar import Size
from treeplex.holdem.betting.bet_plan import StreetSizes
from treeplex.holdem.betting.rules import BettingState
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.rebel.settings import WholeSelfPlaySettings


def closed_table(game: PublicHoldem, paid: tuple[int, int], street: int) -> BettingState:
    """A betting state at the end of a street, after players have put in ``paid``; later streets depend only on that."""
    first = game.rules.betting.root
    return first._replace(
        player=CHANCE,
        street=street,
        paid=paid,
        waiting=(False, False),
        faced=max(paid),
        line="",
    )


def sizes_of(game: PublicHoldem) -> list[float]:
    """Values of the betting plan's sizes, in the order of :func:`drawn_sizes`."""
    return [size.value for size in drawn_sizes(game)]


def drawn_sizes(game: PublicHoldem) -> list[Size]:
    """All sizes of the betting plan except ``any``, street by street; sizes shared by both players are listed once."""
    plan = game.rules.betting.plan
    return [
        size
        for street in range(len(plan.streets))
        for sizes in plan.raise_lists(street)
        for size in sizes
        if size.kind != "any"
    ]


def changed_game(game: PublicHoldem, stacks: tuple[int, ...], sizes: Sequence[float]) -> PublicHoldem:
    """The game with the given stacks, in chips after antes, and size values in the order of :func:`sizes_of`."""
    rules, left = game.rules, iter(sizes)
    plan, streets = rules.betting.plan, list[tuple[StreetSizes, StreetSizes]]()
    for street in range(len(plan.streets)):
        lists = [
            StreetSizes.of(tuple(size if size.kind == "any" else replace(size, value=next(left)) for size in raises))
            for raises in plan.raise_lists(street)
        ]
        streets.append((lists[0], lists[-1]))
    whole = tuple(stack + ante for stack, ante in zip(stacks, rules.antes, strict=True))
    changed = copy(game)
    betting = replace(rules.betting, stacks=whole, plan=replace(plan, streets=tuple(streets)))
    changed.rules = replace(rules, betting=betting)
    return changed


def drawn_game(game: PublicHoldem, settings: WholeSelfPlaySettings, generator: np.random.Generator) -> PublicHoldem:
    """Sample a game with random stacks and bet sizes.

    If ``settings.stacks`` is given, both players have the same stack, drawn log-uniformly from it. Each pot-fraction size
    changes by a uniform amount of up to ``perturbed`` and is at least 0.05.
    """
    stacks, sizes = game.rules.stacks, sizes_of(game)
    if settings.stacks is not None:
        low, high = np.log(settings.stacks)
        stacks = (round(float(np.exp(generator.uniform(low, high)))),) * 2
    if settings.perturbed:
        kinds = [size.kind for size in drawn_sizes(game)]
        moves = generator.uniform(-settings.perturbed, settings.perturbed, len(sizes))
        sizes = [
            max(value + move, 0.05) if kind == "pot" else value for value, kind, move in zip(sizes, kinds, moves, strict=True)
        ]
    return changed_game(game, stacks, sizes)
