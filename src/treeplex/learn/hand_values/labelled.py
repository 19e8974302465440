"""Files of solved situations, on which networks for hands can be trained again and again::

    python -m treeplex.learn.hand_values.label FILE street=turn device=cuda workers=11 situations=3000

solves situations with settings of the learner ``hand-values`` and adds them to a file, which ``labels=FILE`` trains on.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bytes, Floats
from treeplex.base.storage.tensors import TensorFile, tensor, write_tensors
from treeplex.errors import FileError
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.search.leaves.hand_values import HandBoard, hands_on
from treeplex.learn.hand_values.settings import STREETS, HandValueSettings
from treeplex.learn.hand_values.situations import Situation

FORMAT, VERSION = "treeplex solved situations", 2
PARTS = ("cards", "stacks", "reach", "worth")
"""Names of the arrays in a file, as in :class:`Labelled`."""
SOLVED = ("bets", "raises", "iterations")
"""Settings that determine the values of a situation; all situations of a file have the same."""
Halves = NDArray[np.float16]


@dataclass(frozen=True, eq=False)
class Labelled:
    """S solved situations on boards of one street, with all n hands that such a board allows.

    Attributes:
        cards: uint8 [S, cards], the boards.
        stacks: float64 [S], chips behind, in pots.
        reach: float16 [S, 2, n], both ranges, each with largest weight 1.
        worth: float16 [S, 2, n], hand values relative to half of the pot, in pots.
        solved: the settings of the solves, as in :data:`SOLVED`.
    """

    cards: Bytes
    stacks: Floats
    reach: Halves
    worth: Halves
    solved: Mapping[str, str]

    @property
    def street(self) -> str:
        """The street at whose start the situations are."""
        return STREETS[self.cards.shape[1] - 3]

    def __len__(self) -> int:
        return len(self.cards)

    @classmethod
    def of(cls, situations: list[Situation], settings: HandValueSettings) -> "Labelled":
        """Collect situations solved with some settings; hands that they leave out have reach and value 0."""
        every = [hands_on(HOLDEM, each.board.cards) for each in situations]
        reach = np.stack([each.reach[:, held] for each, held in zip(situations, every, strict=True)])
        worth = np.zeros_like(reach)
        for row, each, held in zip(worth, situations, every, strict=True):
            row[:, np.isin(held, each.board.held)] = each.worth
        return cls(
            np.array([each.board.cards for each in situations], np.uint8),
            np.array([each.stack for each in situations]),
            (reach / reach.max(axis=2, keepdims=True)).astype(np.float16),
            worth.astype(np.float16),
            solved_with(settings),
        )

    def __add__(self, other: "Labelled") -> "Labelled":
        pairs = ((getattr(self, name), getattr(other, name)) for name in PARTS)
        cards, stacks, reach, worth = map(np.concatenate, pairs)
        return Labelled(cards, stacks, reach, worth, self.solved)

    def situation(self, number: int) -> Situation:
        """One situation."""
        cards = tuple(int(card) for card in self.cards[number])
        held, reach = hands_on(HOLDEM, cards), np.zeros((2, len(HOLDEM.hands)))
        reach[:, held] = self.reach[number]
        board = HandBoard.of(HOLDEM, cards, np.asarray(reach.any(axis=0)))
        reach /= reach.sum(axis=1, keepdims=True)
        mass, equity = board.equities(reach)
        worth = self.worth[number][:, np.isin(held, board.held)]
        return Situation(board, float(self.stacks[number]), reach, mass, equity, worth.astype(np.float64))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the situations to a file.

        Raises:
            FileError: it cannot be written.
        """
        arrays = {name: tensor(getattr(self, name)) for name in PARTS}
        write_tensors(path, {"format": FORMAT, "version": str(VERSION), **self.solved}, arrays)


def solved_with(settings: HandValueSettings) -> Mapping[str, str]:
    """The settings in :data:`SOLVED`, as text."""
    return {name: str(getattr(settings, name)) for name in SOLVED}


def read_labelled(path: str | os.PathLike[str]) -> Labelled:
    """Read a file of solved situations.

    Raises:
        FileError: missing, damaged, or a file of another kind.
    """
    with TensorFile(path, FORMAT, VERSION) as file:
        cards, stacks = file.read("cards", "U8"), file.read("stacks", "F64")
        reach, worth = (file.read(name, "F16") for name in ("reach", "worth"))
        solved = {name: file.about[name] for name in SOLVED if name in file.about}
    known = cards.ndim == 2 and len(cards) and cards.shape[1] in (3, 4, 5) and stacks.shape == cards.shape[:1]
    if (
        not known
        or len(solved) < len(SOLVED)
        or not reach.shape == worth.shape == (len(cards), 2, comb(52 - cards.shape[1], 2))
    ):
        raise FileError(f"{path} holds no solved situations of one street; write it again")
    return Labelled(cards, stacks, reach, worth, solved)
