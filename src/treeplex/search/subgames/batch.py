"""Batches of depth-limited subgames of a public tree, compiled into one tree and payoff for the engine.

A subgame begins at a public state with a range of hands for each player and ends at terminal public nodes or, at its
``search.subgames.horizon.Horizon``, at *leaves*, public states whose values are supplied by a leaf-value function. Ranges are
root sequences of the tree, one per hand, whose reach is set before each traversal. So the engine's reach, gradient, backup and
update run on it unchanged. A batch of subgames is a tree with longer blocks: each distinct subgame is traversed once, as a
*template* (:mod:`treeplex.search.subgames.templates`), and copies of templates are joined by array operations.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.form import Payoff, Tree, new_state, workspace
from treeplex.engine.tree.gradient import empty_sparse, gradient
from treeplex.engine.tree.leaves import PairWeights, gather, scatter, write_opposing_mass
from treeplex.engine.tree.regret import Weights, accumulate, update
from treeplex.engine.tree.sweeps import backup, best_response, normalise, reach
from treeplex.forms.compile.assemble import sparse_operator
from treeplex.games.public import PublicState, PublicTree
from treeplex.search.leaf import LeafValue, ManyValued, leaf_values
from treeplex.search.subgames.beliefs import normalised_range
from treeplex.search.subgames.gadgets import Gadget
from treeplex.search.subgames.horizon import TO_THE_END, Horizon
from treeplex.search.subgames.response import PairResponse
from treeplex.search.subgames.subgame import Places, Ranges, Subgame, SubgameArrays
from treeplex.search.subgames.templates import NONE, Matrices, Template, layout_of, template
from treeplex.search.warm_start.batch import regrets_of_guess, write_guess
from treeplex.search.warm_start.guess import Guess, GuessRegrets

if TYPE_CHECKING:
    from treeplex.search.subgame_search import SubgameSearch


@dataclass(frozen=True, eq=False, repr=False)
class PairPlaces(Places):
    """Public states inside a batch of subgames, and each player's sequences at them.

    Attributes:
        game: the public-tree rules.
        owner: int64 [K], the subgame of each state.
        states: the public states; a state may be represented by another one with the same future.
        paths: the actions and chance outcomes from the subgame's root to each state.
        sequences: int64 [K, H_i] for each player, the last own sequence of each hand, -1 for impossible hands.
        begun: the roots of their subgames.
    """

    game: PublicTree
    owner: Ints
    states: tuple[PublicState, ...]
    paths: tuple[tuple[int, ...], ...]
    sequences: tuple[Ints, Ints]
    begun: tuple[PublicState, ...]

    @property
    def trees(self) -> "PairPlaces":
        return self

    @cached_property
    def true_states(self) -> tuple[PublicState, ...]:
        """The actual public states; :attr:`states` may contain other states with the same future."""
        nodes = (walked(self.game, self.begun[owner].node, path) for owner, path in zip(self.owner, self.paths, strict=True))
        return tuple(PublicState(node, state.weight) for node, state in zip(nodes, self.states, strict=True))

    @property
    def widths(self) -> tuple[int, ...]:
        return self.sequences[0].shape[1], self.sequences[1].shape[1]

    def opposing(self, reached: Ranges, player: int) -> Floats:
        mass = np.zeros(self.sequences[player].shape)
        write_opposing_mass(self.weights, player, reached[1 - player], mass)
        return mass

    @cached_property
    def dealt(self) -> Ranges:
        dealt = tuple(np.zeros(sequences.shape) for sequences in self.sequences)
        for weight, rows in self.groups:
            dealt[0][rows, : weight.shape[0]] = weight.sum(axis=1)
            dealt[1][rows, : weight.shape[1]] = weight.sum(axis=0)
        return dealt

    @property
    def possible(self) -> Ranges:
        return tuple((dealt > 0).astype(np.float64) for dealt in self.dealt)

    def reach_at(self, strategy: Floats) -> Ranges:
        """Reach of every hand of both players at these states under a strategy of the batch, float64 [K, H_i]."""
        reaches = []
        for sequences in self.sequences:
            arrived = np.empty(sequences.shape)
            gather(sequences, strategy, arrived)
            reaches.append(arrived)
        return tuple(reaches)

    @cached_property
    def groups(self) -> list[tuple[Floats, Ints]]:
        """The states grouped by their hand-pair weights, as pairs (weights, rows)."""
        groups: dict[int, tuple[Floats, list[int]]] = {}
        for k, state in enumerate(self.states):
            groups.setdefault(id(state.weight), (state.weight, []))[1].append(k)
        return [(weight, np.array(rows)) for weight, rows in groups.values()]

    @cached_property
    def weights(self) -> PairWeights:
        """:attr:`groups` as flat arrays for the engine."""
        matrices, rows = [weight for weight, _ in self.groups], [rows for _, rows in self.groups]
        shapes = np.array([matrix.shape for matrix in matrices], np.int64).reshape(-1, 2)
        ends = np.cumsum([len(indices) for indices in rows], dtype=np.int64)
        flat = np.concatenate([np.empty(0), *(matrix.ravel() for matrix in matrices)])
        return PairWeights(flat, shapes, ends, np.concatenate([np.empty(0, np.int64), *rows]))


@dataclass(frozen=True, eq=False, repr=False)
class Subgames(Subgame):
    """A batch of compiled subgames.

    Attributes:
        game: the public-tree rules.
        tree, payoff: input of the engine.
        roots: the public states where the subgames begin, one per subgame.
        leaves: public states at the cut.
        infosets: int64 [decisions, H], the infoset of each hand of the player to act at each decision; -1 for impossible hands.
        owners: int64 [Q], the subgame of each sequence; -1 for the two empty sequences, which are unused.
        templates: the template of each subgame.
        shifts, final: each template's first provisional sequence number, and the final numbers of all sequences in the tree.
        ranges: float64 [B, H_i] for each player, the ranges at the cut, up to a factor.
    """

    game: PublicTree
    tree: Tree
    payoff: Payoff
    roots: PairPlaces
    leaves: PairPlaces
    infosets: Ints
    owners: Ints
    templates: tuple[Template, ...]
    shifts: Ints
    final: Ints
    ranges: Ranges
    gadget: Gadget | None = None

    @cached_property
    def decisions(self) -> PairPlaces:
        """The public states where players act, starting in each subgame with the root if a player acts there."""
        return placed(self.game, "decisions", self.roots.states, self.templates, self.shifts, self.final)

    def node_at(self, owner: int, path: tuple[int, ...]) -> Hashable:
        """Return the public node of the decision at the end of a path in a subgame."""
        made = self.templates[owner]
        return made.decisions[made.index[path][1]][0].node

    @cached_property
    def first_decision(self) -> Ints:
        """Index of each subgame's first decision, int64 [B]; a subgame's decisions are contiguous."""
        return np.concatenate(([0], np.cumsum([len(made.decisions) for made in self.templates])))[:-1]

    @cached_property
    def first_leaf(self) -> Ints:
        """Index of each subgame's first leaf, int64 [B]; a subgame's leaves are contiguous."""
        return np.concatenate(([0], np.cumsum([len(made.leaves) for made in self.templates])))[:-1]

    def find(self, owner: int, path: tuple[int, ...]) -> tuple[str, int]:
        kind, number = self.templates[owner].index.get(path, ("end", NONE))
        if kind == "end":
            return kind, number
        return kind, number + int((self.first_decision if kind == "decision" else self.first_leaf)[owner])

    def start(self, ranges: Ranges | None = None, *, predicts: bool = True) -> "BatchArrays":
        return BatchArrays(self, self.ranges if ranges is None else ranges)

    @property
    def size(self) -> int:
        return len(self.owners)

    def policy_at(self, decision: int, source: NDArray[Any]) -> Floats:
        state = self.decisions.states[decision]
        infosets = self.infosets[decision, : state.weight.shape[self.game.options(state).player]]
        actions = int(self.tree.infoset_layout[infosets[infosets >= 0][0], 2])
        table = np.full((actions, len(infosets)), 1.0 / actions)
        for hand in np.flatnonzero(infosets >= 0):
            first, stride, _ = self.tree.infoset_layout[infosets[hand]]
            table[:, hand] = source[first : first + stride * actions : stride]
        return table

    def reach_from(self, ranges: Ranges, policy: Floats) -> Floats:
        """Compute a policy's strategy, both float64 [Q], from each player's ranges at the roots, float64 [B, H_i]."""
        strategy = np.zeros_like(policy)
        for player in (0, 1):
            place(self.roots.sequences[player], ranges[player], strategy)
            reach(self.tree, player, policy, strategy)
        return strategy

    def ranges_after(self, source: NDArray[Any], path: tuple[int, ...], ranges: Ranges) -> Ranges:
        _, leaf = self.find(0, path)
        arrived = self.leaves.reach_at(self.reach_from(self.checked(ranges), np.asarray(source, np.float64)))
        return tuple(reach[leaf, :size] for reach, size in zip(arrived, self.leaves.states[leaf].weight.shape, strict=True))

    def checked(self, ranges: Ranges) -> Ranges:
        """Check and normalise ranges at the roots, each to sum to one over possible hands, float64 [B, H_i]."""
        given = (np.asarray(weights, np.float64) for weights in ranges)
        return tuple(normalised_range(weights, can) for weights, can in zip(given, self.roots.possible, strict=True))

    def action_values(self, policy: NDArray[Any], ranges: Ranges, leaf: LeafValue, path: tuple[int, ...]) -> Floats | None:
        """See :meth:`treeplex.search.subgames.subgame.Subgame.action_values`; only for a single subgame."""
        if isinstance(leaf, ManyValued) and max(leaf.continuations) > 1 and len(self.leaves):
            return None
        decision = self.find(0, path)[1]
        player = self.game.options(self.decisions.states[decision]).player
        arrays = self.start(ranges, predicts=False)
        arrays.policy[:] = policy
        for i in (0, 1):
            arrays.play(i)
        arrays.write_gradient(player, arrays.strategy)
        if len(self.leaves):
            reached = arrays.reach_at_leaves(arrays.strategy)
            worth = leaf_values(leaf, self.leaves, reached, reached, player)[player]
            arrays.write_leaves(player, worth * self.leaves.opposing(reached, player))
        entries = arrays.backed_up(player)
        met = self.decisions.opposing(self.decisions.reach_at(arrays.strategy), player)[decision]
        infosets = self.infosets[decision, : self.decisions.states[decision].weight.shape[player]]
        hands = np.flatnonzero((infosets >= 0) & (met[: len(infosets)] > 0))
        first, stride, count = self.tree.infoset_layout[infosets[infosets >= 0]].T
        values = np.full((int(count[0]), len(infosets)), np.nan)
        first, stride, _ = self.tree.infoset_layout[infosets[hands]].T
        values[:, hands] = entries[first + np.arange(len(values))[:, None] * stride] / met[hands]
        return values

    def responses(self, policy: NDArray[Any], player: int, leaf_values: Floats | None) -> PairResponse:
        arrays, other = self.start(), 1 - player
        arrays.policy[:] = policy
        arrays.play(other)
        arrays.write_gradient(player, arrays.strategy)
        entries = np.zeros((0, self.leaves.widths[player]))
        if leaf_values is not None and len(self.leaves):
            entries = leaf_values * self.leaves.opposing(arrays.reach_at_leaves(arrays.strategy), player)
            arrays.write_leaves(player, entries)
        arrays.respond(player)
        return PairResponse(self, arrays, player, entries)

    def write_guess(self, search: "SubgameSearch", guess: Guess) -> None:
        write_guess(search, guess)

    def regrets_of_guess(self, search: "SubgameSearch", weight: float) -> GuessRegrets:
        return regrets_of_guess(search, weight)

    @property
    def trees(self) -> "Subgames":
        return self


class BatchArrays(SubgameArrays):
    """A batch of subgames being solved; in fictitious play the policy holds the latest best responses.

    Attributes:
        subgames: the batch.
    """

    def __init__(self, subgames: Subgames, ranges: Ranges) -> None:
        """Start from the uniform policy."""
        self.subgames, tree = subgames, subgames.tree
        size = int(tree.sequence_offsets[-1])
        inner = tree.sequence_infoset >= 0
        self.policy = np.ones(size)
        self.policy[inner] = 1.0 / tree.infoset_layout[tree.sequence_infoset[inner], 2]
        self.average, self.faced, self.regrets = (np.zeros(size) for _ in range(3))
        self.ranges = subgames.checked(ranges)
        self.strategy = subgames.reach_from(self.ranges, self.policy)
        self._work = workspace(tree)
        self._state = new_state(self.policy, regrets=self.regrets, strategy=self.strategy, averages=self.average[None])

    def enter(self, player: int, ranges: Floats) -> None:
        place(self.subgames.roots.sequences[player], ranges, self.strategy)

    def play(self, player: int) -> None:
        reach(self.subgames.tree, player, self.policy, self.strategy)

    def accumulate(self, player: int, discount: float, weight: float, average: Floats, strategy: Floats) -> None:
        accumulate(self.subgames.tree, player, discount, weight, strategy, average)

    def reach_at_leaves(self, strategy: Floats) -> Ranges:
        return self.subgames.leaves.reach_at(strategy)

    def write_gradient(self, player: int, strategy: Floats) -> None:
        gradient(self.subgames.tree, self.subgames.payoff, player, strategy, self._work.values)

    def write_leaves(self, player: int, entries: Floats) -> None:
        scatter(self.subgames.leaves.sequences[player], entries, self._work.values)

    def improve(self, player: int, row: Weights) -> None:
        update(self.subgames.tree, player, np.array(row), self._state, self._work)

    def respond(self, player: int) -> None:
        best_response(self.subgames.tree, player, self._work.values, self._work.infoset_values, self.policy)

    def backed_up(self, player: int) -> Floats:
        """Counterfactual action values of a player under the current policy, float64 [Q]; call after :meth:`write_gradient`."""
        backup(self.subgames.tree, player, self.policy, self._work.values, self._work.infoset_values)
        return self._work.values

    @property
    def infoset_values(self) -> Floats:
        """Counterfactual infoset values of the player who last improved or responded, float64 [I]; scratch space."""
        return self._work.infoset_values

    def root_entries(self, player: int) -> Floats:
        sequences = self.subgames.roots.sequences[player]
        entries = np.zeros(sequences.shape)
        gather(sequences, self._work.values, entries)
        return entries

    def as_policy(self, strategy: Floats) -> Floats:
        policy = self.policy.copy()
        for player in (0, 1):
            normalise(self.subgames.tree, player, strategy, policy)
        return policy


def place(sequences: Ints, entries: Floats, strategy: Floats) -> None:
    """Write ``entries`` [K, H] to ``strategy`` at ``sequences``, skipping -1."""
    there = sequences >= 0
    strategy[sequences[there]] = entries[there]


_templates: "WeakKeyDictionary[PublicTree, dict[tuple[Hashable, Horizon], Template]]" = WeakKeyDictionary()
_stores: "WeakKeyDictionary[PublicTree, Matrices]" = WeakKeyDictionary()


def cut_states(
    rules: PublicTree,
    states: Sequence[PublicState],
    horizon: Horizon = TO_THE_END,
    ranges: Ranges | None = None,
    gadget: Gadget | None = None,
) -> Subgames:
    """Compile the subgames that begin at ``states`` and end at a horizon.

    Args:
        rules: the game.
        states: the states where they begin.
        horizon: the horizon where they end.
        ranges: float64 [B, H_i] for each player, the initial ranges; None for all hands as dealt.
        gadget: the gadget in front of the subgames; None for none.

    Returns:
        The batch.

    Raises:
        GameError: a subgame that begins at a terminal node, or a decision without actions.
    """
    known = _templates.setdefault(rules, {})
    templates = []
    for state in states:
        key = rules.future(state.node), horizon
        if key not in known:
            known[key] = template(rules, state, horizon, _stores.setdefault(rules, Matrices()))
        templates.append(known[key])
    return united(rules, states, templates, ranges, gadget)


def united(
    rules: PublicTree,
    states: Sequence[PublicState],
    templates: Sequence[Template],
    ranges: Ranges | None,
    gadget: Gadget | None,
) -> Subgames:
    """Join copies of templates into one tree and payoff."""
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
    roots = PairPlaces(rules, numbers, tuple(states), ((),) * len(states), (begun[0], begun[1]), tuple(states))
    return Subgames(
        game=rules,
        tree=tree,
        payoff=payoff_of(tree, final, templates, shifts),
        roots=roots,
        leaves=placed(rules, "leaves", states, templates, shifts, final),
        infosets=located(table, place_of),
        owners=owners,
        templates=tuple(templates),
        shifts=shifts,
        final=final,
        ranges=roots.possible if ranges is None else ranges,
        gadget=gadget,
    )


def payoff_of(tree: Tree, final: Ints, templates: Sequence[Template], shifts: Ints) -> Payoff:
    """The payoff operators of a batch: dense if the hands' sequences are contiguous, otherwise sparse."""
    entries = []
    for made, shift in zip(templates, shifts, strict=True):
        for number, scale, sequences in made.scattered:
            first, other, payoff = final[sequences[0] + shift], final[sequences[1] + shift], made.store.matrices[number]
            i, j = np.nonzero(payoff)
            values = scale * payoff[i, j]
            entries.append((np.stack((first[i], other[j]), axis=1).astype(np.int32), np.stack((values, -values), axis=1)))
    sparse = empty_sparse(len(final), 2)
    if entries:
        pairs, payoffs = (np.concatenate(part) for part in zip(*entries, strict=True))
        sparse = sparse_operator(tree, pairs, payoffs)
    numbers, starts, scales = (np.concatenate(part) for part in zip(*(made.dense for made in templates), strict=True))
    shift = np.repeat(shifts, [len(made.dense[0]) for made in templates])
    return Payoff(sparse, templates[0].store.operator(numbers, final[starts + shift[:, None]], scales))


def walked(rules: PublicTree, node: Hashable, path: Sequence[int]) -> Hashable:
    """Return the public node at the end of a path."""
    for label in path:
        node = rules.child(node, label)
    return node


def placed(
    rules: PublicTree, name: str, states: Sequence[PublicState], templates: Sequence[Template], shifts: Ints, final: Ints
) -> PairPlaces:
    """Return the leaves or the decisions of a batch, with final sequence numbers."""
    listed = [made.leaves if name == "leaves" else made.decisions for made in templates]
    tables = [located(joined([made.tables[name][player] for made in templates], shifts), final) for player in (0, 1)]
    return PairPlaces(
        game=rules,
        owner=np.repeat(np.arange(len(listed)), [len(of_template) for of_template in listed]),
        states=tuple(state for of_template in listed for state, _, _ in of_template),
        paths=tuple(path for of_template in listed for _, path, _ in of_template),
        sequences=(tables[0], tables[1]),
        begun=tuple(states),
    )


def located(table: Ints, final: Ints) -> Ints:
    """Convert provisional sequence numbers to final ones; -1 stays -1."""
    return np.where(table >= 0, final[np.maximum(table, 0)], NONE) if table.size else table


def joined(tables: Sequence[Ints], shifts: Ints) -> Ints:
    """Stack tables, each with its shift added, padded with -1."""
    widest = max(table.shape[1] for table in tables)
    sizes = [len(table) for table in tables]
    whole = np.full((sum(sizes), widest), NONE, np.int64)
    first = 0
    for table, size in zip(tables, sizes, strict=True):
        whole[first : first + size, : table.shape[1]] = table
        first += size
    return np.where(whole >= 0, whole + np.repeat(shifts, sizes)[:, None], NONE)
