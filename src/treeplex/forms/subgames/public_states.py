"""Public states: a public node of public-tree rules, and which pairs of hands chance allows there."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.games.public import Chance, Decision, Leaf, PublicTree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PublicState:
    """A public node and what it says about pairs of hands.

    Attributes:
        node: the public node of the rules.
        weight: float64 [H0, H1], probability that chance deals the hands and shows what it has shown, up to a factor.
    """

    node: Hashable
    weight: Floats

    def successors(self, rules: PublicTree) -> "tuple[Decision | Chance | Leaf, tuple[PublicState, ...]]":
        """What happens here, and the public states after each action or chance outcome."""
        visited = rules.visit(self.node)
        if isinstance(visited, Leaf):
            return visited, ()
        if isinstance(visited, Chance):
            pairs = ((label, self.weight * probability) for label, probability in visited.outcomes)
        elif visited.private:
            pairs = ((action, spread(self.weight, visited)) for action in visited.actions[:1])
        else:
            pairs = ((action, self.weight) for action in visited.actions)
        return visited, tuple(PublicState(rules.child(self.node, label), weight) for label, weight in pairs)

    def after(self, rules: PublicTree, label: int) -> "PublicState":
        """The public state after an action or a chance outcome; of a private action, any of them.

        Raises:
            ValueError: there is none with this label.
        """
        visited, successors = self.successors(rules)
        if isinstance(visited, Leaf):
            raise ValueError(f"the game is over at {self.node!r}")
        labels = [outcome for outcome, _ in visited.outcomes] if isinstance(visited, Chance) else list(visited.actions)
        if label not in labels:
            raise ValueError(f"nothing with label {label!r} can happen at {self.node!r}")
        return successors[labels.index(label) if len(successors) > 1 else 0]


def spread(weight: Floats, decision: Decision) -> Floats:
    """Weights of hands after a private action: hand h with action number a becomes hand ``h * A + a``."""
    return np.repeat(weight, len(decision.actions), axis=decision.player)


def there(weight: Floats, player: int) -> NDArray[np.bool_]:
    """Which hands of a player chance allows, bool [H]."""
    return np.asarray((weight > 0).any(axis=1 - player))


def first_state(rules: PublicTree) -> PublicState:
    """The public state in which a game begins."""
    return PublicState(rules.root, np.asarray(rules.prior, np.float64))
