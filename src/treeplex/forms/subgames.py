"""Depth-limited subgames of public-tree rules, compiled many at once into one tree and payoff for the engine.

A subgame begins at a public state with a range of hands for each player and ends at terminal public nodes or, a given number
of actions below, at *leaves*, public states whose values somebody else must give. Ranges stand in the tree as root sequences,
one a hand, whose reach is set from outside; so the engine's reach, gradient, backup and update run on it unchanged. A batch of
subgames is a tree with longer blocks: every subgame is walked once, as a *template*, and copies of templates are put side by
side by array arithmetic.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.form import Dense, Payoff, Tree
from treeplex.engine.payoff import empty_dense, empty_sparse
from treeplex.errors import GameError
from treeplex.forms.assemble import Numbering, numbered, sparse_operator
from treeplex.games.public import Chance, Decision, Leaf, PublicTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NONE = -1


@dataclass(frozen=True, eq=False)
class PublicState:
    """A public node and what it says about pairs of hands.

    Attributes:
        node: the public node of the rules.
        weight: float64 [H0, H1], probability that chance deals the hands and shows what it has shown, up to a factor.
    """

    node: Hashable
    weight: Floats

    def successors(self, rules: PublicTree) -> "tuple[Decision | Chance | Leaf, tuple[PublicState, ...]]":
        """What happens here, and the public states after each action or chance outcome."""
        visited = rules.visit(self.node)
        if isinstance(visited, Leaf):
            return visited, ()
        if isinstance(visited, Chance):
            pairs = ((label, self.weight * probability) for label, probability in visited.outcomes)
        elif visited.private:
            pairs = ((action, spread(self.weight, visited)) for action in visited.actions[:1])
        else:
            pairs = ((action, self.weight) for action in visited.actions)
        return visited, tuple(PublicState(rules.child(self.node, label), weight) for label, weight in pairs)

    def after(self, rules: PublicTree, label: int) -> "PublicState":
        """The public state after an action or a chance outcome.

        Raises:
            ValueError: there is none with this label.
        """
        visited, successors = self.successors(rules)
        if isinstance(visited, Leaf):
            raise ValueError(f"the game is over at {self.node!r}")
        labels = [outcome for outcome, _ in visited.outcomes] if isinstance(visited, Chance) else list(visited.actions)
        return successors[labels.index(label)]


def spread(weight: Floats, decision: Decision) -> Floats:
    """Weights of hands after a private action: hand h with action number a becomes hand ``h * A + a``."""
    return np.repeat(weight, len(decision.actions), axis=decision.player)


def there(weight: Floats, player: int) -> NDArray[np.bool_]:
    """Which hands of a player chance allows, bool [H]."""
    return np.asarray((weight > 0).any(axis=1 - player))


def first_state(rules: PublicTree) -> PublicState:
    """The public state in which a game begins."""
    return PublicState(rules.root, np.asarray(rules.prior, np.float64))


@dataclass(frozen=True, eq=False)
class Places:
    """Public states inside a batch of subgames, and which sequences of each player come there.

    Attributes:
        owner: int64 [K], the subgame of each.
        states: the public states; where futures are equal, another node of the same future may stand for one.
        paths: the actions and chance outcomes from the subgame's root to each.
        sequences: for each player int64 [K, H_i], the last own sequence of each hand, -1 for hands that cannot be there.
    """

    owner: Ints
    states: tuple[PublicState, ...]
    paths: tuple[tuple[int, ...], ...]
    sequences: tuple[Ints, Ints]

    def __len__(self) -> int:
        return len(self.states)

    @cached_property
    def groups(self) -> list[tuple[Floats, Ints]]:
        """The places grouped by the weights of pairs of hands there, which many share: (weight, rows)."""
        found: dict[int, tuple[Floats, list[int]]] = {}
        for k, state in enumerate(self.states):
            found.setdefault(id(state.weight), (state.weight, []))[1].append(k)
        return [(weight, np.array(rows)) for weight, rows in found.values()]


@dataclass(frozen=True, eq=False)
class Subgames:
    """A batch of compiled subgames.

    Attributes:
        rules: the public-tree rules.
        tree, payoff: what the engine runs on.
        roots: where the ranges stand, one place a subgame.
        leaves: public states at which the batch is cut.
        decisions: the public states where somebody acts; the first of each subgame is its root, if somebody acts there.
        infosets: int64 [decisions, H], the infoset of each hand of the player to act, -1 for none.
        owners: int64 [Q], the subgame of each sequence; -1 for the players' empty sequences, which nothing uses.
        templates: the template of each subgame.
    """

    rules: PublicTree
    tree: Tree
    payoff: Payoff
    roots: Places
    leaves: Places
    decisions: Places
    infosets: Ints
    owners: Ints
    templates: "tuple[Template, ...]"

    @cached_property
    def first_decision(self) -> Ints:
        """The number of each subgame's first decision, int64 [B]; its decisions are neighbours."""
        return np.concatenate(([0], np.cumsum([len(made.spots) for made in self.templates])))[:-1]

    @cached_property
    def first_leaf(self) -> Ints:
        """The number of each subgame's first leaf, int64 [B]; its leaves are neighbours."""
        return np.concatenate(([0], np.cumsum([len(made.leaves) for made in self.templates])))[:-1]

    def find(self, owner: int, path: tuple[int, ...]) -> tuple[str, int]:
        """What stands at the end of a path in a subgame: ("decision" or "leaf", its number), or ("end", -1)."""
        kind, number = self.templates[owner].index.get(path, ("end", NONE))
        if kind == "end":
            return kind, number
        return kind, number + int((self.first_decision if kind == "decision" else self.first_leaf)[owner])


Pair = tuple[Ints, Ints]
Spot = tuple[PublicState, tuple[int, ...], Pair]
"""A public state in a template, its path from the root, and the sequences of both players' hands."""


class Store:
    """Payoff matrices that terminals share, each scaled so that its largest entry is 1.

    Attributes:
        matrices: by number.
    """

    def __init__(self) -> None:
        self.matrices: list[Floats] = []
        self._numbers: dict[tuple[bytes, tuple[int, ...]], int] = {}

    def number(self, matrix: Floats) -> int:
        """The number of a matrix, stored if it is new."""
        number = self._numbers.setdefault((matrix.tobytes(), matrix.shape), len(self.matrices))
        if number == len(self.matrices):
            self.matrices.append(matrix)
        return number

    def operator(self, numbers: Ints, starts: Ints, scales: Floats) -> Dense:
        """The dense operator of terminals: matrix numbers [K], first sequences [K, 2] and factors [K]."""
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
    """One subgame, with sequences and infosets numbered from 0 in the order found; the ranges' sequences come first.

    Attributes:
        player, parent, level, actions, first: of each infoset, as in :func:`treeplex.forms.assemble.numbered`.
        sequences: number of sequences, without empty ones.
        roots: how many of them are player 0's and player 1's ranges.
        store: the payoff matrices of all templates of these rules.
        terminals: of each terminal node the number of its payoff matrix, a factor, and the sequences of the hands there.
        spots, leaves: decisions and leaves.
        infosets: the infoset of each hand at each decision, -1 for none.
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
    store: Store = field(default_factory=Store)
    terminals: list[tuple[int, float, Pair]] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    leaves: list[Spot] = field(default_factory=list)
    infosets: list[Ints] = field(default_factory=list)

    def add(self, count: int, level: int) -> int:
        """Make room for so many sequences, below which infosets have own depth ``level``; return the first."""
        self.sequences += count
        self.depth_of.extend([level] * count)
        return self.sequences - count

    @cached_property
    def arrays(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Player, parent, level, actions and first as arrays."""
        found = (self.player, self.parent, self.level, self.actions, self.first)
        player, parent, level, actions, first = (np.array(each, np.int64) for each in found)
        return player, parent, level, actions, first

    @cached_property
    def infoset_table(self) -> Ints:
        """:attr:`infosets` as one array."""
        return stacked(self.infosets)

    @cached_property
    def tables(self) -> "dict[str, tuple[Ints, Ints]]":
        """The sequences of both players' hands at all leaves, and at all decisions, as arrays [K, H_i]."""
        return {
            name: (stacked([own for _, _, (own, _) in spots]), stacked([own for _, _, (_, own) in spots]))
            for name, spots in (("leaves", self.leaves), ("spots", self.spots))
        }

    @cached_property
    def dense(self) -> tuple[Ints, Ints, Floats]:
        """Of terminals whose hands' sequences are neighbours in a tree: matrix numbers, first sequences [K, 2], factors."""
        near = [each for each in self.terminals if self.neighbours(each[2])]
        starts = np.array([(own[0], other[0]) for _, _, (own, other) in near], np.int64).reshape(-1, 2)
        return np.array([number for number, _, _ in near], np.int64), starts, np.array([scale for _, scale, _ in near])

    @cached_property
    def scattered(self) -> list[tuple[int, float, Pair]]:
        """The other terminals."""
        return [each for each in self.terminals if not self.neighbours(each[2])]

    def neighbours(self, sequences: Pair) -> bool:
        """Whether the sequences of each player stand side by side in a tree; if they do beside one other copy, they always do.

        In a tree of one copy alone the actions of a single infoset would as well, which other copies move apart.
        """
        return all((np.diff(self._beside_another[own]) == 1).all() for own in sequences)

    @cached_property
    def _beside_another(self) -> Ints:
        """Where a tree of two copies of this template has the sequences of the first."""
        return layout_of([self, self], np.array([2, 2 + self.sequences])).final[2 : 2 + self.sequences]

    @cached_property
    def index(self) -> dict[tuple[int, ...], tuple[str, int]]:
        """By path: ("decision" or "leaf", its number in the template)."""
        decisions = {path: ("decision", number) for number, (_, path, _) in enumerate(self.spots)}
        return decisions | {path: ("leaf", number) for number, (_, path, _) in enumerate(self.leaves)}


_templates: "WeakKeyDictionary[PublicTree, dict[tuple[Hashable, int | None], Template]]" = WeakKeyDictionary()
_stores: "WeakKeyDictionary[PublicTree, Store]" = WeakKeyDictionary()


def cut(rules: PublicTree, states: Sequence[PublicState], depth: int | None = None) -> Subgames:
    """Compile the subgames that begin at ``states`` and end ``depth`` actions (of players or chance) below; None: at the end.

    Raises:
        GameError: a subgame that begins at a terminal node, or rules that give no actions.
    """
    known = _templates.setdefault(rules, {})
    templates = []
    for state in states:
        key = rules.future(state.node), depth
        if key not in known:
            known[key] = template(rules, state, depth)
        templates.append(known[key])
    return united(rules, states, templates)


def template(rules: PublicTree, root: PublicState, depth: int | None) -> Template:
    """Walk the public nodes of one subgame, parents first."""
    if isinstance(rules.visit(root.node), Leaf):
        raise GameError(f"a subgame cannot begin at {root.node!r}, where the game is over")
    made = Template(store=_stores.setdefault(rules, Store()))
    tables = []
    for player in (0, 1):
        can = there(root.weight, player)
        start = made.add(int(can.sum()), 0)
        tables.append(np.where(can, start + np.cumsum(can) - 1, NONE))
    made.begun, made.roots = (tables[0], tables[1]), (int((tables[0] >= 0).sum()), int((tables[1] >= 0).sum()))
    stack: list[tuple[PublicState, tuple[int, ...], Pair]] = [(root, (), made.begun)]
    while stack:
        state, path, sequences = stack.pop()
        if not state.weight.any():
            continue
        visited = rules.visit(state.node)
        if isinstance(visited, Leaf):
            add_terminal(made, visited, state, sequences)
        elif depth is not None and len(path) >= depth:
            made.leaves.append((state, path, sequences))
        else:
            visited, after = state.successors(rules)
            if isinstance(visited, Decision):
                below, labels = decide(made, state, path, visited, sequences), list(visited.actions)[: len(after)]
            else:
                assert isinstance(visited, Chance)
                below, labels = [sequences] * len(after), [label for label, _ in visited.outcomes]
            children = [(child, (*path, label), own) for child, label, own in zip(after, labels, below, strict=True)]
            stack.extend(reversed(children))
    return made


def add_terminal(made: Template, leaf: Leaf, state: PublicState, sequences: Pair) -> None:
    """A terminal node, over the hands that can be there."""
    payoff = state.weight * leaf.matrix
    if not np.isfinite(payoff).all() or not np.isfinite(leaf.scale):
        raise GameError(f"a payoff at public node {state.node!r} is not finite")
    rows, columns = (np.flatnonzero(own >= 0) for own in sequences)
    inner = np.ascontiguousarray(payoff[np.ix_(rows, columns)])
    largest = float(np.abs(inner).max(initial=0.0))
    if largest * leaf.scale != 0.0:
        number = made.store.number(inner / largest)
        made.terminals.append((number, leaf.scale * largest, (sequences[0][rows], sequences[1][columns])))


def decide(made: Template, state: PublicState, path: tuple[int, ...], decision: Decision, sequences: Pair) -> list[Pair]:
    """Register the infosets of a public state; return the sequences after each action."""
    player, count = decision.player, len(decision.actions)
    if not count:
        raise GameError(f"no action at public node {state.node!r}; a node without actions must be a leaf")
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
    made.spots.append((state, path, sequences))
    made.infosets.append(infosets)
    taken = [np.where(first >= 0, first + a, NONE) for a in range(count)]
    if decision.private:
        taken = [np.stack(taken, axis=1).ravel()]
    return [(own, sequences[1]) if player == 0 else (sequences[0], own) for own in taken]


def layout_of(templates: Sequence[Template], shifts: Ints) -> Numbering:
    """The tree of copies of templates whose sequences begin at ``shifts``."""
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


def united(rules: PublicTree, states: Sequence[PublicState], templates: Sequence[Template]) -> Subgames:
    """Copies of templates side by side as one tree and payoff."""
    sizes = np.array([made.sequences for made in templates])
    shifts = 2 + np.concatenate(([0], np.cumsum(sizes)))[:-1]
    counts = np.array([len(made.player) for made in templates])
    before = np.concatenate(([0], np.cumsum(counts)))[:-1]
    tree, final, order = layout_of(templates, shifts)
    place_of = np.empty(len(order), np.int64)
    place_of[order] = np.arange(len(order))
    table = joined([made.infoset_table for made in templates], before)
    owners = np.full(len(final), NONE, np.int64)
    owners[final[2:]] = np.repeat(np.arange(len(templates)), sizes)
    begun = tuple(located(joined([made.begun[player][None] for made in templates], shifts), final) for player in (0, 1))
    numbers = np.arange(len(templates))
    return Subgames(
        rules=rules,
        tree=tree,
        payoff=payoff_of(tree, final, templates, shifts),
        roots=Places(numbers, tuple(states), ((),) * len(states), (begun[0], begun[1])),
        leaves=placed("leaves", templates, shifts, final),
        decisions=placed("spots", templates, shifts, final),
        infosets=located(table, place_of),
        owners=owners,
        templates=tuple(templates),
    )


def root_numbers(made: Template, player: int) -> Ints:
    """The template's numbers of a player's ranges; player 0's come first."""
    return np.arange(made.roots[player]) + (made.roots[0] if player else 0)


def payoff_of(tree: Tree, final: Ints, templates: Sequence[Template], shifts: Ints) -> Payoff:
    """The operators of a batch: dense where the hands' sequences are neighbours, else entries of the sparse one."""
    entries = []
    for made, shift in zip(templates, shifts, strict=True):
        for number, scale, sequences in made.scattered:
            own, other, payoff = final[sequences[0] + shift], final[sequences[1] + shift], made.store.matrices[number]
            i, j = np.nonzero(payoff)
            values = scale * payoff[i, j]
            entries.append((np.stack((own[i], other[j]), axis=1).astype(np.int32), np.stack((values, -values), axis=1)))
    sparse = empty_sparse(len(final), 2)
    if entries:
        pairs, payoffs = (np.concatenate(part) for part in zip(*entries, strict=True))
        sparse = sparse_operator(tree, pairs, payoffs)
    numbers, starts, scales = (np.concatenate(part) for part in zip(*(made.dense for made in templates), strict=True))
    shift = np.repeat(shifts, [len(made.dense[0]) for made in templates])
    return Payoff(sparse, templates[0].store.operator(numbers, final[starts + shift[:, None]], scales))


def placed(name: str, templates: Sequence[Template], shifts: Ints, final: Ints) -> Places:
    """The leaves or the decisions of a batch, with final sequences."""
    spots = [made.leaves if name == "leaves" else made.spots for made in templates]
    tables = [located(joined([made.tables[name][player] for made in templates], shifts), final) for player in (0, 1)]
    return Places(
        owner=np.repeat(np.arange(len(spots)), [len(own) for own in spots]),
        states=tuple(state for own in spots for state, _, _ in own),
        paths=tuple(path for own in spots for _, path, _ in own),
        sequences=(tables[0], tables[1]),
    )


def located(table: Ints, final: Ints) -> Ints:
    """Final numbers of provisional ones, -1 staying -1."""
    return np.where(table >= 0, final[np.maximum(table, 0)], NONE) if table.size else table


def joined(tables: Sequence[Ints], shifts: Ints) -> Ints:
    """Tables one below the other, each with its shift added, padded with -1."""
    widest = max(table.shape[1] for table in tables)
    if any(table.shape[1] < widest for table in tables):
        tables = [np.pad(table, ((0, 0), (0, widest - table.shape[1])), constant_values=NONE) for table in tables]
    whole = np.concatenate(tables)
    return np.where(whole >= 0, whole + np.repeat(shifts, [len(table) for table in tables])[:, None], NONE)


def stacked(rows: Sequence[Ints]) -> Ints:
    """Rows of an array, padded with -1."""
    table = np.full((len(rows), max(map(len, rows), default=0)), NONE, np.int64)
    for k, row in enumerate(rows):
        table[k, : len(row)] = row
    return table
