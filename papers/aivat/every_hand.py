"""All hands that two policies can play, with their probabilities; matches only sample them."""

from collections.abc import Iterator, Sequence

import numpy as np

from treeplex import Policy
from treeplex.games import CHANCE, TERMINAL, PublicTree
from treeplex.games.public import PublicState
from treeplex.search import HandEvent, PlayedHand
from treeplex.search.subgames.policy_tables import table_at


def every_hand(rules: PublicTree, policies: Sequence[Policy]) -> Iterator[tuple[float, PlayedHand]]:
    """All hands of a game without private actions, with the policy of each seat; probabilities sum to one."""
    for first, second in np.argwhere(rules.prior > 0).tolist():
        dealt = (first, second)
        yield from after(rules, policies, rules.first_state(), dealt, float(rules.prior[dealt]), ())


def after(
    rules: PublicTree,
    policies: Sequence[Policy],
    state: PublicState,
    dealt: tuple[int, int],
    probability: float,
    steps: tuple[HandEvent, ...],
) -> Iterator[tuple[float, PlayedHand]]:
    """The hands that continue from a public state."""
    options = rules.options(state)
    if options.player == TERMINAL:
        yield probability, PlayedHand(dealt, steps, rules.payoffs(state, dealt))
        return
    policy = None if options.player == CHANCE else table_at(policies[options.player], rules, state)
    chances = rules.chances(state, dealt) if policy is None else policy[:, dealt[options.player]]
    for number, (chance, label) in enumerate(zip(chances.tolist(), options.labels, strict=True)):
        if chance > 0:
            here = (*steps, HandEvent(number, policy))
            yield from after(rules, policies, rules.after(state, label), dealt, probability * chance, here)
