"""Training data for DeepStack's networks: solved situations at the starts of rounds, beginning with the last round."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.games.public import PublicTree
from treeplex.learn.common.fitting import Arrays
from treeplex.learn.common.situations import SituationSource
from treeplex.learn.common.value_net import Module
from treeplex.learn.deepstack.files import FORM
from treeplex.learn.deepstack.leaf import DeepStackLeaf, RoundNets
from treeplex.learn.deepstack.settings import DeepStackSettings
from treeplex.learn.deepstack.situations import SearchedRanges, SituationMaker, Situations, no_situations
from treeplex.learn.deepstack.value_net import situation_loss
from treeplex.learn.rebel.files import save_net
from treeplex.search.leaf import NoLeaf
from treeplex.search.subgames.horizon import TO_THE_END, Horizon


class DeepStackSource(SituationSource):
    """Solves situations of the last round to the end of the game, and those of earlier rounds to the end of their round.

    Leaf values at the ends of rounds come from the next round's network, which is already trained.

    Attributes:
        nets: the networks of all rounds.
        leaf: leaf values from the networks.
    """

    parts = Situations._fields
    loss = staticmethod(situation_loss)

    def __init__(self, rules: PublicTree, settings: DeepStackSettings) -> None:
        """Start with untrained networks.

        Raises:
            SpecError: PyTorch is missing.
            GameError: no round starts with a deal, or the rules do not define features of public states.
        """
        self.rules, self.settings, self.side = rules, settings, settings.side
        self.nets = RoundNets(rules, unit=settings.unit, width=settings.width, layers=settings.layers, seed=settings.seed)
        self.leaf, self.empty = DeepStackLeaf(self.nets), no_situations(self.nets.encoding)
        self.networks: Sequence[Module] = self.nets.nets[::-1]

    def rows(self, stage: int, count: int, generator: np.random.Generator) -> Situations:
        """Training rows from a round's situations; those with zero reach are omitted."""
        number, method, starts = len(self.networks) - 1 - stage, self.settings.method, self.nets.starts
        leaf, horizon = (self.leaf, Horizon(rounds=1)) if stage else (NoLeaf(), TO_THE_END)
        maker = SituationMaker(self.rules, starts[number], leaf, horizon)
        searched = round(self.settings.searched * count)
        beliefs = maker.random(count - searched, generator)
        if searched:
            ranges = SearchedRanges(self.rules, starts[number - 1] if number else None, self.leaf)
            beliefs += ranges.beliefs(searched, method, generator)
        return maker.solved(beliefs, method, self.settings.iterations)

    def save(self, path: Path, *, game: str, identity: str, card: Mapping[str, Any]) -> None:
        """Write the networks."""
        settings = self.settings.to_json()
        save_net(path, self.nets.weights(), game=game, identity=identity, settings=settings, card=card, form=FORM)

    def weights(self) -> dict[str, NDArray[Any]]:
        """Weights of all rounds' networks."""
        return self.nets.weights()

    def load(self, arrays: Arrays) -> None:
        """Load the weights of all rounds' networks."""
        self.nets.load(arrays)
