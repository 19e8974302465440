"""The betting of a spot as forests: each street's nodes, folds, showdowns and ends, which are the same on every board."""

from dataclasses import dataclass, field

from treeplex.holdem.betting.tree import BettingTree, Decision, Fold, Showdown, StreetEnd, payoffs
from treeplex.holdem.spots.spot import Rake

Pair = tuple[int, int]


@dataclass
class Forest:
    """The betting on one street; sequences are numbered as in :mod:`treeplex.holdem.engine.form`.

    Attributes:
        street: index of the street in the format.
        roots: the betting-tree nodes that open the street (a showdown if all chips are already in).
        nodes: for each player, rows (parent sequence, first action, actions).
        numbers: for each player, the decision of each row.
        actions: for each player, the number of actions at own nodes.
        folds, showdowns, ends: both players' sequences there.
        fold_values, showdown_values: payoffs in chips; see :func:`treeplex.holdem.betting.tree.payoffs`.
        below: for each end, the node that opens the next street.
    """

    street: int
    roots: list[int]
    nodes: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]] = field(default_factory=lambda: ([], []))
    numbers: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    actions: list[int] = field(default_factory=lambda: [0, 0])
    folds: list[Pair] = field(default_factory=list)
    fold_values: list[tuple[float, ...]] = field(default_factory=list)
    showdowns: list[Pair] = field(default_factory=list)
    showdown_values: list[tuple[float, ...]] = field(default_factory=list)
    ends: list[Pair] = field(default_factory=list)
    below: list[int] = field(default_factory=list)


def forests_of(tree: BettingTree, rake: Rake, root: int = 0) -> list[Forest]:
    """The forests of all streets of a betting tree from a node on, starting with the node's street."""
    forests, roots = [], [root]
    for street in range(tree.nodes[root].street, tree.streets.stop):
        forest = Forest(street, roots)
        grow(forest, tree, rake, last=street == tree.streets[-1])
        forests.append(forest)
        roots = forest.below
    return forests


def grow(forest: Forest, tree: BettingTree, rake: Rake, *, last: bool) -> None:
    """Traverse all trees in a forest, parents first."""
    stack: list[tuple[int, Pair]] = [(root, (k, k)) for k, root in enumerate(forest.roots)][::-1]
    while stack:
        number, sequences = stack.pop()
        node = tree.nodes[number]
        if isinstance(node, Decision):
            player, count = node.player, len(node.actions)
            first = forest.actions[player]
            forest.nodes[player].append((sequences[player], first, count))
            forest.numbers[player].append(number)
            forest.actions[player] += count
            for a in range(count - 1, -1, -1):
                sequence = len(forest.roots) + first + a
                stack.append((node.children[a], (sequence, sequences[1]) if player == 0 else (sequences[0], sequence)))
        elif isinstance(node, Fold):
            forest.folds.append(sequences)
            forest.fold_values.append(payoffs(node, rake))
        elif isinstance(node, Showdown) and last:
            forest.showdowns.append(sequences)
            forest.showdown_values.append(payoffs(node, rake))
        else:
            forest.ends.append(sequences)
            forest.below.append(node.child if isinstance(node, StreetEnd) else number)
