"""Walks by the rules as jobs of workers: what each finds is a function of its numbers, whoever makes it.

Walks go side by side in portions that do not depend on the number of workers, since what a network says of a row depends, in
the last bit, on the rows beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.base.workers.executor import Executor
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.policies.views import View
from treeplex.forms.sources.load import load
from treeplex.learn.neural.walks.jobs import joined_episodes
from treeplex.learn.neural.walks.rules_walks import Asked, External, Met, MetEpisodes, Playing, RulesWalks

EPISODES = 32
"""Episodes of a job."""
JOBS, AT_FIRST, ROWS = 16, 2, 1 << 15
"""Jobs of a round of walks by external sampling, and walks of each at first: a walk alone asks for one infoset at a time, and
takes half as long again. Then there are twice as many walks, or half, if the round found fewer or more rows than the last."""


@dataclass(frozen=True, eq=False)
class RuledGame:
    """What a worker knows: rules, which it loads once, and what networks see of them; spec and view travel."""

    spec: str
    view: View

    @classmethod
    def of(cls, walks: RulesWalks, spec: str) -> "RuledGame":
        """Rules that are here already."""
        found = cls(spec, walks.view)
        found.__dict__["walks"] = walks
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return RuledGame, (self.spec, self.view)

    @cached_property
    def walks(self) -> RulesWalks:
        """Walks on the rules."""
        return RulesWalks(turn_by_turn(load(self.spec).walkable_rules()), self.view)


def play_rules(game: RuledGame, policies: Sequence[Asked], seats: Ints, playing: Playing, number: int) -> MetEpisodes:
    """Episodes; see :meth:`treeplex.learn.neural.walks.rules_walks.RulesWalks.episodes`."""
    return game.walks.episodes(policies, seats, playing, number)


def walk_rules(game: RuledGame, policy: Asked, player: int, walks: range, seed: int) -> External:
    """Walks; see :meth:`treeplex.learn.neural.walks.rules_walks.RulesWalks.external`."""
    return game.walks.external(policy, player, walks, seed)


class SpreadWalks:
    """Walks on rules that workers make.

    Attributes:
        view: what networks see.
    """

    def __init__(self, walks: RulesWalks, spec: str, executor: Executor) -> None:
        self.view, self._walks = walks.view, walks
        self.spread_over(executor, spec)

    def spread_over(self, executor: Executor, spec: str) -> None:
        """Have workers walk, which know the rules by their spec."""
        self._executor = executor
        self._game = executor.share(RuledGame.of(self._walks, spec))

    def nothing(self) -> Met:
        """No infosets."""
        return self._walks.nothing()

    def episodes(self, policies: Sequence[Asked], seats: Ints, playing: Playing, number: int) -> MetEpisodes:
        """Episodes; see :meth:`treeplex.learn.neural.walks.rules_walks.RulesWalks.episodes`. Policies have to be picklable."""
        shared, starts = self._executor.share(tuple(policies)), range(0, len(seats), EPISODES)
        jobs = ((self._game, shared, seats[start : start + EPISODES], playing, number + start) for start in starts)
        try:
            return joined(list(self._executor.map(play_rules, jobs)))
        finally:
            self._executor.forget(shared)

    def external(self, policy: Asked, player: int, walks: range, seed: int) -> Iterator[External]:
        """Walks by external sampling, some at a time in the order of their numbers."""
        shared, together, left = self._executor.share(policy), AT_FIRST, walks
        try:
            while left:
                chosen, left = left[: JOBS * together], left[JOBS * together :]
                starts = range(0, len(chosen), together)
                jobs = ((self._game, shared, player, chosen[start : start + together], seed) for start in starts)
                rows = 0
                for found in self._executor.map(walk_rules, jobs):
                    rows += len(found.places)
                    yield found
                together = 2 * together if rows < ROWS else max(together // 2, 1)
        finally:
            self._executor.forget(shared)


def joined(parts: Sequence[MetEpisodes]) -> MetEpisodes:
    """Episodes one after the other; an infoset that several met stands there once."""
    if len(parts) == 1:
        return parts[0]
    numbers: dict[bytes, int] = {}
    places = [numbered(numbers, part.met) for part in parts]
    whole = Met(*(np.concatenate(column) for column in zip(*(part.met for part in parts), strict=True)))
    _, first = np.unique(np.concatenate(places), return_index=True)
    met, policy = whole.at(first), np.zeros((len(numbers), whole.legal.shape[1]))
    for place, part in zip(reversed(places), reversed(parts), strict=True):
        asked = part.policy.any(axis=1)
        policy[place[asked]] = part.policy[asked]
    episodes = [part.episodes._replace(infoset=place[part.episodes.infoset]) for place, part in zip(places, parts, strict=True)]
    return MetEpisodes(joined_episodes(episodes), met, policy, np.concatenate([part.histories for part in parts]))


def numbered(numbers: dict[bytes, int], met: Met) -> NDArray[np.int32]:
    """Numbers of infosets, which those that are new get in their order; int32 [P]."""
    rows = np.concatenate([met.player[:, None].astype(np.float32), met.described()], axis=1)
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int32)
