"""Policy of search at test time, averaged over playthroughs (Brown et al. 2020, sections 6, 8)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.public import Decision, PublicState, PublicTree
from treeplex.search.leaf import LeafValue
from treeplex.search.methods import METHODS, average_weights
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.stopping import policies_at
from treeplex.search.subgames.batch import Subgames, cut_states, walked
from treeplex.search.subgames.beliefs import normalised_range
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.begin import begin_search


@dataclass(frozen=True)
class PlaythroughPart:
    """A subset of the playthroughs.

    Attributes:
        number: index of this part, from 0.
        shifts: a generator that starts in the same state in every part.
    """

    number: int
    shifts: np.random.Generator


@dataclass
class Node:
    """A public state where a subgame begins.

    Attributes:
        path: actions and chance outcomes from the start of the game.
        state: the public state.
        reaches: each player's own reach in all playthroughs, [N, H_i].
        below: nodes where its subgames end, by path from here.
    """

    path: tuple[int, ...]
    state: PublicState
    reaches: Ranges
    below: "dict[tuple[int, ...], Node]" = field(default_factory=dict)

    @property
    def alive(self) -> Ints:
        """Indices of the playthroughs in which some player reaches this node by its own actions, int64; only these
        contribute.
        """
        first, second = ((reach > 0).any(axis=1) for reach in self.reaches)
        return np.flatnonzero(first | second)


@dataclass(frozen=True)
class OpenState:
    """A public state in some of the playthroughs, with the iterations at which its searches stop."""

    node: Node
    rows: Ints
    stops: Ints

    @property
    def reaches(self) -> Ranges:
        """Own reaches of both players in these playthroughs."""
        first, second = (reach[self.rows] for reach in self.node.reaches)
        return first, second

    def ranges(self, rules: PublicTree) -> Ranges:
        """The initial ranges of the searches."""
        possible = rules.possible(self.node.state)
        return tuple(normalised_range(reach, can) for reach, can in zip(self.reaches, possible, strict=True))


def playthrough_policy(
    game: CompiledGame | str | Game | Any,
    rules: PublicTree | str | Game,
    leaf: LeafValue,
    settings: PlaythroughSettings,
    generator: np.random.Generator,
    *,
    part: PlaythroughPart | None = None,
    watch: Callable[[int], None] | None = None,
) -> Policy:
    """Average the policies of N playthroughs, weighted at every infoset by own reach.

    Each playthrough searches every public state where a subgame begins, with the beliefs that result from the playthrough's
    earlier policies. A random iteration is drawn, its policy is followed down to the leaves, and the next searches begin there.
    Iterations are drawn with the weights of the average policy, stratified over the playthroughs of a public state. All
    branches are followed, so the result is a policy for the whole game, which can be evaluated exactly. Its exploitability is
    an upper bound on that of the agent itself, whose policy is the average over infinitely many playthroughs (section 8).

    Args:
        game: a spec, rules or the compiled game.
        rules: its public-tree rules, or a spec or rules again.
        leaf: values at the leaves of subgames.
        settings: N, T and other settings.
        generator: random generator for drawing iterations.
        part: the part of a larger set of playthroughs to run; None for all.
        watch: called regularly with the number of subgames searched so far.

    Returns:
        The mean policy on the compiled game.
    """
    game, rules = compile_game(game), public_tree(rules)
    root, count = rules.first_state(), settings.playthroughs
    seed, shift_seed = int(generator.integers(2**63)), 0 if part is None else int(part.shifts.integers(2**63))
    weights = np.zeros(int(game.tree.sequence_offsets[-1]))
    queue = [Node((), root, (np.ones((count, root.weight.shape[0])), np.ones((count, root.weight.shape[1]))))]
    searched = 0
    while queue:
        together, shares, filled = [], [], 0
        while queue and filled < settings.batch:
            node = queue.pop()
            draws_of = None if part is None else PlaythroughPart(part.number, keyed(shift_seed, node.path))
            stops = drawn_iterations(settings, count, keyed(seed, node.path), draws_of)
            alive = node.alive
            pieces = [alive[start : start + settings.batch] for start in range(0, len(alive), settings.batch)]
            shares += [OpenState(node, rows, stops[rows]) for rows in pieces]
            together.append(node)
            filled += len(alive)
        for group in batches(shares, settings.batch):
            search_shares(game, rules, leaf, settings, group, weights)
            searched += sum(len(share.rows) for share in group)
            if watch is not None:
                watch(searched)
        queue.extend(below for node in together for below in node.below.values())
    return Policy(game, normalised(game, weights))


def keyed(seed: int, path: tuple[int, ...]) -> np.random.Generator:
    """Random generator specific to a public state; the path's length comes first because keys ignore trailing zeros."""
    return np.random.default_rng((seed, len(path), *path))


def batches(shares: Sequence[OpenState], most: int) -> list[list[OpenState]]:
    """Group shares, each of at most ``most`` searches, into batches of at most ``most`` searches."""
    groups: list[list[OpenState]] = []
    room = 0
    for share in shares:
        if len(share.rows) > room:
            groups.append([])
            room = most
        groups[-1].append(share)
        room -= len(share.rows)
    return groups


def search_shares(
    game: CompiledGame,
    rules: PublicTree,
    leaf: LeafValue,
    settings: PlaythroughSettings,
    shares: Sequence[OpenState],
    weights: Floats,
) -> None:
    """Search public states together; adds their policies to ``weights``, and their leaves to the ``below`` of their nodes."""
    states = [share.node.state for share in shares for _ in share.stops]
    subgames = cut_states(rules, states, settings.horizon)
    ranges = joined_ranges([share.ranges(rules) for share in shares])
    search = begin_search(subgames, METHODS[settings.method], leaf, ranges, settings.iterations, settings.warm)
    stops = np.concatenate([share.stops for share in shares])
    policy = policies_at(search, settings.iterations, stops, values=False).policy
    strategy = subgames.reach_from(joined_ranges([share.reaches for share in shares]), policy)
    arrived = subgames.leaves.reach_at(strategy)
    first = 0
    for share in shares:
        add_policies(game, rules, share, subgames, first, strategy, weights)
        add_leaves(rules, settings.playthroughs, share, subgames, first, arrived)
        first += len(share.stops)


def joined_ranges(parts: Sequence[Ranges]) -> Ranges:
    """Stack ranges, padded with 0."""
    joined = []
    for player in (0, 1):
        widest = max(part[player].shape[1] for part in parts)
        joined.append(np.concatenate([np.pad(part[player], ((0, 0), (0, widest - part[player].shape[1]))) for part in parts]))
    return joined[0], joined[1]


def add_leaves(rules: PublicTree, count: int, share: OpenState, subgames: Subgames, first: int, arrived: Ranges) -> None:
    """Store the reach at a share's leaves in its node; the share's subgames start at index ``first``."""
    size, begin = len(share.stops), int(subgames.first_leaf[first])
    per = len(subgames.templates[first].leaves)
    for number in range(per):
        rows = begin + np.arange(size) * per + number
        path, below = subgames.leaves.paths[begin + number], share.node.below
        if path not in below:
            state = subgames.leaves.states[begin + number]
            at = PublicState(walked(rules, share.node.state.node, path), state.weight)
            below[path] = Node(
                (*share.node.path, *path),
                at,
                (np.zeros((count, state.weight.shape[0])), np.zeros((count, state.weight.shape[1]))),
            )
        for stored, reach in zip(below[path].reaches, arrived, strict=True):
            stored[share.rows] = reach[rows, : stored.shape[1]]


def drawn_iterations(
    settings: PlaythroughSettings, count: int, generator: np.random.Generator, part: PlaythroughPart | None = None
) -> Ints:
    """Draw an iteration for each playthrough, with the weights of the average policy, stratified.

    Each of ``count`` strata of equal weight contains one playthrough, in random order. Parts of equal size share their strata
    and take evenly spaced positions in them. So the playthroughs of all parts together are also stratified, for any number of
    parts, and each single draw has the weights of the average.
    """
    weights = average_weights(settings.method, settings.iterations)
    cumulative = np.cumsum(weights) / weights.sum()
    within = generator.random(count) if part is None else (part.shifts.random(count) + spread_out(part.number)) % 1.0
    strata = generator.permutation((np.arange(count) + within) / count)
    return np.minimum(np.searchsorted(cumulative, strata, side="right"), settings.iterations - 1) + 1


def spread_out(number: int) -> float:
    """Low-discrepancy position in [0, 1) for an index: its binary digits mirrored (van der Corput)."""
    position, share = 0.0, 0.5
    while number:
        position += share * (number & 1)
        number, share = number >> 1, share / 2
    return position


def add_policies(
    game: CompiledGame, rules: PublicTree, share: OpenState, subgames: Subgames, first: int, strategy: Floats, weights: Floats
) -> None:
    """Add a share's own reach times its policy at all its infosets; the share's subgames start at index ``first``."""
    size, begin, made = len(share.stops), int(subgames.first_decision[first]), subgames.templates[first]
    for number, (state, path, _) in enumerate(made.decisions):
        visited = rules.visit(state.node)
        assert isinstance(visited, Decision)
        at = walked(rules, share.node.state.node, path)
        table = subgames.infosets[begin + np.arange(size) * len(made.decisions) + number]
        hands = np.flatnonzero(table[0] >= 0)
        first_sequences, strides, actions = np.moveaxis(subgames.tree.infoset_layout[table[:, hands]], -1, 0)
        sums = strategy[first_sequences[..., None] + np.arange(actions[0, 0]) * strides[..., None]].sum(axis=0)
        for k in np.flatnonzero(sums.any(axis=1)).tolist():
            infoset = game.lookup[visited.player, rules.infostate(at, visited.player, int(hands[k]))]
            weights[game.sequences_at(infoset)] += sums[k]
