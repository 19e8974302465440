"""The number of nodes of a betting tree on every street, cards factored out, computed without building the tree.

Lines that lead to the same state are counted together, action by action, so the sizes of most trees are exact and quick
to compute. With too many states, a random sample represents them all (stochastic enumeration, Rubinstein 2013).
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from treeplex.errors import SpecError
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.rules import BettingRules, BettingState

MOST_NODES = 2_000_000
MOST_STATES = 5_000
"""Maximum number of distinct states after each action of a street; with more, the size is an estimate."""
DEEP = 30
"""Maximum number of actions on a street; counting stops when a tree exceeds ``MOST_NODES`` nodes."""

Lines = dict[tuple[object, ...], tuple[BettingState, int]]
"""States by their keys, each with the number of lines that lead to it."""


def check_nodes(nodes: int) -> None:
    """Reject a betting tree with more than ``MOST_NODES`` nodes.

    Raises:
        SpecError: the tree is larger.
    """
    if nodes > MOST_NODES:
        raise SpecError(
            f"the betting tree has more than {MOST_NODES:,} nodes; offer fewer sizes, or increase 'merge' or 'force_allin'"
        )


@dataclass
class StreetSize:
    """The size of a street's betting, cards factored out.

    Attributes:
        roots: ways to reach the street, including all-ins on earlier streets, which leave no decision.
        decisions, actions: numbers of each player's decisions, and of the actions there.
        folds, showdowns: numbers of terminals; a showdown counts on the street on which the board is complete.
        ends: ways to leave the street for the next one, the next street's ``roots``.
    """

    roots: int
    decisions: list[int]
    actions: list[int]
    folds: int = 0
    showdowns: int = 0
    ends: int = 0


@dataclass
class BettingSize:
    """The size of a betting tree; a lower bound until counting is complete.

    Attributes:
        streets: size of each street played.
        nodes: number of decisions, street ends and terminals, as in :func:`treeplex.holdem.betting.tree.betting_tree`.
        waiting: decisions on the last street that are not yet in ``streets``; every raise leads to one.
        exact: whether all states were enumerated; if not, the size is estimated from a sample.
    """

    streets: list[StreetSize] = field(default_factory=list)
    nodes: int = 0
    waiting: int = 0
    exact: bool = True

    @property
    def decisions(self) -> int:
        """The number of decisions of all players."""
        return sum(sum(street.decisions) for street in self.streets) + self.waiting

    def numbers(self, rows: Sequence[int]) -> int:
        """The number of table entries: for every street, the actions at all decisions times the street's number of rows."""
        counted = sum(count * sum(street.actions) for count, street in zip(rows, self.streets, strict=False))
        return counted + self.waiting * rows[len(self.streets) - 1]


def betting_size(
    rules: BettingRules,
    root: BettingState | None = None,
    *,
    streets: int | None = None,
    enough: Callable[[BettingSize], bool] | None = None,
) -> BettingSize:
    """The size of a betting tree that begins with a decision; takes at most a second or two.

    Args:
        rules: rules of any number of players.
        root: the state to start from; None for the beginning of the hand.
        streets: number of streets to count; None for all remaining ones.
        enough: predicate that is true if a tree of at least this size is too large; counting then stops.

    Raises:
        SpecError: without ``enough``, a single street has too many lines to count.
    """
    root = rules.to_act(rules.root) if root is None else root
    size, opened, all_in = BettingSize(), {root.key: (root, 1)}, 0
    until = rules.streets if streets is None else root.street + streets
    for street in range(root.street, until):
        roots = sum(lines for _, lines in opened.values())
        street_size = StreetSize(roots + all_in, [0] * rules.players, [0] * rules.players)
        size.streets.append(street_size)
        opened = count_street(rules, opened, size, enough)
        if enough is not None and enough(size):
            return size
        following, ended = sum(lines for _, lines in opened.values()), street_size.showdowns
        size.nodes += sum(street_size.decisions) + street_size.folds + street_size.showdowns + following
        if street + 1 == rules.streets:
            street_size.showdowns += all_in
        else:
            all_in += ended
            street_size.showdowns, street_size.ends = 0, following + all_in
    return size


def count_street(rules: BettingRules, opened: Lines, size: BettingSize, enough: Callable[[BettingSize], bool] | None) -> Lines:
    """Count the betting of one street; return the states at the start of the next street.

    Args:
        rules: the rules.
        opened: states at the start of the street.
        size: added to: counts of its last street, and nodes.
        enough: see :func:`betting_size`.
    """
    street_size, generator, depth = size.streets[-1], random.Random(size.nodes), 0
    level, following = opened, Lines()
    while level:
        if len(level) > MOST_STATES:
            size.exact, level = False, drawn(level, generator)
        steps = [(state, lines, rules.actions(state)) for state, lines in level.values()]
        size.waiting = sum(lines * (1 + len(actions.raises)) for _, lines, actions in steps)
        if enough is not None and enough(size):
            return following
        size.waiting, depth, after = 0, depth + 1, Lines()
        if enough is None and depth > DEEP:
            check_nodes(size.decisions)
        for state, lines, actions in steps:
            street_size.decisions[state.player] += lines
            street_size.actions[state.player] += lines * len(actions)
            for next_state in rules.following(state, actions):
                if next_state.player >= 0:
                    add(after, next_state, lines)
                elif next_state.folded.count(False) == 1:
                    street_size.folds += lines
                elif next_state.player == CHANCE and (opening := rules.to_act(next_state)).player >= 0:
                    add(following, opening, lines)
                else:
                    street_size.showdowns += lines
        level = after
    return following


def add(states: Lines, state: BettingState, lines: int) -> None:
    """Add the number of lines that lead to a state."""
    key = state.key
    states[key] = state, states[key][1] + lines if key in states else lines


def drawn(level: Lines, generator: random.Random) -> Lines:
    """A random sample of the states, weighted so that the number of lines stays the same."""
    sample = dict(generator.sample(list(level.items()), MOST_STATES))
    share = Fraction(sum(lines for _, lines in level.values()), sum(lines for _, lines in sample.values()))
    return {key: (state, round(lines * share)) for key, (state, lines) in sample.items()}
