"""Exact policy of an agent that searches, in games of perfect information (the limit of many playthroughs).

Without private hands, beliefs are certain. So a search depends only on the state of the game, not on its history or on the
iterations drawn earlier, and draws for different searches are independent. The agent of Brown et al. 2020 (section 6) plays
iteration t of a search with probability w_t. Its policy at infoset I is

    sum_t w_t r_t(I) pi_t(I) / sum_t w_t r_t(I),

where r_t is the player's own reach of I from the root of the subgame under pi_t. One search per state gives this policy for all
paths to the state. :mod:`treeplex.search.play_distribution` instead samples iterations, and searches on every path in every
playthrough.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.sweeps import normalise, reach
from treeplex.errors import GameError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.games.public import Chance, Decision, PublicState, PublicTree
from treeplex.search.leaf import LeafValue, SingleEntryCache, leaf_values
from treeplex.search.methods import METHODS, average_weights
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.batch import Subgames, cut_states, place
from treeplex.search.subgames.subgame import Places, Ranges
from treeplex.search.subgames.templates import Template
from treeplex.search.warm_start.begin import WarmStartLeaf, begin_search
from treeplex.solvers.rules.fictitious import FictitiousRule

Watch = Callable[[int, int], None]
"""Called with the number of states searched, and the number known to need a search."""


@dataclass(frozen=True, eq=False)
class TemplateSolution:
    """A subgame and the agent's action probabilities at each decision of its template."""

    template: Template
    rows: list[Floats]


def certain_policy(
    game: CompiledGame, rules: PublicTree, leaf: LeafValue, settings: PlaythroughSettings, *, watch: Watch | None = None
) -> Policy:
    """Compute the policy of an agent that searches, in a game of perfect information.

    Args:
        game: the compiled game.
        rules: its public-tree rules.
        leaf: values at the leaves of subgames; they must depend only on the state.
        settings: search settings; ``playthroughs`` is ignored, and ``batch`` is the number of states searched together.
        watch: called after each batch with the numbers of states searched and known.

    Returns:
        The policy on the compiled game.

    Raises:
        GameError: the rules hide information, or payoffs do not sum to zero.
    """
    tell = watch or (lambda searched, known: None)
    states = searched_states(rules, settings, tell)
    known = CertainLeaf(leaf)
    solved: dict[Hashable, TemplateSolution] = {}
    futures = list(states)
    for batch in [futures[first : first + settings.batch] for first in range(0, len(futures), settings.batch)]:
        subgames = cut_states(rules, [states[future] for future in batch], settings.horizon)
        rows = rows_of(subgames, agent_policy(subgames, known, settings))
        ends = (*subgames.first_decision.tolist(), len(rows))
        for future, made, (first, end) in zip(batch, subgames.templates, pairwise(ends), strict=True):
            solved[future] = TemplateSolution(made, rows[first:end])
        tell(len(solved), len(states))
    return Policy(game, along_all_paths(game, rules, solved))


def searched_states(rules: PublicTree, settings: PlaythroughSettings, tell: Watch) -> dict[Hashable, PublicState]:
    """Return one state for each distinct future at which a subgame begins."""
    root = rules.first_state()
    states, stack = {rules.future(root.node): root}, [root]
    while stack:
        subgames = cut_states(rules, [stack.pop()], settings.horizon)
        for state in subgames.leaves.states:
            future = rules.future(state.node)
            if future not in states:
                states[future] = state
                stack.append(state)
        tell(0, len(states))
    return states


def agent_policy(subgames: Subgames, leaf: LeafValue, settings: PlaythroughSettings) -> Floats:
    """Policy, within subgames, of an agent that plays a random iteration, float64 [Q]."""
    certain = np.ones((len(subgames.roots), 1))
    method, tree = METHODS[settings.method], subgames.tree
    search = begin_search(subgames, method, leaf, (certain, certain), settings.iterations, settings.warm)
    strategy, total, policy = np.zeros_like(search.policy), np.zeros_like(search.policy), search.policy
    for player in (0, 1):
        place(subgames.roots.sequences[player], certain, strategy)
    for t, weight in enumerate(average_weights(method.name, settings.iterations).tolist(), start=1):
        if t > search.iteration:
            policy = next_policy(search)
        for player in (0, 1):
            reach(tree, player, policy, strategy)
        total += weight * strategy
    average = policy.copy()
    for player in (0, 1):
        normalise(tree, player, total, average)
    return average


def next_policy(search: SubgameSearch) -> Floats:
    """Run one iteration; returns the current policy, or in fictitious play the average."""
    search.run(1)
    return search.average_policy() if isinstance(search.method.scheme, FictitiousRule) else search.policy


def rows_of(subgames: Subgames, policy: Floats) -> list[Floats]:
    """Action probabilities at each decision of a batch."""
    layout = subgames.tree.infoset_layout[subgames.infosets.ravel()].tolist()
    return [policy[first : first + stride * actions : stride] for first, stride, actions in layout]


def along_all_paths(game: CompiledGame, rules: PublicTree, solved: dict[Hashable, TemplateSolution]) -> Floats:
    """Assemble the policy of the whole game, float64 [Q], from the policies of its subgames."""
    probabilities = np.full(int(game.tree.sequence_offsets[-1]), np.nan)
    stack: list[tuple[Hashable, TemplateSolution, tuple[int, ...]]] = [(rules.root, solved[rules.future(rules.root)], ())]
    while stack:
        node, inside, path = stack.pop()
        kind, number = inside.template.index.get(path, ("", -1))
        if kind == "leaf":
            state, _, _ = inside.template.leaves[number]
            stack.append((node, solved[rules.future(state.node)], ()))
            continue
        visited = rules.visit(node)
        if isinstance(visited, Decision):
            infostate = rules.infostate(node, visited.player, 0)
            sequences = game.sequences_at(game.lookup[visited.player, infostate])
            before, now = probabilities[sequences], inside.rows[number]
            if not np.isnan(before).any() and not np.array_equal(before, now):
                raise GameError(
                    f"{game} does not have perfect information, which an exact policy needs: several states share the "
                    "infostate "
                    f"{infostate!r}; use playthroughs"
                )
            probabilities[sequences] = now
            labels = list(visited.actions)
        else:
            labels = [label for label, _ in visited.outcomes] if isinstance(visited, Chance) else []
        stack += [(rules.child(node, label), inside, (*path, label)) for label in labels]
    return np.where(np.isnan(probabilities), 1.0, probabilities)


class CertainLeaf:
    """Leaf values that are computed once, since they cannot change when beliefs are certain."""

    def __init__(self, leaf: LeafValue) -> None:
        self._found: SingleEntryCache[Places, Ranges] = SingleEntryCache(
            lambda places: leaf_values(leaf, places, certain(places), certain(places))
        )
        if isinstance(leaf, WarmStartLeaf):
            self.warm, self.guess = leaf.warm, leaf.guess

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        return self._found(places)


def certain(places: Places) -> Ranges:
    """Ranges with weight 1 on each player's only hand."""
    return tuple(np.ones((len(places), width)) for width in places.widths)
