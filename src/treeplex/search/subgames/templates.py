"""Templates: single depth-limited subgames, traversed once; batches consist of copies of templates."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.form import Dense
from treeplex.engine.tree.gradient import empty_dense
from treeplex.errors import GameError
from treeplex.forms.compile.assemble import TreeNumbering, numbered
from treeplex.games.public import Chance, Decision, PublicState, PublicTree, Terminal
from treeplex.search.subgames.horizon import Horizon

NONE = -1
Pair = tuple[Ints, Ints]
StateEntry = tuple[PublicState, tuple[int, ...], Pair]
"""A public state in a template, its path from the root, and the sequences of both players' hands."""


class Matrices:
    """Payoff matrices shared by terminals, each scaled so that its largest entry is 1.

    Attributes:
        matrices: the matrices by index.
    """

    def __init__(self) -> None:
        self.matrices: list[Floats] = []
        self._numbers: dict[tuple[bytes, tuple[int, ...]], int] = {}

    def number(self, matrix: Floats) -> int:
        """Return the index of a matrix, storing it if it is new."""
        number = self._numbers.setdefault((matrix.tobytes(), matrix.shape), len(self.matrices))
        if number == len(self.matrices):
            self.matrices.append(matrix)
        return number

    def operator(self, numbers: Ints, starts: Ints, scales: Floats) -> Dense:
        """Create the dense operator of terminals from matrix indices [K], first sequences [K, 2] and factors [K]."""
        if not len(numbers):
            return empty_dense()
        order = np.argsort(numbers, kind="stable")
        used, counts = np.unique(numbers, return_counts=True)
        ends = np.cumsum(counts)
        shapes = np.array([self.matrices[number].shape for number in used])
        offsets = np.concatenate(([0], np.cumsum(shapes.prod(axis=1))))[:-1]
        groups = np.stack((offsets, shapes[:, 0], shapes[:, 1], ends - counts, ends), axis=1)
        flat = np.concatenate([self.matrices[number].ravel() for number in used])
        return Dense(flat, groups, np.ascontiguousarray(starts[order]), scales[order])


@dataclass
class Template:
    """A subgame with sequences and infosets numbered from 0 in order of discovery, starting with the ranges' sequences.

    Attributes:
        player, parent, level, actions, first: arrays over infosets, as in :func:`treeplex.forms.compile.assemble.numbered`.
        sequences: number of sequences, excluding empty ones.
        roots: the numbers of sequences for player 0's and player 1's ranges.
        store: the payoff matrices of all templates of these rules.
        terminals: for each terminal node the index of its payoff matrix, a factor, and the sequences of its hands.
        decisions, leaves: public states with a player to act, and public states at the cut.
        infosets: the infoset of each hand at each decision; -1 for impossible hands.
    """

    player: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    level: list[int] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    depth_of: list[int] = field(default_factory=list)
    sequences: int = 0
    roots: tuple[int, int] = (0, 0)
    begun: Pair = (np.empty(0, np.int64), np.empty(0, np.int64))
    store: Matrices = field(default_factory=Matrices)
    terminals: list[tuple[int, float, Pair]] = field(default_factory=list)
    decisions: list[StateEntry] = field(default_factory=list)
    leaves: list[StateEntry] = field(default_factory=list)
    infosets: list[Ints] = field(default_factory=list)

    def add(self, count: int, level: int) -> int:
        """Allocate ``count`` sequences that are parents of infosets at depth ``level``; returns the first."""
        self.sequences += count
        self.depth_of.extend([level] * count)
        return self.sequences - count

    @cached_property
    def arrays(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """The attributes player, parent, level, actions and first as arrays."""
        columns = (self.player, self.parent, self.level, self.actions, self.first)
        player, parent, level, actions, first = (np.array(column, np.int64) for column in columns)
        return player, parent, level, actions, first

    @cached_property
    def infoset_table(self) -> Ints:
        """:attr:`infosets` as one array."""
        return stacked(self.infosets)

    @cached_property
    def tables(self) -> "dict[str, tuple[Ints, Ints]]":
        """The sequences of both players' hands at all leaves, and at all decisions, as arrays [K, H_i]."""
        return {
            name: (stacked([numbers for _, _, (numbers, _) in nodes]), stacked([numbers for _, _, (_, numbers) in nodes]))
            for name, nodes in (("leaves", self.leaves), ("decisions", self.decisions))
        }

    @cached_property
    def dense(self) -> tuple[Ints, Ints, Floats]:
        """Terminals whose hands have contiguous sequences: matrix indices, first sequences [K, 2], factors."""
        near = [terminal for terminal in self.terminals if self.neighbours(terminal[2])]
        starts = np.array([(first[0], other[0]) for _, _, (first, other) in near], np.int64).reshape(-1, 2)
        return np.array([number for number, _, _ in near], np.int64), starts, np.array([scale for _, scale, _ in near])

    @cached_property
    def scattered(self) -> list[tuple[int, float, Pair]]:
        """The other terminals."""
        return [terminal for terminal in self.terminals if not self.neighbours(terminal[2])]

    def neighbours(self, sequences: Pair) -> bool:
        """Whether each player's sequences stay contiguous in trees of several copies.

        In a tree of a single copy the actions of an infoset are contiguous too, but further copies separate them.
        """
        return all((np.diff(self._beside_another[numbers]) == 1).all() for numbers in sequences)

    @cached_property
    def _beside_another(self) -> Ints:
        """Positions of the first copy's sequences in a tree of two copies of this template."""
        return layout_of([self, self], np.array([2, 2 + self.sequences])).final[2 : 2 + self.sequences]

    @cached_property
    def index(self) -> dict[tuple[int, ...], tuple[str, int]]:
        """Map from paths to ("decision" or "leaf", index in the template)."""
        decisions = {path: ("decision", number) for number, (_, path, _) in enumerate(self.decisions)}
        return decisions | {path: ("leaf", number) for number, (_, path, _) in enumerate(self.leaves)}


def template(rules: PublicTree, root: PublicState, horizon: Horizon, store: Matrices) -> Template:
    """Traverse the public nodes of a subgame, parents first.

    Raises:
        GameError: the subgame begins at a terminal node, a decision has no actions, or a payoff is not finite.
    """
    if isinstance(rules.visit(root.node), Terminal):
        raise GameError(f"the game is over at {root.node!r}, where a subgame should begin; give an earlier state")
    made = Template(store=store)
    tables = []
    for player in (0, 1):
        can = there(root.weight, player)
        start = made.add(int(can.sum()), 0)
        tables.append(np.where(can, start + np.cumsum(can) - 1, NONE))
    made.begun, made.roots = (tables[0], tables[1]), (int((tables[0] >= 0).sum()), int((tables[1] >= 0).sum()))
    stack: list[tuple[PublicState, tuple[int, ...], Pair, int]] = [(root, (), made.begun, 0)]
    while stack:
        state, path, sequences, deals = stack.pop()
        if not state.weight.any():
            continue
        visited = rules.visit(state.node)
        if isinstance(visited, Terminal):
            add_terminal(made, visited, state, sequences)
        elif path and horizon.cuts(rules, state.node, len(path), visited, deals):
            made.leaves.append((state, path, sequences))
        else:
            visited, after = state.successors(rules)
            if isinstance(visited, Decision):
                below, labels = decide(made, state, path, visited, sequences), list(visited.actions)[: len(after)]
            else:
                assert isinstance(visited, Chance)
                below, labels = [sequences] * len(after), [label for label, _ in visited.outcomes]
            deals += bool(path) and isinstance(visited, Chance)
            children = [
                (child, (*path, label), sequences_after, deals)
                for child, label, sequences_after in zip(after, labels, below, strict=True)
            ]
            stack.extend(reversed(children))
    return made


def add_terminal(made: Template, terminal: Terminal, state: PublicState, sequences: Pair) -> None:
    """Add a terminal node, over the possible hands."""
    payoff = state.weight * terminal.matrix
    if not np.isfinite(payoff).all() or not np.isfinite(terminal.scale):
        raise GameError(f"a payoff at public node {state.node!r} is not finite")
    rows, columns = (np.flatnonzero(numbers >= 0) for numbers in sequences)
    inner = np.ascontiguousarray(payoff[np.ix_(rows, columns)])
    largest = float(np.abs(inner).max(initial=0.0))
    if largest * terminal.scale != 0.0:
        number = made.store.number(inner / largest)
        made.terminals.append((number, terminal.scale * largest, (sequences[0][rows], sequences[1][columns])))


def decide(made: Template, state: PublicState, path: tuple[int, ...], decision: Decision, sequences: Pair) -> list[Pair]:
    """Register the infosets of a public state; returns the sequences after each action."""
    player, count = decision.player, len(decision.actions)
    if not count:
        raise GameError(f"no action at public node {state.node!r}; a node without actions must be a terminal")
    can = there(state.weight, player)
    infosets, first = np.full(len(can), NONE, np.int64), np.full(len(can), NONE, np.int64)
    for hand in np.flatnonzero(can):
        parent = int(sequences[player][hand])
        level = made.depth_of[parent]
        infosets[hand], first[hand] = len(made.player), made.add(count, level + 1)
        for column, entry in zip(
            (made.player, made.parent, made.level, made.actions, made.first),
            (player, parent, level, count, int(first[hand])),
            strict=True,
        ):
            column.append(entry)
    made.decisions.append((state, path, sequences))
    made.infosets.append(infosets)
    taken = [np.where(first >= 0, first + a, NONE) for a in range(count)]
    if decision.private:
        taken = [np.stack(taken, axis=1).ravel()]
    return [(after, sequences[1]) if player == 0 else (sequences[0], after) for after in taken]


def there(weight: Floats, player: int) -> NDArray[np.bool_]:
    """A player's possible hands, bool [H]."""
    return np.asarray((weight > 0).any(axis=1 - player))


def layout_of(templates: Sequence[Template], shifts: Ints) -> TreeNumbering:
    """Lay out the tree of copies of templates whose sequences begin at ``shifts``."""
    player, parent, level, actions, first = (
        np.concatenate(part) for part in zip(*(made.arrays for made in templates), strict=True)
    )
    shift = np.repeat(shifts, [len(made.player) for made in templates])
    pairs = list(zip(templates, shifts, strict=True))
    roots = [np.concatenate(([owner], *(root_numbers(made, owner) + begin for made, begin in pairs))) for owner in (0, 1)]
    return numbered(
        player=player,
        level=level,
        actions=actions,
        first=first + shift,
        parent=parent + shift,
        root_player=np.repeat([0, 1], [len(roots[0]), len(roots[1])]),
        root_sequence=np.concatenate(roots),
        sequences=2 + sum(made.sequences for made in templates),
    )


def root_numbers(made: Template, player: int) -> Ints:
    """The template's sequence numbers for a player's range; player 0's come first."""
    return np.arange(made.roots[player]) + (made.roots[0] if player else 0)


def stacked(rows: Sequence[Ints]) -> Ints:
    """Stack rows as an array, padded with -1."""
    table = np.full((len(rows), max(map(len, rows), default=0)), NONE, np.int64)
    for k, row in enumerate(rows):
        table[k, : len(row)] = row
    return table
