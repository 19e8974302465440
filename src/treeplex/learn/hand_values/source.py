"""Training data of a hand network: solved random situations at the start of a street."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np

from treeplex.base.arrays import Floats, Singles
from treeplex.base.workers.executor import Executor, make_executor
from treeplex.errors import SpecError
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.holdem.search.leaves.hand_values import MOST_PARTS, HandBoard, HandValues
from treeplex.learn.common.device import torch_device
from treeplex.learn.common.situations import SituationSource
from treeplex.learn.hand_values.inference import hand_function
from treeplex.learn.hand_values.labelled import Labelled, read_labelled
from treeplex.learn.hand_values.net import HandNet, hand_loss
from treeplex.learn.hand_values.settings import NETWORK, PLAY, SOLVES, STREETS, HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.situations import (
    POT,
    SURE,
    Situation,
    draw,
    iterations_at,
    played,
    random_hand_board,
    random_ranges,
    random_stack,
    situation,
    spot_of,
)
from treeplex.learn.torch.spots.batch import solve_batch

TURNS = 6
"""Turns of self-play that follow one flop."""


class HandSource(SituationSource):
    """Source whose rows are single hands; values are therefore made zero-sum only when the network is used, not in training.

    Attributes:
        net: the network.
        leaf: leaf value for the next street if situations are not solved to the end, otherwise None.
        labelled: solved situations from a file, which are used in order; None to solve new ones.
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
        if settings.ranges == PLAY and (settings.street != "turn" or settings.labels == NETWORK or self.device is not None):
            raise SpecError("ranges=play are those of turns solved on the CPU; use street=turn, labels=solves and device=cpu")
        full = settings.cards == HOLDEM
        if not full and (settings.ranges == PLAY or settings.labels != SOLVES):
            raise SpecError(f"format={settings.format} needs labels=solves and ranges=random; networks and files have 52 cards")
        self.side = 1 if self.device is None or self.labelled is not None else settings.together
        if settings.ranges == PLAY and self.labelled is None:
            self.side = TURNS
        self._drawing: Executor | None = None
        self.net = HandNet(settings.street, settings.format, width=settings.width, layers=settings.layers, seed=settings.seed)
        self.networks, self.leaf = [self.net.net], leaf_of(settings)

    def rows(self, stage: int, count: int, generator: np.random.Generator) -> Sequence[Singles]:
        """Rows of ``count`` situations."""
        rows = [self.sampled(situation, generator) for situation in self.situations(count, generator)]
        return [np.concatenate(part) for part in zip(*rows, strict=True)]

    def situations(self, count: int, generator: np.random.Generator) -> list[Situation]:
        """Situations from the file in order or, without a file, new ones: a GPU solves them side by side, the CPU one by one.

        Args:
            count: how many; fewer may be returned with ``ranges=play``.
            generator: random generator.
        """
        if self.labelled is not None:
            return [self.labelled.situation((self.before + k) % len(self.labelled)) for k in range(count)]
        if self.settings.ranges == PLAY:
            return played(self.settings, count, generator)
        if self.device is None:
            return [draw(self.settings, generator, self.leaf) for _ in range(count)]
        return self._solved(count, generator)

    def _solved(self, count: int, generator: np.random.Generator) -> list[Situation]:
        """Situations with the same stack, drawn by worker processes and solved side by side."""
        settings, stack = self.settings, random_stack(self.settings, generator)
        if self._drawing is None:
            workers = settings.workers
            self._drawing = make_executor("inline" if workers == 1 else "processes", workers)
            finalize(self, self._drawing.close)
        jobs = ((settings, int(seed)) for seed in generator.integers(2**62, size=count))
        drawn = list(self._drawing.map(drawn_ranges, jobs))
        boards, reach = [board for board, _ in drawn], np.stack([ranges for _, ranges in drawn])
        spot = spot_of(boards[0].cards, stack, settings, (reach[0, 0], reach[0, 1]))
        values = solve_batch(spot, boards, reach, iterations_at(stack, settings), self.device) / POT
        return [situation(board, stack, *pair) for board, *pair in zip(boards, reach, values, strict=True)]

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


def drawn_ranges(settings: HandValueSettings, seed: int) -> tuple[HandBoard, Floats]:
    """A random board and ranges, float64 [2, H]."""
    generator = np.random.default_rng(seed)
    return random_ranges(random_hand_board(settings, generator), settings, generator)


def labelled_for(settings: HandValueSettings) -> Labelled:
    """The file of solved situations named by ``labels``.

    Raises:
        SpecError: it is missing, or of another street.
        FileError: it is damaged.
    """
    path = Path(settings.labels)
    if not path.is_file():
        raise SpecError(f"labels={settings.labels}: no such file of situations; use {SOLVES}, {NETWORK} or a file")
    found = read_labelled(path)
    if found.street != settings.street:
        raise SpecError(f"{path} has situations of the {found.street}; train on it with --set street={found.street}")
    return found


def leaf_of(settings: HandValueSettings) -> HandValues | None:
    """The shipped network's leaf value for the next street; None if situations are solved to the end.

    Raises:
        SpecError: no street follows, or no network is shipped for this street.
    """
    if settings.labels != NETWORK:
        return None
    following = dict(pairwise(STREETS)).get(settings.street)
    if following is None:
        raise SpecError("labels=network needs a later street, but the river is the last; use labels=solves")
    function = hand_function(shipped_hand_net(following))
    return HandValues(function, every=1, parts=MOST_PARTS) if following == "turn" else HandValues(function, every=2)
