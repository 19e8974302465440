"""Compile public-tree rules from hands and public nodes, without enumerating histories."""

from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.form import Dense, Payoff
from treeplex.engine.tree.gradient import empty_dense, empty_sparse
from treeplex.errors import GameError, TreeplexError
from treeplex.forms.compile.assemble import PROBABILITY_TOLERANCE, Discovery, Layout, lay_out
from treeplex.forms.compile.compiled_game import CompiledGame, GameSize
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.views.lazy_infostates import LazyInfostates
from treeplex.games.base import Game
from treeplex.games.public import Chance, Decision, PublicTree, Terminal
from treeplex.games.size_estimate import Count, Playout, SizeCheck

MOST_SEQUENCES = 50_000_000
"""Default limit of sequences (about eight gigabytes)."""

WRITTEN = 1_000_000
"""Largest number of infosets whose infostate strings are computed and checked when compiling."""


@dataclass(frozen=True)
class Slice:
    """A player's last sequence at a public node, one per hand.

    Attributes:
        first: provisional number of the first hand's sequence.
        stride: step between the sequences of neighbouring hands (provisional).
        hands: the hands, int64 [n]; None for the empty sequence, which all hands share.
    """

    first: int
    stride: int
    hands: Ints | None

    def sequences(self, hands: Ints) -> Ints:
        """Return the provisional sequence of each hand."""
        if self.hands is None:
            return np.full(len(hands), self.first)
        return self.first + self.stride * np.searchsorted(self.hands, hands)


class Spread:
    """The possible pairs of hands at a public node; nodes between the same deals share them.

    Attributes:
        weight: float64 [hands, hands], the probability of each pair.
        orders: number of orders in which the rules deal the public cards.
        deals: number of histories.
        hands: possible hands of each player.
        largest: maximum number of histories of one hand, per player.
    """

    def __init__(self, weight: Floats, deals: Ints, orders: int = 1) -> None:
        possible = np.where(weight > 0, orders * deals, 0)
        self.weight, self.orders, self.deals = weight, orders, int(possible.sum())
        sums = possible.sum(axis=1), possible.sum(axis=0)
        self.hands = tuple(np.flatnonzero((weight > 0).any(axis=1 - player)) for player in (0, 1))
        self.largest = tuple(int(deal_sums.max(initial=0)) for deal_sums in sums)


@dataclass
class NodeInfostates(LazyInfostates):
    """Infostate strings by public node and hand, computed on demand.

    Attributes:
        rules: the rules.
        nodes: the public decision nodes.
        node, player, hand: [I], of each infoset.
    """

    rules: PublicTree
    nodes: list[Hashable]
    node: NDArray[np.int32]
    player: NDArray[np.int8]
    hand: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.node)

    def written(self, infoset: int) -> str:
        node, player, hand = (int(column[infoset]) for column in (self.node, self.player, self.hand))
        return self.rules.infostate(self.nodes[node], player, hand)


@dataclass
class Terminals:
    """Leaves grouped by shared payoff matrix."""

    matrices: list[Floats] = field(default_factory=list)
    numbers: dict[tuple[bytes, tuple[int, ...]], int] = field(default_factory=dict)
    matrix: list[int] = field(default_factory=list)
    starts: list[tuple[int, int]] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)

    def add(self, matrix: Floats, starts: tuple[int, int], scale: float) -> None:
        """Record one terminal: ``scale * x0 @ matrix @ x1``.

        The largest entry goes into the scale, so that entries are mostly 0, 1 and -1: sums over them round less, and more
        leaves share a matrix.
        """
        largest = float(np.abs(matrix).max())
        if largest == 0.0 or scale == 0.0:
            return
        matrix, scale = matrix / largest, scale * largest
        number = self.numbers.setdefault((matrix.tobytes(), matrix.shape), len(self.matrices))
        if number == len(self.matrices):
            self.matrices.append(matrix)
        self.matrix.append(number)
        self.starts.append(starts)
        self.scales.append(scale)

    def operator(self, final: Ints) -> Dense:
        """Return the dense operator with final sequence numbers."""
        if not self.matrices:
            return empty_dense()
        order = np.argsort(np.array(self.matrix), kind="stable")
        counts = np.bincount(self.matrix, minlength=len(self.matrices))
        ends = np.cumsum(counts)
        shapes = np.array([matrix.shape for matrix in self.matrices])
        offsets = np.concatenate(([0], np.cumsum(shapes.prod(axis=1))))[:-1]
        groups = np.stack((offsets, shapes[:, 0], shapes[:, 1], ends - counts, ends), axis=1)
        flat = np.concatenate([matrix.ravel() for matrix in self.matrices])
        return Dense(flat, groups, final[np.array(self.starts)[order]], np.array(self.scales)[order])


@dataclass
class PublicWalk:
    """State of a walk over public nodes.

    Attributes:
        nodes, counts: decision nodes, and the number of infosets of each.
        hands: hand of each infoset.
        seen: infostate strings so far, while there are few.
    """

    rules: PublicTree
    found: Discovery = field(default_factory=lambda: Discovery(2))
    terminals: Terminals = field(default_factory=Terminals)
    names: tuple[dict[int, str], dict[int, str]] = field(default_factory=lambda: ({}, {}))
    nodes: list[Hashable] = field(default_factory=list)
    hands: "array[int]" = field(default_factory=lambda: array("i"))
    counts: "array[int]" = field(default_factory=lambda: array("i"))
    seen: set[tuple[int, str]] = field(default_factory=set)
    histories: int = 0
    terminal_histories: int = 0
    depth: int = 0
    largest_infoset: int = 0
    public_states: int = 0


def compile_public_tree(
    game: Game, rules: PublicTree, *, limit: int | None = None, watch: Callable[[int], None] | None = None
) -> CompiledGame:
    """Compile ``rules``, the public-tree rules of ``game``.

    Args:
        game: the game itself.
        rules: its public-tree rules.
        limit: maximum number of sequences, default :data:`MOST_SEQUENCES`; clearly larger games are refused early.
        watch: called periodically with the number of histories so far.

    Returns:
        The compiled game.

    Raises:
        GameError: the prior or chance weights are not distributions, a payoff is not finite, a node has no or repeated actions,
            two public nodes share an infostate, there are too many sequences, or a method raises an exception.
    """
    with locating_errors("at the deal"):
        prior, deals, depth = np.asarray(rules.prior, np.float64), np.asarray(rules.deals), rules.deal_depth + 1
        walk = PublicWalk(rules, histories=rules.deal_histories)
    if prior.ndim != 2 or deals.shape != prior.shape:
        raise GameError(f"prior of {game} has shape {prior.shape} and deals {deals.shape}; give both as arrays [H0, H1]")
    if not abs(prior.sum() - 1.0) <= PROBABILITY_TOLERANCE or not (prior >= 0).all():
        raise GameError(f"the prior over hands of {game} sums to {prior.sum():.12g}, not 1, or has negative entries")
    root = (Slice(0, 0, None), Slice(1, 0, None))
    most = MOST_SEQUENCES if limit is None else limit
    count, visits = sequence_count(rules, prior), 0
    check = SizeCheck(str(game), sequence_playout(rules, prior), most, unit="sequences", count=count)
    stack: list[tuple[Hashable, Spread, tuple[Slice, Slice], int]] = []
    stack.append((rules.root, Spread(prior, deals), root, depth))
    while stack:
        visits += 1
        if visits >= check.next_look:
            check.look(visits, len(walk.found.action_ids))
            if watch is not None:
                watch(walk.histories)
        node, spread, slices, depth = stack.pop()
        if not len(spread.hands[0]):
            continue  # no pair of hands is possible here
        walk.depth = max(walk.depth, depth)
        walk.histories += spread.deals
        with locating_errors("at public node", node):
            visited = rules.visit(node)
            if isinstance(visited, Terminal):
                add_terminal(walk, node, visited, spread, slices)
            elif isinstance(visited, Chance):
                check_chance(node, visited, spread.weight)
                walk.histories += spread.deals * visited.between
                for label, probability in reversed(visited.outcomes):
                    after_chance = Spread(spread.weight * probability, deals, spread.orders * visited.orders)
                    stack.append((rules.child(node, label), after_chance, slices, depth + visited.steps))
            else:
                below = add_decision(walk, node, visited, spread, slices)
                for action, after in zip(reversed(visited.actions), reversed(below), strict=True):
                    stack.append((rules.child(node, action), spread, after, depth + 1))
    layout = lay_out(walk.found)
    return CompiledGame(
        spec=game.spec,
        players=2,
        tree=layout.tree,
        payoff=Payoff(empty_sparse(len(layout.final), 2), walk.terminals.operator(layout.final)),
        infostates=infostates_of(walk, layout),
        action_ids=layout.action_ids,
        action_names=walk.names,
        size=GameSize(walk.histories, walk.terminal_histories, walk.depth, walk.largest_infoset, walk.public_states),
        constant=0.0,
        rules=game,
    )


@contextmanager
def locating_errors(where: str, *nodes: Hashable) -> Iterator[None]:
    """Convert exceptions of rules to a :class:`GameError` that names the place."""
    try:
        yield
    except (TreeplexError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise failed_rules(error, " ".join([where, *map(repr, nodes)])) from error


def infostates_of(walk: PublicWalk, layout: Layout) -> Sequence[str]:
    """Return the infostate strings in final order, computed on demand if there are many."""
    if layout.infostates:
        return layout.infostates
    node = np.repeat(np.arange(len(walk.nodes), dtype=np.int32), np.frombuffer(walk.counts, np.int32))
    player, hand = np.frombuffer(walk.found.player, np.int8), np.frombuffer(walk.hands, np.int32)
    return NodeInfostates(walk.rules, walk.nodes, node[layout.order], player[layout.order], hand[layout.order])


def sequence_count(rules: PublicTree, prior: Floats) -> Count:
    """Return a function that counts sequences; it ignores blocked hands and counts nodes with equal futures once."""
    hands = [int((prior > 0).any(axis=1 - player).sum()) for player in (0, 1)]

    def count(deadline: float) -> int | None:
        below: dict[Hashable, int] = {}
        ready: list[tuple[Hashable, int, list[Hashable]]] = []
        stack: list[tuple[Hashable, Hashable] | None] = [(rules.root, rules.future(rules.root))]
        while stack:
            entry = stack.pop()
            if entry is None:  # the subtree of the last ready node is counted
                future, sequences, futures = ready.pop()
                below[future] = sequences + sum(below[known] for known in futures)
                continue
            node, future = entry
            if future in below:
                continue
            if perf_counter() >= deadline:
                return None
            visited = rules.visit(node)
            if isinstance(visited, Terminal):
                below[future] = 0
                continue
            actions = [label for label, _ in visited.outcomes] if isinstance(visited, Chance) else visited.actions
            children = [(child, rules.future(child)) for child in (rules.child(node, action) for action in actions)]
            sequences = hands[visited.player] * len(actions) if isinstance(visited, Decision) else 0
            ready.append((future, sequences, [known for _, known in children]))
            stack += [None, *children]
        return below[rules.future(rules.root)]

    return count


def sequence_playout(rules: PublicTree, prior: Floats) -> Playout:
    """Return a playout function that estimates the number of sequences of public-tree rules."""

    def play(random: Random, deadline: float) -> int:
        node, possible = rules.root, prior > 0
        total, product = 0, 1
        while perf_counter() < deadline and possible.any() and not isinstance(visited := rules.visit(node), Terminal):
            if isinstance(visited, Chance):
                action, weight = random.choice(visited.outcomes)
                product *= len(visited.outcomes)
                possible = possible & (weight > 0)
            else:
                product *= len(visited.actions)
                total += product * int(possible.any(axis=1 - visited.player).sum())
                action = random.choice(visited.actions)
            node = rules.child(node, action)
        return total

    return play


def check_chance(node: Hashable, chance: Chance, weight: Floats) -> None:
    """Check that outcome probabilities are a distribution for every possible pair of hands."""
    possible = weight > 0
    total = sum(probability for _, probability in chance.outcomes)
    if not (np.abs(np.where(possible, total, 1.0) - 1.0) <= PROBABILITY_TOLERANCE).all():
        raise GameError(f"chance probabilities at public node {node!r} do not sum to 1 for every pair of hands")
    if any(((probability < 0) & possible).any() for _, probability in chance.outcomes):
        raise GameError(f"a chance probability at public node {node!r} is negative")


def add_decision(
    walk: PublicWalk, node: Hashable, decision: Decision, spread: Spread, slices: tuple[Slice, Slice]
) -> list[tuple[Slice, Slice]]:
    """Register the infosets of a public node; return the slices below each action."""
    rules, discovery, player = walk.rules, walk.found, decision.player
    if player not in (0, 1):
        raise GameError(f"the player at public node {node!r} is {player!r}; give 0 or 1")
    hands = spread.hands[player]
    if not decision.actions or len(set(decision.actions)) != len(decision.actions):
        raise GameError(f"actions at public node {node!r} are {list(decision.actions)}; give at least one, without duplicates")
    if decision.private:
        raise GameError(
            f"the action at public node {node!r} is private, which only search supports; return this tree from "
            "public_game() instead of public_tree()"
        )
    first = len(discovery.action_ids)
    if len(discovery.player) < WRITTEN:
        for hand in hands.tolist():
            infostate = rules.infostate(node, player, hand)
            if (player, infostate) in walk.seen:
                raise GameError(
                    f"infostate {infostate!r} of player {player} occurs at two public nodes, one of them {node!r}; include "
                    "the public node in it"
                )
            walk.seen.add((player, infostate))
            discovery.infostates.append(infostate)
    elif walk.seen:
        walk.seen.clear()
        discovery.infostates.clear()
    discovery.add_all(player, slices[player].sequences(hands), decision.actions)
    walk.nodes.append(node)
    walk.counts.append(len(hands))
    walk.hands.frombytes(hands.astype(np.int32).tobytes())
    for action in decision.actions:
        name = rules.action_to_string(node, action)
        if walk.names[player].setdefault(action, name) != name:
            walk.names[player][action] = str(action)
    walk.largest_infoset = max(walk.largest_infoset, spread.largest[player])
    walk.public_states += 1
    below = []
    for a in range(len(decision.actions)):
        after = Slice(first + a, len(decision.actions), hands)
        below.append((after, slices[1]) if player == 0 else (slices[0], after))
    return below


def add_terminal(walk: PublicWalk, node: Hashable, terminal: Terminal, spread: Spread, slices: tuple[Slice, Slice]) -> None:
    """Register a terminal public node."""
    payoff = spread.weight * terminal.matrix
    if not np.isfinite(payoff).all() or not np.isfinite(terminal.scale):
        raise GameError(f"a payoff at public node {node!r} is not finite")
    for player in (0, 1):
        hands = slices[player].hands
        payoff = payoff.sum(axis=player, keepdims=True) if hands is None else payoff.take(hands, axis=player)
    walk.terminals.add(np.ascontiguousarray(payoff), (slices[0].first, slices[1].first), terminal.scale)
    walk.terminal_histories += spread.deals


def dense_entries(dense: Dense) -> tuple[Ints, Ints, Floats]:
    """Return the dense operator as coordinates: sequences of player 0 and of player 1, and player 0's payoffs."""
    rows, columns, values = [], [], []
    for offset, n0, n1, start, end in dense.groups:
        matrix = dense.matrices[offset : offset + n0 * n1].reshape(n0, n1)
        i, j = np.nonzero(matrix)
        rows.append((dense.starts[start:end, :1] + i).ravel())
        columns.append((dense.starts[start:end, 1:] + j).ravel())
        values.append((dense.scales[start:end, None] * matrix[i, j]).ravel())
    if not rows:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
