"""Compile a phantom game by timelines: its histories (10^10 on a 3 by 3 board) are counted but never walked."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.engine.phantom.histories import BOARD, FIRST, STABILISER
from treeplex.engine.phantom.timelines import DEPTH, HISTORIES, TERMINALS
from treeplex.engine.phantom.walk import TimelineResult, by_sequence, walk_timelines
from treeplex.engine.tree.form import Factors, Payoff, Tree
from treeplex.engine.tree.gradient import empty_dense, empty_sparse
from treeplex.errors import GameError
from treeplex.forms.compile.assemble import numbered
from treeplex.forms.compile.compiled_game import CompiledGame, GameSize
from treeplex.forms.compile.views.lazy_infostates import LazyInfostates
from treeplex.games.builtin.phantom import HIDDEN, PhantomGame

TERM_BYTES = 32
"""Upper bound of bytes per term of an abrupt game, including lists, infosets and sequences."""
MOST_ENTRIES = 1_500_000_000
"""Maximum number of entries of lists and terms."""
CLEARLY = 1.5
"""Factor by which an estimate must exceed the limit to refuse a game without walking it."""


def compile_phantom(game: PhantomGame, *, limit: int | None = None, watch: Callable[[int], None] | None = None) -> CompiledGame:
    """Compile a phantom game.

    Args:
        game: the game, in which players do not observe whose turn it is.
        limit: maximum number of entries of lists and terms, default :data:`MOST_ENTRIES`.
        watch: called periodically with the number of histories so far.

    Returns:
        The compiled game; infostate strings are computed on demand.

    Raises:
        GameError: more entries than the limit, or an abrupt game that does not fit in memory.
    """
    most = MOST_ENTRIES if limit is None else limit
    group = game.group
    order = len(group.images)
    about = estimated_terms(game) / order
    needed, free = int(about * TERM_BYTES) if game.abrupt else 0, available_memory()
    remedy = "choose a smaller board" if game.symmetric else f"symmetric=true needs {len(game.turns)} times less memory"
    if limit is None and free is not None and free < needed and about <= CLEARLY * most:
        raise GameError(f"{game} needs about {megabytes(needed)} of memory, but only {megabytes(free)} are free; {remedy}")
    timelines = None
    try:
        if about <= CLEARLY * most:
            timelines = walk_timelines(group, game.won, abrupt=game.abrupt, most=most, watch=watch)
        if timelines is not None:
            return assembled(game, timelines)
    except MemoryError as error:
        wanted = f" (about {megabytes(needed)})" if needed else ""
        raise GameError(f"{game} needs more memory than is free{wanted}; {remedy}") from error
    raise GameError(
        f"{game} has about {about:.2g} payoff terms, more than the limit of {most:,} entries; choose a smaller board"
    )


def assembled(game: PhantomGame, timelines: TimelineResult) -> CompiledGame:
    """Build the compiled game from its timelines, the orders of placed stones without failed tries."""
    group, order = game.group, len(game.group.images)
    histories, size = timelines.own, size_of(timelines)
    first, known = histories.about >> FIRST, histories.about & BOARD
    fixing = histories.about >> STABILISER & 255
    actions = np.diff(first, append=len(histories.cell))
    numbering = numbered(
        player=histories.player.astype(np.int64),
        level=group.counts[known],
        actions=actions,
        first=first,
        parent=(histories.step >> 1).astype(np.int64),
        root_player=np.arange(2),
        root_sequence=np.arange(2),
        sequences=len(histories.cell),
    )
    final = numbering.final
    action_ids = np.empty(len(final), np.int64)
    action_ids[final] = histories.cell
    weights = np.empty(0)
    if order > 1:
        weights = np.ones(len(final))
        fixed = group.elements[np.repeat(fixing, actions) & group.fixing[histories.cell[2:]]]
        weights[final[2:]] = fixed / order
    put = (histories.step & 1).astype(bool)[numbering.order]
    pointers, lists = by_sequence(timelines.lengths, timelines.entries, final)
    counts = np.array([len(length) for length in timelines.lengths])
    return CompiledGame(
        spec=game.spec,
        players=2,
        tree=numbering.tree,
        payoff=Payoff(
            empty_sparse(len(action_ids), 2),
            empty_dense(),
            Factors(pointers, lists, weights, timelines.ends, timelines.others, timelines.values, counts),
        ),
        infostates=PhantomInfostates(game, numbering.tree, action_ids, put),
        action_ids=action_ids,
        action_names=tuple({cell: game.name_of_cell(player, cell) for cell in range(game.cells)} for player in (0, 1)),
        size=size,
        constant=0.0,
        rules=game,
    )


def estimated_terms(game: PhantomGame, timelines: int = 1000) -> float:
    """Estimate the number of decisive timelines from random ones, weighted by their numbers of choices (Knuth 1975).

    A try can fail as long as the opponent has stones that the player does not know of.
    """
    generator, total = np.random.default_rng(0), 0.0
    for _ in range(timelines):
        stones, fails, mover, weight = [0, 0], [0, 0], 0, 1.0
        while True:
            free = [cell for cell in range(game.cells) if not (stones[0] | stones[1]) >> cell & 1]
            wins = [cell for cell in free if game.won[mover, stones[mover] | 1 << cell]]
            total += weight * len(wins)
            ways = [cell for cell in free if cell not in wins] if len(free) > 1 else []
            choices = len(ways) + (game.abrupt and fails[mover] < stones[1 - mover].bit_count())
            if not choices:
                break
            weight *= choices
            chosen = int(generator.integers(choices))
            if chosen < len(ways):
                stones[mover] |= 1 << ways[chosen]
            else:
                fails[mover] += 1
            mover = 1 - mover
    return total / timelines


def factors(game: object) -> bool:
    """Return whether payoffs factor over timelines, as in phantom games that hide whose turn it is."""
    return isinstance(game, PhantomGame) and game.observation == HIDDEN


def size_of(timelines: TimelineResult) -> GameSize:
    """Return the game's size; it has one public state, because nothing is public."""
    sizes = timelines.sizes
    return GameSize(
        int(sizes[HISTORIES]), int(sizes[TERMINALS]), int(sizes[DEPTH]), int(timelines.own.visits.max()), public_states=1
    )


class PhantomInfostates(LazyInfostates):
    """Infostate strings of a phantom game, computed on demand."""

    def __init__(self, game: PhantomGame, tree: Tree, cells: Ints, put: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> None:
        """Store the last action of each infoset.

        Args:
            game: the rules.
            tree: the treeplexes.
            cells: int64 [Q], the cell of each sequence's last action.
            put: bool [I], whether the last own action before an infoset placed a stone.
        """
        self.game, self.tree, self.cells, self.put = game, tree, cells, put

    @cached_property
    def key(self) -> str:  # type: ignore[override]
        game = self.game
        won = hashlib.sha256(game.won.tobytes()).hexdigest()
        return f"phantom {game.rows} {game.columns} {game.abrupt} {len(game.group.images)} {won}"

    @cached_property
    def lookup(self) -> "PhantomLookup":  # type: ignore[override]
        return PhantomLookup(self)

    @classmethod
    def restored(cls, game: PhantomGame, tree: Tree, columns: Mapping[str, NDArray[Any]]) -> "PhantomInfostates":
        """Return the infostates with these :meth:`columns`."""
        return cls(game, tree, columns["cells"], columns["put"])

    def columns(self) -> Mapping[str, NDArray[Any]]:
        return {"cells": self.cells, "put": self.put}

    def __len__(self) -> int:
        return len(self.put)

    def tensors(self, begin: int, end: int) -> NDArray[np.float32]:
        """See :meth:`LazyInfostates.tensors`; computed by following each infoset's own tries back to the root."""
        cells, tree = self.game.cells, self.tree
        infosets, tensors = np.arange(begin, end), np.zeros((end - begin, 2 * cells + cells * cells), np.float32)
        rows, steps, orders = np.arange(end - begin), list[Ints](), list[Ints]()
        while True:
            tried = self.cells[tree.infoset_parent[infosets]]
            going = tried >= 0
            rows, infosets, tried = rows[going], infosets[going], tried[going]
            if not len(rows):
                break
            tensors[rows, np.where(self.put[infosets], tried, cells + tried)] = 1.0
            steps.append(rows)
            orders.append(tried)
            infosets = tree.sequence_infoset[tree.infoset_parent[infosets]]
        depth = np.bincount(np.concatenate(steps), minlength=end - begin) if steps else np.zeros(end - begin, np.int64)
        for back, (rows, tried) in enumerate(zip(steps, orders, strict=True), 1):
            tensors[rows, 2 * cells + (depth[rows] - back) * cells + tried] = 1.0
        return tensors

    def written(self, infoset: int) -> str:
        player = int(np.searchsorted(self.tree.infoset_offsets, infoset, side="right")) - 1
        tried: list[int] = []
        marks = ["."] * self.game.cells
        while True:
            sequence = int(self.tree.infoset_parent[infoset])
            cell = int(self.cells[sequence])
            if cell < 0:
                break
            marks[cell] = "xo"[player if self.put[infoset] else 1 - player]
            tried.append(cell)
            infoset = int(self.tree.sequence_infoset[sequence])
        return self.game.lines_of(marks) + "".join(f"{player},{cell} " for cell in reversed(tried))


class PhantomLookup(Mapping[tuple[int, str], int]):
    """Map from (player, infostate) to infoset."""

    def __init__(self, infostates: PhantomInfostates) -> None:
        self.infostates = infostates
        steps = 2 * infostates.tree.infoset_parent + infostates.put
        self._order = np.argsort(steps, kind="stable")
        self._steps = steps[self._order]

    def __len__(self) -> int:
        return len(self.infostates)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        offsets = self.infostates.tree.infoset_offsets
        return ((int(infoset >= offsets[1]), self.infostates[infoset]) for infoset in range(len(self)))

    def __getitem__(self, key: tuple[int, str]) -> int:
        infoset = self._find(key)
        if infoset is None:
            raise KeyError(key)
        return infoset

    def __contains__(self, key: object) -> bool:
        return self._find(key) is not None

    def _find(self, key: object) -> int | None:
        """Return the infoset with this infostate; None if the text is not an infostate of the player."""
        if not (isinstance(key, tuple) and len(key) == 2 and key[0] in (0, 1) and isinstance(key[1], str)):
            return None
        player, text = key
        infostates, tree = self.infostates, self.infostates.tree
        board, _, tried = text.rpartition("\n")
        marks = board.replace("\n", "")
        infoset = self._after(2 * int(tree.sequence_offsets[player]) + 1)
        for attempt in tried.split():
            owner, _, cell = attempt.partition(",")
            if infoset is None or owner != str(player) or not cell.isdecimal() or int(cell) >= len(marks):
                return None
            first, stride, actions = tree.infoset_layout[infoset]
            sequences = np.arange(first, first + stride * actions, stride)
            chosen = sequences[infostates.cells[sequences] == int(cell)]
            if not len(chosen):
                return None
            infoset = self._after(2 * int(chosen[0]) + int(marks[int(cell)] == "xo"[player]))
        return infoset if infoset is not None and infostates[infoset] == text else None

    def after(self, steps: Ints) -> Ints:
        """Return the infosets after steps, int64 [k], which must exist."""
        return self._order[np.searchsorted(self._steps, steps)]

    def _after(self, step: int) -> int | None:
        """Return the infoset after a step."""
        index = int(np.searchsorted(self._steps, step))
        return int(self._order[index]) if index < len(self._steps) and self._steps[index] == step else None
