"""Training data of a hand network: solved random situations at the start of a street."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.base.arrays import Singles
from treeplex.errors import SpecError
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.holdem.search.leaves.hand_values import HandValues
from treeplex.learn.common.situations import SituationSource
from treeplex.learn.hand_values.net import HandNet, hand_loss, read_hand_net
from treeplex.learn.hand_values.settings import SOLVES, STREETS, HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.situations import SURE, Situation, draw


class HandSource(SituationSource):
    """Source whose rows are single hands; values are therefore made zero-sum only when the network is used, not in training.

    Attributes:
        net: the network.
        leaf: leaf value for the next street if situations are not solved to the end, otherwise None.
    """

    parts = ("inputs", "targets")
    loss = staticmethod(hand_loss)
    empty = np.zeros((0, INPUTS), np.float32), np.zeros((0, 1), np.float32)

    def __init__(self, settings: HandValueSettings) -> None:
        """Start with an untrained network.

        Raises:
            SpecError: PyTorch is missing, or ``labels`` requires a network that is not shipped.
        """
        self.settings, self.together = settings, 2 * settings.sampled
        self.net = HandNet(settings.street, width=settings.width, layers=settings.layers, seed=settings.seed)
        self.networks, self.leaf = [self.net.net], leaf_of(settings)

    def rows(self, stage: int, count: int, generator: np.random.Generator) -> Sequence[Singles]:
        """Rows of one situation; ``count`` must be 1, the value of :attr:`side`."""
        return self.sampled(draw(self.settings, generator, self.leaf), generator)

    def sampled(self, situation: Situation, generator: np.random.Generator) -> Sequence[Singles]:
        """Rows of sampled hands of both players: half sampled uniformly, half from the range.

        Returns:
            Network inputs, float32 [2 * sampled, INPUTS], and values relative to the showdown value, [2 * sampled, 1].
        """
        inputs, targets, count = [], [], self.settings.sampled
        for player in (0, 1):
            known = np.flatnonzero((situation.mass[player] > SURE) & (situation.reach[player, situation.board.held] > 0))
            weights = situation.weights[player][known]
            evenly = generator.choice(known, count - count // 2)
            by_range = generator.choice(known, count // 2, p=weights / weights.sum())
            chosen = np.concatenate([evenly, by_range])
            inputs.append(situation.rows(player)[chosen])
            over = situation.worth[player] - (situation.equity[player] - 0.5)
            targets.append(over[chosen, None].astype(np.float32))
        return np.concatenate(inputs), np.concatenate(targets)

    def save(self, path: Path, *, game: str, identity: str, card: Mapping[str, Any]) -> None:
        """Write the network."""
        self.net.save(path, settings=self.settings.to_json(), card=card)


def leaf_of(settings: HandValueSettings) -> HandValues | None:
    """The shipped network's leaf value for the next street; None if situations are solved to the end.

    Raises:
        SpecError: no street follows, or no network is shipped for this street.
    """
    if settings.labels == SOLVES:
        return None
    following = dict(pairwise(STREETS)).get(settings.street)
    if following is None:
        raise SpecError("labels=network needs a later street, but the river is the last; use labels=solves")
    return read_hand_net(shipped_hand_net(following)).leaf(step=2 if following == "turn" else 1, every=2)
