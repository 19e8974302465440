"""Training rows whose targets are the payoffs of episodes instead of search values (Brown et al. 2020, section 5.2, last
paragraph)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints, Singles


class SubgamePath(NamedTuple):
    """Path of an episode through a subgame.

    Attributes:
        leaf: index of the leaf reached; None at the end of the game.
        hands: both players' hands there.
        payoff: player 0's payoff at the end of the game, in the game's units.
        explored: whether a player explored.
    """

    leaf: int | None
    hands: tuple[int, int]
    payoff: float = 0.0
    explored: bool = False


class RewardRows:
    """Buffer of each episode's subgames since a player last explored, until the episode's payoff is known.

    A row's target is the payoff for the hands that both players held, and NaN (no target) for all others. In expectation over
    hands, iterations and actions, the target is the value of the average policy. Rows before an exploring action are dropped,
    since what follows is off-policy; hands are then resampled from the beliefs.

    Attributes:
        hands: each episode's hands, which persist from one subgame to the next; None to sample new ones.
        waiting: pending rows of each episode: inputs [inputs], and the columns of the players' hands.
    """

    def __init__(self, episodes: int, inputs: int, outputs: int) -> None:
        self.outputs = outputs
        self.hands: list[tuple[int, int] | None] = [None] * episodes
        self.waiting: list[list[tuple[Singles, Ints]]] = [[] for _ in range(episodes)]
        self._inputs: list[Singles] = [np.zeros((0, inputs), np.float32)]
        self._targets: list[Singles] = [np.zeros((0, outputs), np.float32)]

    def follow(self, episode: int, inputs: Singles, columns: Ints, walk: SubgamePath) -> None:
        """Add a subgame that an episode passed through; at the end of the game, set the targets of all its rows.

        Args:
            episode: its index.
            inputs: network inputs at the subgame's root, [inputs].
            columns: output columns of the players' hands there, int64 [2].
            walk: the path through the subgame.
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
        """Discard an episode's pending rows and hands."""
        self.waiting[episode], self.hands[episode] = [], None

    def taken(self) -> tuple[Singles, Singles]:
        """Take the rows completed since the last call: inputs and targets."""
        rows = np.concatenate(self._inputs), np.concatenate(self._targets)
        self._inputs, self._targets = [rows[0][:0]], [rows[1][:0]]
        return rows

    def state(self) -> dict[str, NDArray[Any]]:
        """The pending rows, as arrays."""
        pending = [(owner, row, held) for owner, rows in enumerate(self.waiting) for row, held in rows]
        return {
            "held": np.array([hands or (-1, -1) for hands in self.hands], np.int64),
            "waiting.owners": np.array([owner for owner, _, _ in pending], np.int64),
            "waiting.inputs": np.concatenate([self._inputs[0][:0], *(row[None] for _, row, _ in pending)]),
            "waiting.columns": np.array([held for _, _, held in pending], np.int64).reshape(-1, 2),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        held = arrays["held"]
        if held.shape != (len(self.hands), 2):
            raise ValueError(f"the state has hands of {len(held)} episodes, but this run has {len(self.hands)}")
        self.hands = [None if first < 0 else (int(first), int(second)) for first, second in held]
        self.waiting = [[] for _ in self.hands]
        pending = arrays["waiting.owners"], arrays["waiting.inputs"], arrays["waiting.columns"]
        for owner, row, columns in zip(*pending, strict=True):
            self.waiting[int(owner)].append((row, columns))
