"""Exact evaluation of a turn search's policy in the full game, and errors of networks, for ``small_turn.py``."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

import treeplex as tp
from treeplex import CompiledGame, Policy, judge
from treeplex.base.arrays import Floats, Ints
from treeplex.forms.policies.tabular import normalised
from treeplex.games import Decision, PublicTree
from treeplex.learn.rebel.random_beliefs import random_belief
from treeplex.search import METHODS, Belief, Horizon, LeafValue, NoLeaf, SubgameSearch, cut_states, public_tree, subgame_values
from treeplex.search.search_trace import steps
from treeplex.search.subgames.batch import PairPlaces, Subgames
from treeplex.search.subgames.beliefs import with_trace
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.begin import begin_search

DOMAINS = ("CFR-D's iterations", "averages", "random")
"""Domains of network queries: leaf beliefs of an exact search's iterations, of its averages, and random ones."""
LOOKS = (8, 16, 32, 64)
DISTURBANCE = 1e-13
"""Relative change of ranges in a perturbed search."""
REMEMBERED = 4
"""Size of the cache of river solutions, shared by a search and its evaluation."""


class Rivers:
    """The rivers below all leaves of a turn, solved at once: exact leaf values, and the corresponding policies.

    Attributes:
        subgames: one for each leaf, to the end of the game.
        iterations: of Discounted CFR in each solve.
        solved: number of solves of all rivers.
    """

    def __init__(self, subgames: Subgames, iterations: int) -> None:
        self.subgames, self.iterations, self.solved = subgames, iterations, 0
        self._known: OrderedDict[bytes, tuple[SubgameSearch, Floats]] = OrderedDict()

    def solution(self, believed: Ranges) -> tuple[SubgameSearch, Floats]:
        """The solved rivers and their average policy, for the ranges with which they begin."""
        key = believed[0].tobytes() + believed[1].tobytes()
        if key not in self._known:
            ranges = with_trace(believed[0]), with_trace(believed[1])
            search = SubgameSearch(self.subgames, METHODS["dcfr"], NoLeaf(), ranges)
            search.run(self.iterations)
            self._known[key] = search, search.average_policy()
            self.solved += 1
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]

    def __call__(self, places: PairPlaces, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        search, policy = self.solution(believed)
        return subgame_values(search.subgames, policy, reached)


class Turn:
    """A turn game, its search to the end of the round, and the rivers below.

    Attributes:
        rules, game: as public-tree rules and compiled, for evaluation.
        root: the public belief state at the beginning.
        top: the subgame of the round.
        rivers: those below its leaves.
    """

    def __init__(self, spec: str, horizon: Horizon, iterations: int) -> None:
        """Compile; ``iterations`` are those of a river's solution."""
        self.rules: PublicTree = public_tree(spec)
        self.game: CompiledGame = tp.compile(spec)
        self.root = Belief.root(self.rules)
        self.top = cut_states(self.rules, [self.root.state], horizon)
        states = self.top.leaves.states
        self.rivers = Rivers(cut_states(self.rules, list(states)), iterations)
        self._top = numbers_in(self.game, self.top, [self.root.state.node])
        self._below = numbers_in(self.game, self.rivers.subgames, [state.node for state in states])

    def search(self, leaf: LeafValue, method: str, iterations: int, seed: int = 0) -> SubgameSearch:
        """A search of the round from the root, not yet run; a seed above 0 perturbs it by the size of rounding."""
        first, second = self.root.ranges
        if seed:
            generator = np.random.default_rng(seed)
            first, second = (own * (1.0 + DISTURBANCE * generator.standard_normal(own.shape)) for own in (first, second))
        return begin_search(self.top, METHODS[method], leaf, (first[None], second[None]), iterations)

    def curve(self, leaf: LeafValue, method: str, points: Sequence[int], seed: int = 0) -> dict[str, list[float]]:
        """Exploitability after each of ``points`` iterations, of two policies.

        ``played``: the agent's policy over the draw of its iteration, the policy of theorems 3 and 5: on the turn each
        iteration's policy, below a leaf a solution of the river for that iteration's beliefs, all averaged with the weights of
        the average policy. Those beliefs are the current policies' in CFR-D, the averages' in CFR-AVG and fictitious play
        (section 5.2). ``average``: the average policy on the turn, and a solution of the river for its beliefs.

        Points skipped by a warm start are NaN.
        """
        search = self.search(leaf, method, points[-1], seed)
        total = np.zeros(int(self.game.tree.sequence_offsets[-1]))
        found: dict[str, list[float]] = {"played": [np.nan] * len(points), "average": [np.nan] * len(points)}
        for step in steps(search, points[-1]):
            total *= step.discount
            self.add(total, step.weight, step.played, step.played if search.method.leaves == "current" else step.average)
            if step.number in points:
                average = np.zeros_like(total)
                self.add(average, 1.0, step.average, step.average)
                for name, strategy in (("played", total), ("average", average)):
                    found[name][points.index(step.number)] = self.exploitability(strategy)
        return found

    def add(self, total: Floats, weight: float, played: Floats, believed: Floats) -> None:
        """Add a strategy of the round, and below it the solved rivers, to a strategy of the whole game, float64 [Q]."""
        leaves, rivers = self.top.leaves, self.rivers.subgames
        arrived = leaves.reach_at(played)
        _, policy = self.rivers.solution(leaves.reach_at(believed))
        below = rivers.reach_from(arrived, policy)
        for numbers, strategy in ((self._top, played), (self._below, below)):
            known = numbers >= 0
            np.add.at(total, numbers[known], weight * strategy[known])

    def exploitability(self, total: Floats) -> float:
        """Exploitability in chips of a strategy in sequence form, up to a factor."""
        return judge(self.game, Policy(self.game, normalised(self.game, total))).exploitability


def numbers_in(game: CompiledGame, subgames: Subgames, roots: Sequence[Hashable]) -> Ints:
    """The sequence of the compiled game that each sequence of subgames is, int64 [Q]; -1 for ranges and empty ones."""
    rules = subgames.game
    found = np.full(int(subgames.tree.sequence_offsets[-1]), -1)
    for row, (owner, path) in enumerate(zip(subgames.decisions.owner, subgames.decisions.paths, strict=True)):
        node = roots[owner]
        for label in path:
            node = rules.child(node, label)
        visited = rules.visit(node)
        assert isinstance(visited, Decision)
        infosets = subgames.infosets[row]
        for hand in np.flatnonzero(infosets >= 0):
            first, stride, count = subgames.tree.infoset_layout[infosets[hand]]
            own = game.sequences_at(game.lookup[visited.player, rules.infostate(node, visited.player, int(hand))])
            found[first : first + stride * count : stride] = own
    return found


def errors(turn: Turn, leaf: Any) -> dict[str, float]:
    """Root mean square error of a network's values of hands, as a share of the pot at the leaf, by :data:`DOMAINS`.

    Squares are weighted by the counterfactual reach of the hand, as in the search.
    """
    leaves, found = turn.top.leaves, {}
    pots = np.array([sum(turn.rules.game.tree.nodes[state.node[0]].contributions) for state in leaves.states])
    for name, looks in asked(turn).items():
        total = weight = 0.0
        for believed in looks:
            right, guessed = turn.rivers(leaves, believed, believed), leaf(leaves, believed, believed)
            for player in (0, 1):
                mass = np.stack([own.weight @ row for own, row in zip(leaves.states, believed[1 - player], strict=True)])
                total += float((mass * ((right[player] - guessed[player]) / pots[:, None]) ** 2).sum())
                weight += float(mass.sum())
        found[name] = (total / weight) ** 0.5
    return found


def asked(turn: Turn) -> dict[str, list[Any]]:
    """Ranges at all leaves, by domain."""
    generator, found = np.random.default_rng(0), {name: [] for name in DOMAINS}
    for step in steps(turn.search(turn.rivers, "lcfr", LOOKS[-1]), LOOKS[-1]):
        if step.number in LOOKS:
            for name, strategy in ((DOMAINS[0], step.played), (DOMAINS[1], step.average / step.average.sum())):
                found[name].append(turn.top.leaves.reach_at(strategy))
            drawn = [random_belief(turn.rules, state, generator).ranges for state in turn.top.leaves.states]
            found[DOMAINS[2]].append(tuple(np.stack([ranges[player] for ranges in drawn]) for player in (0, 1)))
    return found
