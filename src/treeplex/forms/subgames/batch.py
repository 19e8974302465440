"""Depth-limited subgames of public-tree rules, compiled many at once into one tree and payoff for the engine.

A subgame begins at a public state with a range of hands for each player and ends at terminal public nodes or, at its
``forms.subgames.horizon.Horizon``, at *leaves*, public states whose values somebody else must give. Ranges stand in
the tree as root sequences, one a hand, whose reach is set from outside; so the engine's reach, gradient, backup and update run
on it unchanged. A batch of subgames is a tree with longer blocks: every subgame is walked once, as a *template*
(:mod:`treeplex.forms.subgames.templates`), and copies of templates are put side by side by array arithmetic.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.form import Payoff, Tree
from treeplex.engine.tree.gradient import empty_sparse
from treeplex.engine.tree.leaves import Weights
from treeplex.forms.compile.assemble import sparse_operator
from treeplex.forms.subgames.horizon import TO_THE_END, Horizon
from treeplex.forms.subgames.public_states import PublicState
from treeplex.forms.subgames.templates import NONE, Store, Template, layout_of, template
from treeplex.games.public import PublicTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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

    @cached_property
    def weights(self) -> Weights:
        """The same for the engine."""
        matrices, rows = [weight for weight, _ in self.groups], [rows for _, rows in self.groups]
        shapes = np.array([matrix.shape for matrix in matrices], np.int64).reshape(-1, 2)
        ends = np.cumsum([len(own) for own in rows], dtype=np.int64)
        flat = np.concatenate([np.empty(0), *(matrix.ravel() for matrix in matrices)])
        return Weights(flat, shapes, ends, np.concatenate([np.empty(0, np.int64), *rows]))


@dataclass(frozen=True, eq=False)
class Subgames:
    """A batch of compiled subgames.

    Attributes:
        rules: the public-tree rules.
        tree, payoff: what the engine runs on.
        roots: where the ranges stand, one place a subgame.
        leaves: public states at which the batch is cut.
        infosets: int64 [decisions, H], the infoset of each hand of the player to act at each decision, -1 for none.
        owners: int64 [Q], the subgame of each sequence; -1 for the players' empty sequences, which nothing uses.
        templates: the template of each subgame.
        shifts, final: where each template's numbers of sequences begin, and the tree's numbers of all those.
    """

    rules: PublicTree
    tree: Tree
    payoff: Payoff
    roots: Places
    leaves: Places
    infosets: Ints
    owners: Ints
    templates: tuple[Template, ...]
    shifts: Ints
    final: Ints

    @cached_property
    def decisions(self) -> Places:
        """The public states where somebody acts; the first of each subgame is its root, if somebody acts there."""
        return placed("spots", self.templates, self.shifts, self.final)

    def node_at(self, owner: int, path: tuple[int, ...]) -> Hashable:
        """The public node of the decision at the end of a path in a subgame."""
        made = self.templates[owner]
        return made.spots[made.index[path][1]][0].node

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


_templates: "WeakKeyDictionary[PublicTree, dict[tuple[Hashable, Horizon], Template]]" = WeakKeyDictionary()
_stores: "WeakKeyDictionary[PublicTree, Store]" = WeakKeyDictionary()


def cut(rules: PublicTree, states: Sequence[PublicState], horizon: Horizon = TO_THE_END) -> Subgames:
    """Compile the subgames that begin at ``states`` and end at a horizon.

    Raises:
        GameError: a subgame that begins at a terminal node, or rules that give no actions.
    """
    known = _templates.setdefault(rules, {})
    templates = []
    for state in states:
        key = rules.future(state.node), horizon
        if key not in known:
            known[key] = template(rules, state, horizon, _stores.setdefault(rules, Store()))
        templates.append(known[key])
    return united(rules, states, templates)


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
        infosets=located(table, place_of),
        owners=owners,
        templates=tuple(templates),
        shifts=shifts,
        final=final,
    )


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
    sizes = [len(table) for table in tables]
    whole = np.full((sum(sizes), widest), NONE, np.int64)
    first = 0
    for table, size in zip(tables, sizes, strict=True):
        whole[first : first + size, : table.shape[1]] = table
        first += size
    return np.where(whole >= 0, whole + np.repeat(shifts, sizes)[:, None], NONE)
