"""Rows that say what an episode paid, in place of what its searches found (Brown et al. 2020, section 5.2, last paragraph)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints, Singles


class SubgamePath(NamedTuple):
    """The path of an episode through a subgame.

    Attributes:
        leaf: the number of the leaf that was met; None where the game ended.
        hands: those of both players there.
        payoff: of player 0, in the game's units, where the game ended.
        explored: whether a player left the policy.
    """

    leaf: int | None
    hands: tuple[int, int]
    payoff: float = 0.0
    explored: bool = False


class RewardRows:
    """The subgames of each episode since somebody last left the policy, waiting for what the episode pays.

    A row's target is the payoff, for the hands that both players held; for all other hands it is NaN, which says nothing. Over
    the draws of hands, iterations and actions its mean is the value of the average policy. Rows before an exploring action are
    dropped, as what follows it is not the policy's; hands are then drawn anew from the beliefs.

    Attributes:
        hands: for each episode those that are kept from a subgame to the next; None where they are to be drawn.
        waiting: for each episode inputs [inputs], and the columns of the players' hands.
    """

    def __init__(self, episodes: int, inputs: int, outputs: int) -> None:
        self.outputs = outputs
        self.hands: list[tuple[int, int] | None] = [None] * episodes
        self.waiting: list[list[tuple[Singles, Ints]]] = [[] for _ in range(episodes)]
        self._inputs: list[Singles] = [np.zeros((0, inputs), np.float32)]
        self._targets: list[Singles] = [np.zeros((0, outputs), np.float32)]

    def follow(self, episode: int, inputs: Singles, columns: Ints, walk: SubgamePath) -> None:
        """Note a subgame that an episode has gone through, and pay where the game ended.

        Args:
            episode: its number.
            inputs: of the network at the subgame's root, [inputs].
            columns: of its outputs, where the hands are that the players held there, int64 [2].
            walk: how it went on.
        """
        if walk.explored:
            self.forget(episode)
        else:
            self.waiting[episode].append((inputs.copy(), columns))
            self.hands[episode] = walk.hands
        if walk.leaf is None:
            for row, held in self.waiting[episode]:
                target = np.full((1, self.outputs), np.nan, np.float32)
                target[0, held] = walk.payoff, -walk.payoff
                self._inputs.append(row[None])
                self._targets.append(target)
            self.forget(episode)

    def forget(self, episode: int) -> None:
        """Drop what waits, and the hands."""
        self.waiting[episode], self.hands[episode] = [], None

    def taken(self) -> tuple[Singles, Singles]:
        """The rows paid since this was last called, inputs and targets."""
        rows = np.concatenate(self._inputs), np.concatenate(self._targets)
        self._inputs, self._targets = [rows[0][:0]], [rows[1][:0]]
        return rows

    def state(self) -> dict[str, NDArray[Any]]:
        """The pending rows, as arrays."""
        kept = [(owner, row, held) for owner, rows in enumerate(self.waiting) for row, held in rows]
        return {
            "held": np.array([hands or (-1, -1) for hands in self.hands], np.int64),
            "waiting.owners": np.array([owner for owner, _, _ in kept], np.int64),
            "waiting.inputs": np.concatenate([self._inputs[0][:0], *(row[None] for _, row, _ in kept)]),
            "waiting.columns": np.array([held for _, _, held in kept], np.int64).reshape(-1, 2),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put all back where :meth:`state` found it.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        held = arrays["held"]
        if held.shape != (len(self.hands), 2):
            raise ValueError(f"hands of {len(held)} episodes, not {len(self.hands)}")
        self.hands = [None if first < 0 else (int(first), int(second)) for first, second in held]
        self.waiting = [[] for _ in self.hands]
        kept = arrays["waiting.owners"], arrays["waiting.inputs"], arrays["waiting.columns"]
        for owner, row, columns in zip(*kept, strict=True):
            self.waiting[int(owner)].append((row, columns))
