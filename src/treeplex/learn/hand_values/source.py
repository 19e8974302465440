"""Training data of a hand network: situations with the values of their hands."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np

from treeplex.base.arrays import Singles
from treeplex.errors import SpecError
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.holdem.search.leaves.hand_values import Function, HandValues
from treeplex.holdem.search.leaves.street_end_values import StreetEndValues
from treeplex.learn.common.device import torch_device
from treeplex.learn.common.situations import SituationSource
from treeplex.learn.hand_values.drawing import TURNS, Drawing, batches_of
from treeplex.learn.hand_values.inference import hand_function
from treeplex.learn.hand_values.labelled import Labelled, read_labelled
from treeplex.learn.hand_values.net import HandNet, hand_loss
from treeplex.learn.hand_values.settings import END, MIXED, NETWORK, RANDOM, SOLVES, STREETS, HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.situations import (
    POT,
    SURE,
    Drawn,
    Situation,
    draw,
    from_play,
    iterations_at,
    played,
    situation,
    spot_of,
)
from treeplex.learn.hand_values.street_ends import end_situations
from treeplex.learn.torch.spots.batch import solve_batch
from treeplex.search.leaf import LeafValue


class HandSource(SituationSource):
    """Source whose rows are single hands; values are therefore made zero-sum only when the network is used, not in training.

    Attributes:
        net: the network.
        next_street: with ``at=end``, the network for the start of the next street; otherwise None.
        leaves: leaf values of a solve and of its result if situations are not solved to the end, otherwise None.
        labelled: solved situations from a file, which are used in order; None to solve new ones.
        drawing: draws situations for a GPU; None on the CPU.
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
        self.device = torch_device(settings.device)
        self.labelled = None if settings.labels in (SOLVES, NETWORK) else labelled_for(settings)
        if self.device is not None and (settings.street == "flop" or settings.labels == NETWORK):
            raise SpecError("a GPU solves turns and rivers; use device=cpu for this training")
        if settings.ranges != RANDOM and (settings.street != "turn" or settings.labels == NETWORK):
            raise SpecError(f"ranges={settings.ranges} has turns solved to the end; use street=turn and labels=solves")
        if settings.cards != HOLDEM and (settings.ranges != RANDOM or settings.labels != SOLVES):
            raise SpecError(f"format={settings.format} needs labels=solves and ranges=random; networks and files have 52 cards")
        self.drawing: Drawing | None = None
        self.next_street = next_street_function(settings) if settings.at == END else None
        if self.next_street is not None:
            self.side, self.together = settings.per_board, self.together * settings.per_board
        elif self.labelled is not None:
            self.side = 1
        elif self.device is None:
            self.side = {RANDOM: 1, MIXED: 2 * TURNS}.get(settings.ranges, TURNS)
        else:
            self.side, self.drawing = settings.together, Drawing(settings)
            finalize(self, self.drawing.close)
        shape = {"width": settings.width, "layers": settings.layers, "seed": settings.seed}
        self.net = HandNet(settings.street, settings.format, at=settings.at, **shape)
        self.networks, self.leaves = [self.net.net], None if settings.at == END else leaves_of(settings)

    def rows(self, stage: int, count: int, generator: np.random.Generator) -> Sequence[Singles]:
        """Rows of ``count`` situations."""
        rows = [self.sampled(situation, generator) for situation in self.situations(count, generator)]
        return [np.concatenate(part) for part in zip(*rows, strict=True)]

    def situations(self, count: int, generator: np.random.Generator) -> list[Situation]:
        """Situations from the file in order or, without a file, new ones: a GPU solves them side by side, the CPU one by one.

        Args:
            count: how many.
            generator: random generator of the CPU's situations; a GPU's depend on the seed and :attr:`before` alone.
        """
        if self.next_street is not None:
            return end_situations(self.settings, count, generator, self.next_street)
        if self.labelled is not None:
            return [self.labelled.situation((self.before + k) % len(self.labelled)) for k in range(count)]
        if self.drawing is None:
            turns = from_play(self.settings, count)
            solved = played(self.settings, turns, generator)
            return solved + [draw(self.settings, generator, self.leaves) for _ in range(count - turns)]
        left = self.settings.situations - self.before - count
        drawn = self.drawing.round(self.before, count, min(self.side, max(left, 0)))
        return [found for batch in batches_of(drawn) for found in self._solved(batch)]

    def _solved(self, batch: Sequence[Drawn]) -> list[Situation]:
        """Situations with the same betting tree and number of iterations, solved side by side."""
        settings, boards, reach = self.settings, [each.board for each in batch], np.stack([each.reach for each in batch])
        spots = [spot_of(board.cards, stack, settings, (ranges[0], ranges[1])) for board, stack, ranges in batch]
        values = solve_batch(spots, boards, reach, iterations_at(batch[0].stack, settings), self.device) / POT
        return [situation(*drawn, found) for drawn, found in zip(batch, values, strict=True)]

    def close(self) -> None:
        """Stop the worker processes."""
        if self.drawing is not None:
            self.drawing.close()

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


def labelled_for(settings: HandValueSettings) -> Labelled:
    """The file of solved situations named by ``labels``.

    Raises:
        SpecError: it is missing, of another street or other bet sizes, or has too few situations.
        FileError: it is damaged.
    """
    path = Path(settings.labels)
    if not path.is_file():
        raise SpecError(f"labels={settings.labels}: no such file of situations; use {SOLVES}, {NETWORK} or a file")
    found = read_labelled(path)
    if found.street != settings.street:
        raise SpecError(f"{path} has situations of the {found.street}; train on it with --set street={found.street}")
    for name in ("bets", "raises"):
        if found.solved[name] != getattr(settings, name):
            raise SpecError(
                f"{path} was solved with {name}={found.solved[name]}, not {getattr(settings, name)}; set {name} to the former"
            )
    if settings.situations > len(found):
        raise SpecError(
            f"{path} has {len(found):,} situations, but situations is {settings.situations:,}; lower it, since repeated ones "
            "would be used for both training and validation"
        )
    return found


def next_street_function(settings: HandValueSettings) -> Function:
    """The shipped network for the start of the next street, whose means over its cards are learned.

    Raises:
        SpecError: settings that do not go with ``at=end``.
    """
    if settings.street != "flop":
        raise SpecError("at=end is for flops; set street=flop")
    if settings.labels != NETWORK or settings.ranges != RANDOM or settings.cards != HOLDEM:
        raise SpecError("at=end needs labels=network, ranges=random and format=holdem")
    if settings.situations % settings.per_board:
        raise SpecError(f"situations={settings.situations} is no multiple of per_board={settings.per_board}; change one")
    return hand_function(shipped_hand_net("turn"))


def leaves_of(settings: HandValueSettings) -> tuple[LeafValue, HandValues] | None:
    """Leaf values for solving a street alone, and for the result; None if situations are solved to the end.

    Raises:
        SpecError: no street follows, or no network is shipped for this street.
    """
    if settings.labels != NETWORK:
        return None
    following = dict(pairwise(STREETS)).get(settings.street)
    if following is None:
        raise SpecError("labels=network needs a later street, but the river is the last; use labels=solves")
    values = HandValues(hand_function(shipped_hand_net(following)), every=2)
    if settings.street == "flop":
        return StreetEndValues(hand_function(shipped_hand_net("flop", END), at=END)), values
    return values, values
