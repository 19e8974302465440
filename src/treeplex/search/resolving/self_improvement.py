"""Self-improver: solves the subgames after opponents' off-tree bets, and adds them to the blueprint.

A blueprint has few actions, to which all others are translated (:mod:`treeplex.search.translation.mapping`). The off-tree
actions that opponents choose most often are added one by one. Play after each of them is solved separately with a gadget. The
alternative value of every opposing hand is the most that it could get with the existing actions, so that, if possible, no hand
gains by the new action. Source: Brown and Sandholm (2018), "Superhuman AI for heads-up no-limit poker: Libratus beats top
professionals", section "self-improvement".

Libratus added first-round bets in the nights between days of play, and chose bets that were frequent and far from those in its
blueprint. This implementation supports any round, and considers only the frequency of a bet.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.public_tree import compile_public_tree
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.games.public import Decision, PublicState, pair_state
from treeplex.search.action_subset import ActionAbstraction
from treeplex.search.resolving.resolved import REACH, RESOLVING, UNSAFE, opponent_values, solve_again
from treeplex.search.subgames.batch import cut_states
from treeplex.search.subgames.beliefs import moved_range
from treeplex.search.subgames.gadgets import GADGETS, Gadget
from treeplex.search.subgames.policy_tables import table_at

Path = tuple[int, ...]
"""Labels of actions and cards from the start of the game; the last one is an off-tree action."""


class CoarsePolicy(NamedTuple):
    """A blueprint in an action abstraction.

    Attributes:
        rules: the action abstraction.
        policy: a policy for the compiled abstraction.
    """

    rules: ActionAbstraction
    policy: Policy


def compile_abstraction(game: CompiledGame, rules: ActionAbstraction) -> CompiledGame:
    """Compile an action abstraction; infostates and actions are those of the game.

    Args:
        game: the whole game.
        rules: the action abstraction.

    Returns:
        The compiled abstraction.

    Raises:
        GameError: the game was loaded without rules.
    """
    if game.rules is None:
        raise GameError(f"{game} was loaded without rules, which search needs; give the game as a spec")
    return compile_public_tree(game.rules, rules)


def off_tree_actions(rules: ActionAbstraction, policy: Policy) -> dict[Path, float]:
    """Probability that each off-tree action is the first off-tree action of a playthrough, given a full-game policy.

    Args:
        rules: the action abstraction.
        policy: a policy of the whole game, such as an opponent's in one seat and the translated blueprint in the other.

    Returns:
        The probability of each such action that is not 0, by the path that ends with the action.
    """
    whole, probabilities = rules.rules, dict[Path, float]()
    first = whole.first_state()
    stack: list[tuple[Path, PublicState, tuple[Floats, ...]]] = [
        ((), first, tuple(np.ones(size) for size in first.weight.shape))
    ]
    while stack:
        path, state, reaches = stack.pop()
        options = whole.options(state)
        considered = {*rules.options(state).labels}
        table = table_at(policy, whole, state) if options.player >= 0 else None
        for number, label in enumerate(options.labels):
            after, after_reaches = pair_state(whole.after(state, label)), reaches
            if table is not None:
                moved = moved_range(reaches[options.player], table, number, private=options.private)
                after_reaches = (moved, reaches[1]) if options.player == 0 else (reaches[0], moved)
            likely = float(after_reaches[0] @ after.weight @ after_reaches[1])
            if likely > 0 and label not in considered:
                probabilities[*path, label] = likely
            elif likely > 0:
                stack.append(((*path, label), after, after_reaches))
    return probabilities


def off_tree_counts(
    rules: ActionAbstraction, plays: Iterable[Sequence[int]], seats: Iterable[int] | None = None
) -> dict[Path, float]:
    """Count how often each off-tree action was the first off-tree action of a playthrough.

    Args:
        rules: the action abstraction.
        plays: for each playthrough, the labels of all actions and cards in the whole game.
        seats: for each playthrough, the seat of the opponent; None to count both seats.

    Returns:
        The count of each such action, by the path that ends with the action.
    """
    counts: Counter[Path] = Counter()
    played = list(plays)
    for labels, seat in zip(played, [None] * len(played) if seats is None else seats, strict=True):
        state = rules.first_state()
        for number, label in enumerate(labels):
            options = rules.options(state)
            if label not in options.labels:
                if seat in (None, options.player):
                    counts[tuple(labels[: number + 1])] += 1
                break
            state = rules.after(state, label)
    return {path: float(count) for path, count in counts.items()}


def most_frequent_actions(actions: Mapping[Path, float], count: int) -> list[Path]:
    """Select the most frequent actions, most frequent first.

    Args:
        actions: probability or count of each action, see :func:`off_tree_actions` and :func:`off_tree_counts`.
        count: maximum number of actions to return.

    Returns:
        The paths that end with these actions.
    """
    return sorted(actions, key=lambda path: (-actions[path], path))[:count]


def improve_blueprint(
    game: CompiledGame,
    blueprint: CoarsePolicy,
    actions: Sequence[Path],
    gadget: str = "reach-maxmargin",
    *,
    method: str = "cfr+",
    iterations: int = 1000,
) -> CoarsePolicy:
    """Add actions to a blueprint, each solved as a separate subgame.

    Args:
        game: the whole game.
        blueprint: an action abstraction and its policy.
        actions: paths that end with an action to add, from :func:`most_frequent_actions`; a path may be a prefix of another.
        gadget: one of :data:`treeplex.search.resolving.resolved.RESOLVING`.
        method: one of :data:`treeplex.search.methods.METHODS`.
        iterations: iterations of each solve.

    Returns:
        The new blueprint, which differs from the old one only after these actions.

    Raises:
        GameError: a path is not in the whole game, or its last label is not a player's action.
        AlgorithmError: an unknown gadget.
    """
    if gadget not in RESOLVING:
        raise AlgorithmError(f"unknown gadget {gadget!r}; known: {', '.join(RESOLVING)}")
    for path in actions:
        blueprint = with_one(game, blueprint, path, gadget, method, iterations)
    return blueprint


def with_one(
    game: CompiledGame, blueprint: CoarsePolicy, path: Path, gadget: str, method: str, iterations: int
) -> CoarsePolicy:
    """Return the blueprint with one more action."""
    rules, policy = blueprint
    before = along(blueprint, path[:-1])
    state, reaches = before[-1]
    visited = rules.rules.visit(state.node)
    if not isinstance(visited, Decision):
        raise GameError(f"no player acts at {rules.name_of(state)}; end the path with a player's action")
    other, player = visited.player, 1 - visited.player
    more = rules.with_action_at(state.node, path[-1])
    larger = Policy(compiled := compile_abstraction(game, more), carried_over(policy, compiled))
    after, ranges = pair_state(more.after(state, path[-1])), tuple(reach[None] for reach in reaches)
    if not rules.opposing(state, reaches, other).any():  # the blueprint never reaches this state
        return CoarsePolicy(more, larger)
    front = None
    if gadget != UNSAFE:
        promised = opponent_values(cut_states(rules, [state], ranges=ranges), policy, player)
        if gadget.startswith(REACH):
            promised = promised + given_away(blueprint, before, player)
        make: Callable[[int, Floats], Gadget] = GADGETS[gadget.removeprefix(REACH)]
        front = make(player, promised)
    subgame = cut_states(more, [after], ranges=ranges, gadget=front)
    probabilities = larger.probabilities.copy()
    solve_again(subgame, larger, (player,), method, iterations, probabilities)
    return CoarsePolicy(more, Policy(compiled, probabilities))


def along(blueprint: CoarsePolicy, path: Path) -> list[tuple[PublicState, tuple[Floats, Floats]]]:
    """Public states on a path, with both players' reach under the blueprint, float64 [H_i]."""
    rules, policy = blueprint
    state = rules.first_state()
    reaches = np.ones(state.weight.shape[0]), np.ones(state.weight.shape[1])
    states = [(state, reaches)]
    for label in path:
        options = rules.options(state)
        if options.player >= 0:
            if label not in options.labels:
                raise GameError(f"{rules.name_of(state)} comes after another off-tree action; add that one first")
            number = list(options.labels).index(label)
            moved = moved_range(reaches[options.player], table_at(policy, rules, state), number, private=options.private)
            reaches = (moved, reaches[1]) if options.player == 0 else (reaches[0], moved)
        state = rules.after(state, label)
        states.append((state, reaches))
    return states


def given_away(blueprint: CoarsePolicy, before: Sequence[tuple[PublicState, tuple[Floats, Floats]]], player: int) -> Floats:
    """Gifts that the opponent's hands give on the way to the last state, float64 [1, H]."""
    rules, policy = blueprint
    total = np.zeros((1, before[-1][0].weight.shape[1 - player]))
    for (state, reaches), (following, _) in pairwise(before):
        if rules.options(state).player == 1 - player:
            here, there = (
                opponent_values(cut_states(rules, [at], ranges=tuple(reach[None] for reach in reaches)), policy, player)
                for at in (state, following)
            )
            total += np.nan_to_num(here - there)
    return total


def carried_over(policy: Policy, game: CompiledGame) -> Floats:
    """Extend a policy to a game with more infosets and actions, float64 [Q]: 0 for new actions, uniform at new infosets."""
    probabilities = uniform_probabilities(game)
    for infoset, (player, infostate) in enumerate(zip(owners(game), game.infostates, strict=True)):
        known = policy.game.lookup.get((player, infostate))
        if known is not None:
            played = policy.at(known)
            sequences = game.sequences_at(infoset)
            probabilities[sequences] = [played.get(int(action), 0.0) for action in game.action_ids[sequences]]
    return probabilities


def owners(game: CompiledGame) -> list[int]:
    """Player who acts at each infoset."""
    return [game.player_of(infoset) for infoset in range(len(game.infostates))]
