"""A best response in a table: what each action is worth, from plays in which every own action is tried.

At each decision all actions of the learner's are played on (one, with ``branching=False``), each against moves of the others
drawn anew. What came of an action moves its estimate; the decision is worth what came of the action that looked best before:

    Q(I, a) <- Q(I, a) + n(I, a)^-w (v(a) - Q(I, a)),    v = v(argmax Q(I, .)).

Others and chance come to an infoset as often as they would by themselves, so v(a) estimates what a is worth there, whatever the
learner did before; the better the choices below, the closer Q comes to the best response's values (Monte Carlo control: Sutton
and Barto 2018, section 5.6, with all own actions tried as in external sampling, Lanctot et al. 2009). With one action tried,
where that was not the one that looks best, the decision counts as what the table says of the best (Watkins 1989).
"""

import itertools
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.sampling.streams import Stream
from treeplex.forms.policies.sparse import Infosets, TablePolicy
from treeplex.learn.best_response.positions import Position, World

SLOWING = 0.8
"""w: how fast estimates stop moving; below 1, for what was learned early came from worse choices."""


class TabularResponse:
    """Learns what each action of each infoset met is worth.

    Attributes:
        world: the game and the fixed agent.
        infosets: of each player, in the order in which they were met.
        values, counts: float64 and int64 [S] of each player: estimates, and how often each was moved.
    """

    def __init__(self, world: World, seed: int, *, branching: bool = True) -> None:
        """Know nothing.

        Args:
            world: the game and the fixed agent.
            seed: of all plays.
            branching: whether all own actions are tried at each decision, which costs their product along a play.
        """
        self.world, self.seed, self.branching = world, seed, branching
        self.infosets = [Infosets() for _ in range(world.players)]
        self.values = [array("d") for _ in range(world.players)]
        self.counts = [array("q") for _ in range(world.players)]

    def learn(self, episode: int, exploration: float) -> None:
        """Play once in each seat.

        Args:
            episode: its number, which decides all draws.
            exploration: without branching, the share of actions that are drawn at random.
        """
        for seat in range(self.world.players):
            stream = Stream(self.seed, episode, seat)
            self._played(self.world.begin(seat, stream), seat, exploration, stream)

    def _played(self, position: Position, seat: int, exploration: float, stream: Stream) -> float:
        """What a position is worth by this play."""
        if not position.actions:
            return float(position.payoffs[seat])
        first, count, values = self._row(position, seat), len(position.actions), self.values[seat]
        row = values[first : first + count]
        best = max(range(count), key=row.__getitem__)
        if self.branching:
            tried: Sequence[int] = range(count)
        else:
            tried = (int(stream.draw() * count) if stream.draw() < exploration else best,)
        found = row[best]
        for number in tried:
            worth = self._played(position.after(number), seat, exploration, stream)
            if number == best:
                found = worth
            slot = first + number
            self.counts[seat][slot] += 1
            values[slot] += (worth - values[slot]) / self.counts[seat][slot] ** SLOWING
        return found

    def _row(self, position: Position, seat: int) -> int:
        """The first slot of an infoset, a new one if need be."""
        infosets = self.infosets[seat]
        number = infosets.lookup.get(position.infostate)
        if number is None:
            number = infosets.add(position.infostate, position.actions)
            self.values[seat].extend([0.0] * len(position.actions))
            self.counts[seat].extend([0] * len(position.actions))
        return infosets.first[number]

    def choose(self, positions: Sequence[Position], seat: int) -> list[int]:
        """The number of the action that looks best at each position; the first one where it has never been."""
        found, infosets = [], self.infosets[seat]
        for position in positions:
            number = infosets.lookup.get(position.infostate)
            row = [0.0] if number is None else self.values[seat][infosets.first[number] : infosets.first[number + 1]]
            found.append(max(range(len(row)), key=row.__getitem__))
        return found

    def policy(self) -> TablePolicy:
        """The policy that plays what looks best; uniform where it has never been."""
        rows = []
        for infosets, values in zip(self.infosets, self.values, strict=True):
            row, played = np.array(values, np.float64), np.zeros(len(values))
            for start, end in zip(infosets.first, infosets.first[1:], strict=False):
                played[start + int(row[start:end].argmax())] = 1.0
            rows.append(played)
        return TablePolicy(self.world.spec, self.infosets, rows)

    def state(self) -> dict[str, NDArray[Any]]:
        """The tables, as arrays."""
        found: dict[str, NDArray[Any]] = {}
        for player, infosets in enumerate(self.infosets):
            texts = [infostate.encode() for infostate in infosets.lookup]
            found |= {
                f"infostates.{player}": np.frombuffer(b"".join(texts), np.uint8),
                f"ends.{player}": np.cumsum([len(text) for text in texts], dtype=np.int64),
                f"first.{player}": np.array(infosets.first, np.int64),
                f"actions.{player}": np.array(infosets.actions, np.int64),
                f"values.{player}": np.array(self.values[player], np.float64),
                f"counts.{player}": np.array(self.counts[player], np.int64),
            }
        return found

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`state` returned.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        for player in range(self.world.players):
            infosets, data = Infosets(), arrays[f"infostates.{player}"].tobytes()
            first, actions = arrays[f"first.{player}"].tolist(), arrays[f"actions.{player}"].tolist()
            ends = [0, *arrays[f"ends.{player}"].tolist()]
            for number, (start, end) in enumerate(itertools.pairwise(ends)):
                infosets.add(data[start:end].decode(), actions[first[number] : first[number + 1]])
            self.infosets[player] = infosets
            self.values[player] = array("d", arrays[f"values.{player}"].tolist())
            self.counts[player] = array("q", arrays[f"counts.{player}"].tolist())
            if not len(self.values[player]) == len(self.counts[player]) == len(infosets.actions):
                raise ValueError(f"the tables of player {player} are of different lengths")
