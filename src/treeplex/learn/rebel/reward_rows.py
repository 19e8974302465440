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
        kept: probability that none of these decisions explores.
    """

    leaf: int | None
    hands: tuple[int, int]
    payoff: float = 0.0
    explored: bool = False
    kept: float = 1.0


class RewardRows:
    """Buffer of each episode's subgames since a player last explored, until the episode's payoff is known.

    A row's target is the payoff for the hands that both players held, and NaN (no target) for all others. In expectation over
    hands, iterations and actions, the target is the value of the average policy. Rows before an exploring action are dropped,
    since what follows is off-policy; hands are then resampled from the beliefs. More decisions make this likelier, so the other
    rows have weight ``1 / kept``, as a random number of copies with this mean; otherwise short games would count too much.

    Attributes:
        hands: each episode's hands, which persist from one subgame to the next; None to sample new ones.
        waiting: pending rows of each episode: inputs [inputs], the columns of the players' hands, and weights.
    """

    def __init__(self, episodes: int, inputs: int, outputs: int) -> None:
        self.outputs = outputs
        self.hands: list[tuple[int, int] | None] = [None] * episodes
        self.waiting: list[list[tuple[Singles, Ints, float]]] = [[] for _ in range(episodes)]
        self._inputs: list[Singles] = [np.zeros((0, inputs), np.float32)]
        self._targets: list[Singles] = [np.zeros((0, outputs), np.float32)]

    def follow(self, episode: int, inputs: Singles, columns: Ints, walk: SubgamePath, generator: np.random.Generator) -> None:
        """Add a subgame that an episode passed through; at the end of the game, set the targets of all its rows.

        Args:
            episode: its index.
            inputs: network inputs at the subgame's root, [inputs].
            columns: output columns of the players' hands there, int64 [2].
            walk: the path through the subgame.
            generator: random generator for the numbers of copies.
        """
        if walk.explored:
            self.forget(episode)
        else:
            rows = [*self.waiting[episode], (inputs.copy(), columns, 1.0)]
            self.waiting[episode] = [(row, held, weight / walk.kept) for row, held, weight in rows]
            self.hands[episode] = walk.hands
        if walk.leaf is None:
            for row, held, weight in self.waiting[episode]:
                copies = int(weight + generator.random()) if weight > 1.0 else 1
                target = np.full((1, self.outputs), np.nan, np.float32)
                target[0, held] = walk.payoff, -walk.payoff
                self._inputs += [row[None]] * copies
                self._targets += [target] * copies
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
        pending = [(owner, *row) for owner, rows in enumerate(self.waiting) for row in rows]
        return {
            "held": np.array([hands or (-1, -1) for hands in self.hands], np.int64),
            "waiting.owners": np.array([owner for owner, *_ in pending], np.int64),
            "waiting.inputs": np.concatenate([self._inputs[0][:0], *(row[None] for _, row, *_ in pending)]),
            "waiting.columns": np.array([held for *_, held, _ in pending], np.int64).reshape(-1, 2),
            "waiting.weights": np.array([weight for *_, weight in pending], np.float64),
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
        pending = (arrays[f"waiting.{name}"] for name in ("owners", "inputs", "columns", "weights"))
        for owner, row, columns, weight in zip(*pending, strict=True):
            self.waiting[int(owner)].append((row, columns, float(weight)))
