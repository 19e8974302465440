"""Boards, stacks and ranges for a device, drawn by worker processes while it solves those before them.

Situations are drawn in rounds, each with its own stack. The device solves those of a round side by side whose betting trees
have the same nodes: their chips may differ, so no stack is rounded. With bets of the pot and all-in and all-in raises there are
three such trees (stacks of up to one pot, up to four, and more).

What a round contains follows from the seed and the number of situations before it. A run that resumes therefore draws the same
situations, although those that were drawn ahead are not saved.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from treeplex.base.workers.executor import POLL_SECONDS, Executor, make_executor
from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.situations import Drawn, drawn_at_random, drawn_in_play, from_play, iterations_at, spot_of
from treeplex.learn.torch.spots.batch import Shape, betting_shape

TURNS = 6
"""Turns of self-play that follow one flop, and random situations of one job."""
MOST_BOARDS = 96 * 48
"""Complete boards of a batch: rivers, or 96 turns with their rivers. The showdown matrices of these take 16 GB."""


class Grouped(NamedTuple):
    """A situation to solve, and what it must share with others of its batch.

    Attributes:
        drawn: board, stack and ranges.
        shape: the betting tree without its chips.
        iterations: number of iterations.
    """

    drawn: Drawn
    shape: Shape
    iterations: int


class DrawingJob(NamedTuple):
    """A job: situations from one source.

    Attributes:
        play: whether they come from self-play.
        size: number of situations.
        seed: seed of their random generator.
    """

    play: bool
    size: int
    seed: tuple[int, ...]


def parts_of(settings: HandValueSettings, first: int, count: int) -> list[DrawingJob]:
    """The jobs of a round: those of self-play, which take longest, come first.

    Args:
        settings: the settings.
        first: number of situations before the round.
        count: number of situations of the round.
    """
    parts, played = list[DrawingJob](), from_play(settings, count)
    for play, left in ((True, played), (False, count - played)):
        while left:
            parts.append(DrawingJob(play, min(left, TURNS), (settings.seed, first, len(parts))))
            left -= parts[-1].size
    return parts


def drawn_part(settings: HandValueSettings, part: DrawingJob) -> list[Grouped]:
    """Draw the situations of a job."""
    generator = np.random.default_rng(part.seed)
    if part.play:
        drawn = drawn_in_play(settings, part.size, generator)
    else:
        drawn = [drawn_at_random(settings, generator) for _ in range(part.size)]
    shapes = (betting_shape(spot_of(each.board.cards, each.stack, settings, (each.reach[0], each.reach[1]))) for each in drawn)
    return [Grouped(each, shape, iterations_at(each.stack, settings)) for each, shape in zip(drawn, shapes, strict=True)]


def batches_of(situations: Sequence[Grouped]) -> list[list[Drawn]]:
    """Divide situations into batches that are solved side by side: same betting tree, same number of iterations."""
    groups = dict[tuple[Any, ...], list[Drawn]]()
    for drawn, *common in situations:
        groups.setdefault(tuple(common), []).append(drawn)
    batches = []
    for group in groups.values():
        most = max(MOST_BOARDS // len(group[0].board.order), 1)
        batches += [group[start : start + most] for start in range(0, len(group), most)]
    return batches


class Drawing:
    """Draws rounds of situations.

    With one worker this process draws each round when it is needed. With more, processes draw the next one ahead.
    """

    def __init__(self, settings: HandValueSettings) -> None:
        self.settings = settings
        self._executor: Executor | None = None
        self._thread = ThreadPoolExecutor(1, "drawing")  # waits for the processes
        self._ahead: tuple[tuple[int, int], Future[list[Grouped]]] | None = None
        self._closed = False

    def round(self, first: int, count: int, following: int) -> list[Grouped]:
        """Draw a round of situations.

        Args:
            first: number of situations before the round.
            count: number of situations.
            following: number of situations of the next round; 0 if none follows.

        Raises:
            AlgorithmError: several worker processes died on the same job.
        """
        if self.settings.workers == 1:
            return [each for part in parts_of(self.settings, first, count) for each in drawn_part(self.settings, part)]
        if self._executor is None:
            self._executor = make_executor("processes", self.settings.workers)
        ahead, self._ahead = self._ahead, None
        drawn = ahead[1] if ahead is not None and ahead[0] == (first, count) else self._submit(first, count)
        situations = drawn.result()
        if following:
            self._ahead = (first + count, following), self._submit(first + count, following)
        return situations

    def close(self) -> None:
        """Stop the worker processes."""
        self._closed = True
        self._thread.shutdown()
        if self._executor is not None:
            self._executor.close()

    def _submit(self, first: int, count: int) -> Future[list[Grouped]]:
        assert self._executor is not None
        return self._thread.submit(self._draw, self._executor, parts_of(self.settings, first, count))

    def _draw(self, executor: Executor, parts: Sequence[DrawingJob]) -> list[Grouped]:
        for number, part in enumerate(parts):
            executor.add(number, drawn_part, self.settings, part)
        found = dict[Any, list[Grouped]]()
        while executor.left() and not self._closed:
            found.update(executor.finished(POLL_SECONDS))
        return [each for number in range(len(parts)) for each in found.get(number, ())]
