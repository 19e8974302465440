"""Action selection in Monte Carlo CFR walks: by the policy, by average strategy, by subsets or by quantiles."""

import math

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.histories.form import CHANCE
from treeplex.engine.kernel import INLINED, NO_COUNTS, kernel
from treeplex.engine.sampling.sampled_tables import AVERAGE, POLICY
from treeplex.engine.sampling.schemes import ALL, EACH, ONE, SchemeCodes
from treeplex.engine.sampling.streams import advanced, unit

SECTION = (math.sqrt(5.0) - 1.0) / 2.0
"""Step of the Weyl sequence of a chance node, modulo 1."""


@kernel(**NO_COUNTS)
def probability_of(chance: Floats, rows: Floats, actor: int, slot: int) -> float:
    """Return the probability that chance or a player takes the action stored in a slot."""
    return float(chance[slot] if actor == CHANCE else rows[slot, POLICY])


@kernel(**NO_COUNTS)
def next_quantile(quantiles: Floats, player: int, key: int) -> float:
    """Return a chance node's next number in [0, 1); golden-ratio steps spread consecutive visits evenly."""
    number = quantiles[player, key] + SECTION
    if number >= 1.0:
        number -= 1.0
    quantiles[player, key] = number
    return float(number)


@kernel(**NO_COUNTS)
def picked(chance: Floats, rows: Floats, actor: int, key: int, children: int, number: float) -> tuple[int, float]:
    """Return the action that a number in [0, 1) selects under chance's or the actor's policy, and its probability."""
    cumulative = probability = 0.0
    last = children - 1
    for a in range(children):
        probability = probability_of(chance, rows, actor, key + a)
        cumulative += probability
        if number < cumulative:
            return a, probability
    return last, probability


@kernel(**INLINED)
def choose(
    chance: Floats,
    rules: SchemeCodes,
    rows: Floats,
    actor: int,
    player: int,
    key: int,
    children: int,
    stream: np.uint64,
    chosen: Floats,
) -> np.uint64:
    """Write the probability of following each action, 0 for actions that this walk does not follow."""
    acts = actor == player
    rule = ONE if actor == CHANCE else rules.own if acts else rules.others
    if rule == ALL:
        for a in range(children):
            chosen[a] = 1.0 if acts or rows[key + a, POLICY] > 0.0 else 0.0
    elif rule == ONE:
        stream = advanced(stream)
        number, cumulative, taken = unit(stream), 0.0, -1
        for a in range(children):
            probability = probability_of(chance, rows, actor, key + a)
            if acts:
                probability = rules.exploration / children + (1.0 - rules.exploration) * probability
            cumulative += probability
            chosen[a] = 0.0
            if taken < 0 and (number < cumulative or a == children - 1):
                taken, chosen[a] = a, probability
    elif rule == EACH:
        total = 0.0
        for a in range(children):
            total += rows[key + a, AVERAGE]
        for a in range(children):
            known = rules.bonus + total
            share = (rules.bonus + rules.scale * rows[key + a, AVERAGE]) / known if known > 0.0 else 1.0
            probability = min(1.0, max(rules.least, share))
            stream = advanced(stream)
            chosen[a] = probability if unit(stream) < probability else 0.0
    else:
        wanted = min(rules.size, children)
        probability = wanted / children
        for a in range(children):
            stream = advanced(stream)
            if unit(stream) * (children - a) < wanted:
                chosen[a] = probability
                wanted -= 1
            else:
                chosen[a] = 0.0
    return stream
