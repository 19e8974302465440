"""Extends a coarse blueprint to a game with more bet sizes, by action translation and self-improvement."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from treeplex.base.spec import nearest
from treeplex.errors import PolicyError, SpecError
from treeplex.evaluate.judge import best_response, judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.forms.sources.load import load, public_tree
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.run.judge import as_policy, load_policy
from treeplex.search.action_subset import ActionAbstraction, bet_abstraction
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.search.resolving.self_improvement import (
    CoarsePolicy,
    Path,
    compile_abstraction,
    improve_blueprint,
    most_frequent_actions,
    off_tree_actions,
)
from treeplex.search.translation.exact import translated_policy
from treeplex.solvers import make_solver


@dataclass(frozen=True, eq=False)
class Improvement:
    """The result of extending a blueprint.

    Attributes:
        policy: the resulting policy of the game with all bet sizes.
        exploitability: exploitability of the translated blueprint, then after each round of additions.
        added: the bets added in each round, with the paths to them.
    """

    policy: Policy
    exploitability: list[float]
    added: list[list[str]]


def improve(
    game: str,
    sizes: Sequence[str],
    blueprint: str | None = None,
    *,
    opponent: Any = None,
    times: int = 5,
    bets: int = 8,
    gadget: str = "reach-maxmargin",
    iterations: int = 1000,
    progress: Callable[[str], None] = lambda text: None,
) -> Improvement:
    """Translate a coarse blueprint, then add the off-tree bets that opponents make most often.

    Args:
        game: a poker game with many bet sizes, small enough for a policy table.
        sizes: the blueprint's bet sizes, see :func:`treeplex.search.bet_abstraction`.
        blueprint: a file or run folder of the game with only these sizes; None to solve it by CFR+.
        opponent: a policy of ``game`` whose bets are added; None for best responses to the current policy.
        times: maximum number of rounds of additions; stops early if no bets are missing.
        bets: number of bets added per round.
        gadget: gadget for solving the subgames after the new bets.
        iterations: iterations of each solve.
        progress: called with a line of text at each stage.

    Returns:
        The policy, the added bets, and the exploitability before and after each round.

    Raises:
        SpecError: the game has no bets or no public tree, or the gadget is unknown.
        PolicyError, FileError: the blueprint or the opponent does not fit the game.
    """
    if gadget not in RESOLVING:
        raise SpecError(f"unknown gadget {gadget!r}{nearest(gadget, RESOLVING)}")
    played = load(game)
    compiled, rules = compile_game(played), public_tree(played.public)
    against = None if opponent is None else as_policy(compiled, opponent)
    coarse = first_blueprint(played, bet_abstraction(rules, sizes), blueprint, iterations)
    lost, added = list[float](), list[list[str]]()
    while True:
        policy = translated_policy(compiled, coarse.policy, coarse.rules, rules=rules)
        lost.append(judge(compiled, policy).exploitability)
        progress(f"exploitability {lost[-1]:.6g} after {len(added)} of {times} additions")
        if len(added) == times:
            return Improvement(policy, lost, added)
        chosen = most_frequent_actions(bets_of_opponents(coarse.rules, policy, against), bets)
        if not chosen:  # no bets are missing
            return Improvement(policy, lost, added)
        added.append([path_text(rules, path) for path in chosen])
        coarse = improve_blueprint(compiled, coarse, chosen, gadget, iterations=iterations)


def first_blueprint(game: Game, menu: ActionAbstraction, file: str | None, iterations: int) -> CoarsePolicy:
    """Load or solve the initial blueprint."""
    few = compile_abstraction(compile_game(game), menu)
    if file is None:
        solver = make_solver(few, "cfr+")
        solver.run(iterations)
        return CoarsePolicy(menu, solver.average_policy())
    policy, probabilities = load_policy(file), uniform_probabilities(few)
    if not isinstance(policy, Policy) or policy.game.lookup.keys() != few.lookup.keys():
        raise PolicyError(f"{file} is not a policy of {game} with only these sizes; give the sizes with which it was solved")
    for key, infoset in few.lookup.items():  # action ids differ between the games, but not their order
        probabilities[few.sequences_at(infoset)] = policy.probabilities[policy.game.sequences_at(policy.game.lookup[key])]
    return CoarsePolicy(menu, Policy(few, probabilities))


def bets_of_opponents(menu: ActionAbstraction, policy: Policy, opponent: Policy | None) -> dict[Path, float]:
    """Probabilities of missing bets in both seats, made by an opponent or by best responses to a policy."""
    chances = dict[Path, float]()
    for seat in (0, 1):
        both = best_response(policy.game, policy, seat)[1] if opponent is None else seated(opponent, policy, seat)
        for path, likely in off_tree_actions(menu, both).items():
            chances[path] = chances.get(path, 0.0) + likely
    return chances


def seated(opponent: Policy, policy: Policy, seat: int) -> Policy:
    """Replace a policy in one seat by an opponent's policy."""
    probabilities = policy.probabilities.copy()
    sequences = slice(*policy.game.tree.sequence_offsets[seat : seat + 2])
    probabilities[sequences] = opponent.probabilities[sequences]
    return Policy(policy.game, probabilities)


def path_text(rules: PublicTree, path: Path) -> str:
    """Format the actions and cards of a path."""
    state, words = rules.first_state(), []
    for label in path:
        words.append(rules.action_to_string(state.node, label))
        state = rules.after(state, label)
    return ", ".join(words)
