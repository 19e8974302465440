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

from treeplex.engine.form import Payoff, Tree
from treeplex.engine.payoff import empty_sparse
from treeplex.errors import GameError
from treeplex.forms.assemble import numbered, sparse_operator
from treeplex.forms.public_compile import Terminals
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


@dataclass
class Template:
    """One subgame, with sequences and infosets numbered from 0 in the order found; the ranges' sequences come first.

    Attributes:
        player, parent, level, actions, first: of each infoset, as in :func:`treeplex.forms.assemble.numbered`.
        sequences: number of sequences, without empty ones.
        roots: how many of them are player 0's and player 1's ranges.
        terminals: payoff matrix over the hands there, sequences of these hands, and a factor.
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
    terminals: list[tuple[Floats, Pair, float]] = field(default_factory=list)
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
    def index(self) -> dict[tuple[int, ...], tuple[str, int]]:
        """By path: ("decision" or "leaf", its number in the template)."""
        decisions = {path: ("decision", number) for number, (_, path, _) in enumerate(self.spots)}
        return decisions | {path: ("leaf", number) for number, (_, path, _) in enumerate(self.leaves)}


_templates: "WeakKeyDictionary[PublicTree, dict[tuple[Hashable, int | None], Template]]" = WeakKeyDictionary()


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
    made = Template()
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
    made.terminals.append((inner, (sequences[0][rows], sequences[1][columns]), leaf.scale))


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


def united(rules: PublicTree, states: Sequence[PublicState], templates: Sequence[Template]) -> Subgames:
    """Copies of templates side by side as one tree and payoff."""
    sizes = np.array([made.sequences for made in templates])
    shifts = 2 + np.concatenate(([0], np.cumsum(sizes)))[:-1]
    counts = np.array([len(made.player) for made in templates])
    before = np.concatenate(([0], np.cumsum(counts)))[:-1]
    player, parent, level, actions, first = (
        np.concatenate(part) for part in zip(*(made.arrays for made in templates), strict=True)
    )
    shift = np.repeat(shifts, counts)
    pairs = list(zip(templates, shifts, strict=True))
    roots = [np.concatenate(([owner], *(root_numbers(made, owner) + begin for made, begin in pairs))) for owner in (0, 1)]
    numbering = numbered(
        player=player,
        level=level,
        actions=actions,
        first=first + shift,
        parent=parent + shift,
        root_player=np.repeat([0, 1], [len(roots[0]), len(roots[1])]),
        root_sequence=np.concatenate(roots),
        sequences=2 + int(sizes.sum()),
    )
    place_of = np.empty(len(numbering.order), np.int64)
    place_of[numbering.order] = np.arange(len(numbering.order))
    begun: list[list[Spot]] = [[(state, (), made.begun)] for state, made in zip(states, templates, strict=True)]
    table = stacked([found for made in templates for found in made.infosets])
    table = np.where(table >= 0, table + np.repeat(before, [len(made.infosets) for made in templates])[:, None], NONE)
    owners = np.full(len(numbering.final), NONE, np.int64)
    owners[numbering.final[2:]] = np.repeat(np.arange(len(templates)), sizes)
    return Subgames(
        rules=rules,
        tree=numbering.tree,
        payoff=payoff_of(numbering.tree, numbering.final, templates, shifts),
        roots=placed(begun, shifts, numbering.final),
        leaves=placed([made.leaves for made in templates], shifts, numbering.final),
        decisions=placed([made.spots for made in templates], shifts, numbering.final),
        infosets=np.where(table >= 0, place_of[table], NONE) if table.size else table,
        owners=owners,
        templates=tuple(templates),
    )


def root_numbers(made: Template, player: int) -> Ints:
    """The template's numbers of a player's ranges; player 0's come first."""
    return np.arange(made.roots[player]) + (made.roots[0] if player else 0)


def payoff_of(tree: Tree, final: Ints, templates: Sequence[Template], shifts: Ints) -> Payoff:
    """The operators of a batch: dense where the hands' sequences are neighbours, else entries of the sparse one."""
    dense, entries = Terminals(), []
    for made, shift in zip(templates, shifts, strict=True):
        for payoff, sequences, scale in made.terminals:
            own, other = final[sequences[0] + shift], final[sequences[1] + shift]
            if not len(own) or not len(other):
                continue
            if (np.diff(own) == 1).all() and (np.diff(other) == 1).all():
                dense.add(payoff, (int(own[0]), int(other[0])), scale)
                continue
            i, j = np.nonzero(payoff)
            values = scale * payoff[i, j]
            entries.append((np.stack((own[i], other[j]), axis=1).astype(np.int32), np.stack((values, -values), axis=1)))
    sparse = empty_sparse(len(final), 2)
    if entries:
        pairs, payoffs = (np.concatenate(part) for part in zip(*entries, strict=True))
        sparse = sparse_operator(tree, pairs, payoffs)
    return Payoff(sparse, dense.operator(np.arange(len(final))))


def placed(spots: Sequence[Sequence[Spot]], shifts: Ints, final: Ints) -> Places:
    """Places with final sequences, hands padded to the most of any."""
    owner = np.repeat(np.arange(len(spots)), [len(own) for own in spots])
    flat = [spot for own in spots for spot in own]
    moved = shifts[owner][:, None] if len(flat) else np.zeros((0, 1), np.int64)
    tables = []
    for player in (0, 1):
        table = stacked([sequences[player] for _, _, sequences in flat])
        tables.append(np.where(table >= 0, final[np.where(table >= 0, table + moved, 0)], NONE))
    return Places(owner, tuple(spot[0] for spot in flat), tuple(spot[1] for spot in flat), (tables[0], tables[1]))


def stacked(rows: Sequence[Ints]) -> Ints:
    """Rows of an array, padded with -1."""
    table = np.full((len(rows), max(map(len, rows), default=0)), NONE, np.int64)
    for k, row in enumerate(rows):
        table[k, : len(row)] = row
    return table
