"""Safe re-solving of the subgames of a policy: alternative values at their roots, and the resulting policy.

A *blueprint* is a policy of the whole game. Its *trunk*, the part before some public states, is kept. From these states on,
each player's policy is re-solved with a gadget (:mod:`treeplex.search.subgames.gadgets`). The gadget uses the alternative
values of the opponent's hands: their counterfactual best-response values against the blueprint.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.evaluate.judge import check_game
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.games.public import Chance, Decision, PublicState, PublicTree, Terminal
from treeplex.search.leaf import NoLeaf
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.play_distribution import joined_ranges
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.batch import Subgames, cut_states
from treeplex.search.subgames.beliefs import moved_range
from treeplex.search.subgames.gadgets import GADGETS, Gadget
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.policy_tables import sequences_at, subgame_policy, table_at
from treeplex.search.subgames.subgame import Ranges, Subgame

UNSAFE, REACH = "none", "reach-"
RESOLVING = (UNSAFE, *GADGETS, *(REACH + name for name in GADGETS))
"""Gadgets for re-solving subgames: ``none`` solves from ranges alone, which is unsafe; ``reach-`` adds gifts."""

SECOND_ROUND = Horizon(rounds=1)
"""Subgames begin with the second betting round."""


def opponent_values(subgame: Subgame, policy: Policy | Floats, player: int) -> Floats:
    """Alternative values of the opponent's hands at the root of a subgame, against a player's policy.

    Args:
        subgame: a subgame without a cut, with the ranges of the policy.
        policy: the result of a solve, float64 [Q], see :meth:`treeplex.search.subgame_search.SubgameSearch.average_policy`; in
            public trees also a policy of the compiled game.
        player: the player who follows it; the opponent plays its best response.

    Returns:
        The expected payoff of each root hand of the opponent, float64 [B, H], in the game's units; NaN for hands without a
            compatible opposing hand.

    Raises:
        AlgorithmError: the subgame has a cut, or the policy does not cover it.
        PolicyError: the policy belongs to another game.
    """
    if len(subgame.leaves):
        raise AlgorithmError("alternative values need subgames that reach the end of the game; cut them without a horizon")
    other, arrays = 1 - player, subgame.start(predicts=True)
    if not isinstance(policy, Policy):
        arrays.policy[:] = policy
    else:
        arrays.policy[:] = subgame_policy(policy, subgame.trees)
    arrays.play(player)
    arrays.write_gradient(other, arrays.strategy)
    arrays.respond(other)
    mass = subgame.roots.opposing(arrays.ranges, other) * subgame.admitted[other]
    alternatives = np.full(mass.shape, np.nan)
    alternatives[mass > 0] = arrays.root_entries(other)[mass > 0] / mass[mass > 0]
    return alternatives


@dataclass(eq=False)
class TrunkNode:
    """A public state in the trunk, or at the root of a subgame.

    Attributes:
        state: the public state.
        reaches: float64 [H_i] for each player, own reach under the blueprint.
        visited: the public node's content.
        below: child nodes; empty if the game is over or a subgame begins.
        start: index of the subgame that begins here; -1 for none.
    """

    state: PublicState
    reaches: Ranges
    visited: Decision | Chance | Terminal
    below: "list[TrunkNode]" = field(default_factory=list)
    start: int = -1


@dataclass(frozen=True, eq=False)
class Trunk:
    """The trunk: the part of the game before the given public states, under a policy.

    Attributes:
        rules: the public-tree rules.
        root: the start of the game.
        starts: the roots of the subgames.
    """

    rules: PublicTree
    root: TrunkNode
    starts: list[TrunkNode]

    @classmethod
    def of(cls, policy: Policy, rules: PublicTree, horizon: Horizon) -> "Trunk":
        """Build the trunk down to a horizon; if chance moves at the horizon, subgames begin after the chance event.

        Raises:
            PolicyError: the policy belongs to another game.
            AlgorithmError: the game ends before the horizon.
        """
        first = rules.first_state()
        starts: list[TrunkNode] = []
        root = TrunkNode(first, tuple(np.ones(size) for size in first.weight.shape), rules.visit(first.node))
        stack = [(root, 0, 0, False)]
        while stack:
            node, depth, deals, dealt = stack.pop()
            if isinstance(node.visited, Terminal):
                continue
            cuts = depth > 0 and horizon.cuts(rules, node.state.node, depth, node.visited, deals)
            if dealt or (cuts and isinstance(node.visited, Decision)):
                node.start = len(starts)
                starts.append(node)
                continue
            for number, state in enumerate(node.state.successors(rules)[1]):
                reaches = node.reaches
                if isinstance(node.visited, Decision):
                    table, private = table_at(policy, rules, node.state), node.visited.private
                    moved = moved_range(reaches[node.visited.player], table, number, private=private)
                    reaches = (moved, reaches[1]) if node.visited.player == 0 else (reaches[0], moved)
                if state.weight.any():
                    node.below.append(TrunkNode(state, reaches, rules.visit(state.node)))
            deals += depth > 0 and isinstance(node.visited, Chance)
            stack.extend((below, depth + 1, deals, cuts) for below in reversed(node.below))
        if not starts:
            raise AlgorithmError(f"no subgame begins at {horizon}; give a horizon before the end of the game")
        return cls(rules, root, starts)

    def subgames(self, starts: Sequence[TrunkNode], gadget: Gadget | None = None) -> Subgames:
        """Batch some of the subgames, which extend to the end of the game."""
        ranges = joined_ranges([tuple(reach[None] for reach in start.reaches) for start in starts])
        return cut_states(self.rules, [start.state for start in starts], ranges=ranges, gadget=gadget)


def gifts(trunk: Trunk, promised: Sequence[Floats], player: int) -> list[Floats]:
    """Gifts that the opponent's hands give before each subgame, float64 [H], in the game's units.

    If a hand takes an action that is worth less than another against the player's blueprint, it makes a *gift* of the
    difference (Brown and Sandholm 2017, section 4.1). After that action the hand may get up to this much more than its
    alternative value without gaining overall, since the better action was available. Gifts of several actions add up. All
    subgames that may follow, by chance and the player's actions, can give the full amount back to the hand, since only one of
    them is reached. Weighted by their probabilities, these amounts sum to at most the gift.

    Args:
        trunk: the part of the game before the subgames.
        promised: for each subgame float64 [H], see :func:`opponent_values`.
        player: the player who re-solves.

    Returns:
        For each subgame float64 [H], the gift of each of the opponent's hands.
    """
    other, worth = 1 - player, dict[int, Floats]()
    at_starts: list[Floats] = [np.zeros(0)] * len(trunk.starts)

    def mass(node: TrunkNode) -> Floats:
        return trunk.rules.opposing(node.state, node.reaches, other)

    order = [trunk.root]
    for node in order:
        order.extend(node.below)
    for node in reversed(order):
        if node.start >= 0:
            met = mass(node)
            worth[id(node)] = np.where(met > 0, promised[node.start][: len(met)], 0.0) * met
        elif isinstance(node.visited, Terminal):
            payoffs = node.state.weight * node.visited.matrix * node.visited.scale
            worth[id(node)] = -(node.reaches[0] @ payoffs) if player == 0 else payoffs @ node.reaches[1]
        elif isinstance(node.visited, Decision) and node.visited.player == other:
            parts = [worth[id(below)] for below in node.below]
            if node.visited.private:
                parts = list(parts[0].reshape(-1, len(node.visited.actions)).T)
            worth[id(node)] = np.max(parts, axis=0)
        else:
            worth[id(node)] = np.sum([worth[id(below)] for below in node.below], axis=0)
    given = {id(trunk.root): np.zeros(trunk.root.state.weight.shape[other])}
    for node in order:
        before = given[id(node)]
        if node.start >= 0:
            at_starts[node.start] = before
        for below in node.below:
            gift = before
            if isinstance(node.visited, Decision) and node.visited.player == other:
                best, met = worth[id(node)], mass(below)
                if node.visited.private:
                    best, gift = (np.repeat(array, len(node.visited.actions)) for array in (best, before))
                gift = gift + np.divide(best - worth[id(below)], met, out=np.zeros_like(met), where=met > 0)
            given[id(below)] = gift
    return at_starts


def resolve_subgames(
    game: "str | Game | CompiledGame",
    policy: Policy,
    gadget: str | Callable[[int, Floats], Gadget] = "maxmargin",
    *,
    horizon: Horizon = SECOND_ROUND,
    method: str = "cfr+",
    iterations: int = 1000,
    batch: int = 256,
) -> Policy:
    """Re-solve all subgames that begin at a horizon, for both players.

    With a gadget, each player's new policy is at most as exploitable as the old one, up to convergence (Burch et al. 2014,
    theorem 1; Moravčík et al. 2016, theorem 1; Brown and Sandholm 2017, theorem 1).

    Args:
        game: a spec, rules, or a compiled game with public states; two players, zero-sum.
        policy: the blueprint.
        gadget: one of :data:`RESOLVING`, or a function that creates a gadget from the re-solving player and the alternative
            values. ``none`` solves from ranges alone, which may make the policy worse.
        horizon: where subgames begin; by default at the second betting round, after its deal.
        method: one of :data:`treeplex.search.methods.METHODS`.
        iterations: iterations of each solve.
        batch: number of subgames solved together.

    Returns:
        The blueprint with the re-solved parts of both players.

    Raises:
        PolicyError: the policy belongs to another game.
        AlgorithmError: the gadget or method is unknown, or no subgame begins at the horizon.
        GameError: the game has no public states.
    """
    compiled = compile_game(game)
    check_game(compiled, policy)
    if isinstance(gadget, str) and gadget not in RESOLVING:
        raise AlgorithmError(f"unknown gadget {gadget!r}; known: {', '.join(RESOLVING)}")
    if method not in METHODS:
        raise AlgorithmError(f"unknown method {method!r}; known: {METHOD_NAMES}")
    if compiled.rules is None:
        raise AlgorithmError(f"{compiled} was loaded without rules, which search needs; give the game as a spec")
    trunk = Trunk.of(policy, public_tree(compiled.rules), horizon)
    pieces = [trunk.starts[first : first + batch] for first in range(0, len(trunk.starts), batch)]
    probabilities = policy.probabilities.copy()
    if gadget == UNSAFE:
        for piece in pieces:
            solve_again(trunk.subgames(piece), policy, (0, 1), method, iterations, probabilities)
        return Policy(compiled, probabilities)
    make: Callable[[int, Floats], Gadget] = GADGETS[gadget.removeprefix(REACH)] if isinstance(gadget, str) else gadget
    for player in (0, 1):
        promised = [values for piece in pieces for values in opponent_values(trunk.subgames(piece), policy, player)]
        if isinstance(gadget, str) and gadget.startswith(REACH):
            promised = [
                values + padded(gift, len(values))
                for values, gift in zip(promised, gifts(trunk, promised, player), strict=True)
            ]
        for piece in pieces:
            carried = np.stack([promised[start.start] for start in piece])
            solve_again(trunk.subgames(piece, make(player, carried)), policy, (player,), method, iterations, probabilities)
    return Policy(compiled, probabilities)


def padded(row: Floats, length: int) -> Floats:
    """Pad a row with zeros at the end."""
    return np.pad(row, (0, length - len(row)))


def solve_again(
    subgames: Subgames, policy: Policy, players: Sequence[int], method: str, iterations: int, probabilities: Floats
) -> None:
    """Solve a batch, and write the given players' average policies for reachable hands to a table, float64 [Q]."""
    search = SubgameSearch(subgames, METHODS[method], NoLeaf(), horizon=iterations)
    search.run(iterations)
    write_average(search, policy.game, players, probabilities)


def write_average(search: SubgameSearch, game: CompiledGame, players: Sequence[int], probabilities: Floats) -> None:
    """Write the given players' average policies for reachable hands to a table of the whole game, float64 [Q].

    Raises:
        PolicyError: the compiled game is not the game of the search.
    """
    subgames, average = search.subgames, search.average_policy()
    layout = subgames.tree.infoset_layout
    for state, infosets in zip(subgames.decisions.true_states, subgames.infosets, strict=True):
        if subgames.game.options(state).player in players:
            for hand, target in sequences_at(game, subgames.game, state).items():
                first, stride, actions = layout[infosets[hand]]
                sequences = slice(first, first + stride * actions, stride)
                if search.average[sequences].any():
                    probabilities[target] = average[sequences]
