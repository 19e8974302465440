"""Depth-limited subgames of public-tree rules, compiled many at once into one tree and payoff for the engine.

A subgame begins at a public state with a range of hands for each player and ends at terminal public nodes or, a given number
of actions below, at *leaves*, public states whose values somebody else must give. Ranges stand in the tree as root sequences,
one a hand, whose reach is set from outside; so the engine's reach, gradient, backup and update run on it unchanged, and a batch
of subgames is nothing but a tree with more blocks' rows: subgames with like nodes share blocks.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.form import Payoff, Sparse, Tree
from treeplex.engine.payoff import empty_sparse
from treeplex.errors import GameError
from treeplex.forms.assemble import Discovery, lay_out, sparse_operator
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
        states: the public states.
        sequences: for each player int64 [K, H_i], the last own sequence of each hand, -1 for hands that cannot be there.
    """

    owner: Ints
    states: tuple[PublicState, ...]
    sequences: tuple[Ints, Ints]

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True, eq=False)
class Subgames:
    """A batch of compiled subgames.

    Attributes:
        rules: the public-tree rules.
        tree, payoff: what the engine runs on.
        roots: where the ranges stand, one place a subgame.
        leaves: public states at which the batch is cut.
        decisions: the public states where somebody acts, in the order found (a subgame's root first).
        infosets: int64 [decisions, H], the infoset of each hand of the player to act, -1 for none.
    """

    rules: PublicTree
    tree: Tree
    payoff: Payoff
    roots: Places
    leaves: Places
    decisions: Places
    infosets: Ints


@dataclass
class Cutting:
    """What a walk over subgames has gathered so far; sequences are provisional."""

    rules: PublicTree
    found: Discovery = field(default_factory=lambda: Discovery(2))
    dense: Terminals = field(default_factory=Terminals)
    sparse: list[tuple[Ints, Floats]] = field(default_factory=list)
    terminals: list[tuple[Leaf, Floats, tuple[Ints, Ints]]] = field(default_factory=list)
    roots: list[tuple[int, PublicState, tuple[Ints, Ints]]] = field(default_factory=list)
    leaves: list[tuple[int, PublicState, tuple[Ints, Ints]]] = field(default_factory=list)
    decisions: list[tuple[int, PublicState, tuple[Ints, Ints]]] = field(default_factory=list)
    infosets: list[Ints] = field(default_factory=list)


def cut(rules: PublicTree, states: Sequence[PublicState], depth: int | None = None) -> Subgames:
    """Compile the subgames that begin at ``states`` and end ``depth`` actions (of players or chance) below; None: at the end.

    Raises:
        GameError: a subgame that begins at a terminal node, or rules that give no actions.
    """
    cutting = Cutting(rules)
    for owner, state in enumerate(states):
        if isinstance(rules.visit(state.node), Leaf):
            raise GameError(f"a subgame cannot begin at {state.node!r}, where the game is over")
        begun = (
            np.array([cutting.found.add_root(0) if can else NONE for can in there(state.weight, 0)]),
            np.array([cutting.found.add_root(1) if can else NONE for can in there(state.weight, 1)]),
        )
        cutting.roots.append((owner, state, begun))
    for owner, state, begun in cutting.roots:
        descend(cutting, owner, state, begun, depth)
    return finished(cutting)


def descend(cutting: Cutting, owner: int, root: PublicState, begun: tuple[Ints, Ints], depth: int | None) -> None:
    """Walk the public nodes of one subgame, parents first."""
    stack = [(root, begun, 0)]
    while stack:
        state, sequences, level = stack.pop()
        if not state.weight.any():
            continue
        visited = cutting.rules.visit(state.node)
        if isinstance(visited, Leaf):
            cutting.terminals.append((visited, state.weight, sequences))
            continue
        if depth is not None and level >= depth:
            cutting.leaves.append((owner, state, sequences))
            continue
        visited, after = state.successors(cutting.rules)
        below = [sequences] * len(after) if isinstance(visited, Chance) else decide(cutting, owner, state, visited, sequences)
        stack.extend((child, own, level + 1) for child, own in zip(reversed(after), reversed(below), strict=True))


def decide(
    cutting: Cutting, owner: int, state: PublicState, decision: "Decision | Chance | Leaf", sequences: tuple[Ints, Ints]
) -> list[tuple[Ints, Ints]]:
    """Register the infosets of a public state; return the sequences after each action."""
    assert isinstance(decision, Decision)
    if not decision.actions:
        raise GameError(f"no action at public node {state.node!r}; a node without actions must be a leaf")
    player, count = decision.player, len(decision.actions)
    possible = there(state.weight, player)
    infosets = np.full(len(possible), NONE, np.int64)
    first = np.full(len(possible), NONE, np.int64)
    for hand in np.flatnonzero(possible):
        infosets[hand] = cutting.found.add(player, int(sequences[player][hand]), "", decision.actions)
        first[hand] = cutting.found.first[infosets[hand]]
    cutting.decisions.append((owner, state, sequences))
    cutting.infosets.append(infosets)
    taken = [np.where(first >= 0, first + a, NONE) for a in range(count)]
    if decision.private:
        taken = [np.stack(taken, axis=1).ravel()]
    return [(own, sequences[1]) if player == 0 else (sequences[0], own) for own in taken]


def finished(cutting: Cutting) -> Subgames:
    """Number everything and build the payoff operators."""
    layout = lay_out(cutting.found)
    entries: list[tuple[NDArray[np.int32], Floats]] = []
    for leaf, weight, sequences in cutting.terminals:
        add_terminal(cutting, leaf, weight, tuple(located(layout.final, own) for own in sequences), entries)
    sparse: Sparse = empty_sparse(len(layout.final), 2)
    if entries:
        pairs, payoffs = np.concatenate([pair for pair, _ in entries]), np.concatenate([payoff for _, payoff in entries])
        sparse = sparse_operator(layout.tree, pairs, payoffs)
    order = np.empty(len(layout.infostates), np.int64)
    order[found_order(cutting.found)] = np.arange(len(order))
    infosets = np.full((len(cutting.infosets), max((len(row) for row in cutting.infosets), default=0)), NONE, np.int64)
    for row, found in zip(infosets, cutting.infosets, strict=True):
        row[: len(found)] = np.where(found >= 0, order[found], NONE)
    identity = np.arange(len(layout.final))
    return Subgames(
        rules=cutting.rules,
        tree=layout.tree,
        payoff=Payoff(sparse, cutting.dense.operator(identity)),
        roots=placed(cutting.roots, layout.final),
        leaves=placed(cutting.leaves, layout.final),
        decisions=placed(cutting.decisions, layout.final),
        infosets=infosets,
    )


def found_order(found: Discovery) -> Ints:
    """The number in the order of discovery of each infoset of the finished tree, as :func:`lay_out` sorts them."""
    player, level, actions = (np.asarray(part, np.int64) for part in (found.player, found.level, found.actions))
    return np.lexsort((actions, level, player))


def located(final: Ints, sequences: Ints) -> Ints:
    """Final numbers of provisional sequences, -1 staying -1."""
    return np.where(sequences >= 0, final[sequences], NONE)


def placed(places: list[tuple[int, PublicState, tuple[Ints, Ints]]], final: Ints) -> Places:
    """Places with final sequences, hands padded to the most of any."""
    widths = [max((len(sequences[player]) for _, _, sequences in places), default=0) for player in (0, 1)]
    tables = tuple(np.full((len(places), width), NONE, np.int64) for width in widths)
    for k, (_, _, sequences) in enumerate(places):
        for table, own in zip(tables, sequences, strict=True):
            table[k, : len(own)] = located(final, own)
    owner = np.array([number for number, _, _ in places], np.int64)
    return Places(owner, tuple(state for _, state, _ in places), (tables[0], tables[1]))


def add_terminal(
    cutting: Cutting,
    leaf: Leaf,
    weight: Floats,
    sequences: tuple[Ints, ...],
    entries: list[tuple[NDArray[np.int32], Floats]],
) -> None:
    """A terminal node: a dense operator where both players' sequences are neighbours, else entries of the sparse one."""
    payoff = weight * leaf.matrix
    if not np.isfinite(payoff).all() or not np.isfinite(leaf.scale):
        raise GameError("a payoff of a subgame is not finite")
    rows, columns = (np.flatnonzero(own >= 0) for own in sequences)
    if not len(rows) or not len(columns):
        return
    payoff = payoff[np.ix_(rows, columns)]
    first, second = sequences[0][rows], sequences[1][columns]
    if (np.diff(first) == 1).all() and (np.diff(second) == 1).all():
        cutting.dense.add(np.ascontiguousarray(payoff), (int(first[0]), int(second[0])), leaf.scale)
        return
    i, j = np.nonzero(payoff)
    values = leaf.scale * payoff[i, j]
    entries.append((np.stack((first[i], second[j]), axis=1).astype(np.int32), np.stack((values, -values), axis=1)))
