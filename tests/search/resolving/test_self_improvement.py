"""The self-improver: what opponents exploit most is solved, and can be exploited less."""

import numpy as np
import pytest

from treeplex.errors import AlgorithmError, GameError
from treeplex.evaluate import best_response, judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.search.action_subset import bet_abstraction
from treeplex.search.resolving.self_improvement import (
    CoarsePolicy,
    compile_abstraction,
    improve_blueprint,
    most_frequent_actions,
    off_tree_actions,
    off_tree_counts,
)
from treeplex.search.translation.exact import translated_policy
from treeplex.solvers import make_solver

REAL = "no_limit_leduc(sizes=[50%;100%;a],stack=700)"
GAME = compile_game(REAL)
RULES = public_tree(REAL)


@pytest.fixture(scope="module")
def blueprint() -> CoarsePolicy:
    menu = bet_abstraction(RULES, ["100%", "a"])
    solver = make_solver(compile_abstraction(GAME, menu), "cfr+")
    solver.run(1000)
    return CoarsePolicy(menu, solver.average_policy())


def played(blueprint: CoarsePolicy) -> Policy:
    return translated_policy(GAME, blueprint.policy, blueprint.rules, rules=RULES)


def exploited(blueprint: CoarsePolicy) -> dict[tuple[int, ...], float]:
    """The unknown bets of best responses in either seat."""
    found: dict[tuple[int, ...], float] = {}
    for seat in (0, 1):
        _, opponent = best_response(GAME, played(blueprint), seat)
        for path, likely in off_tree_actions(blueprint.rules, opponent).items():
            found[path] = found.get(path, 0.0) + likely
    return found


def test_the_subset_is_the_coarse_game(blueprint: CoarsePolicy) -> None:
    coarse = compile_game("no_limit_leduc(stack=700)")
    assert blueprint.policy.game.size == coarse.size
    assert set(blueprint.policy.game.infostates) == set(coarse.infostates)


@pytest.mark.slow
def test_what_best_responses_bet_is_solved_and_exploited_less(blueprint: CoarsePolicy) -> None:
    actions = most_frequent_actions(exploited(blueprint), 4)
    safe, unsafe = (
        improve_blueprint(GAME, blueprint, actions, gadget, iterations=200) for gadget in ("reach-maxmargin", "none")
    )
    before, after, unsafe_after = (judge(GAME, played(each)).exploitability for each in (blueprint, safe, unsafe))
    assert after < 0.8 * before
    assert unsafe_after > after + 3


def test_nothing_else_changes(blueprint: CoarsePolicy) -> None:
    (path,) = most_frequent_actions(exploited(blueprint), 1)
    after = improve_blueprint(GAME, blueprint, [path], iterations=20)
    before, player = blueprint.policy, after.rules.options(blueprint.rules.first_state()).player
    assert player == 0
    for key in before:
        known = {action: chance for action, chance in after.policy[key].items() if chance}
        assert known == {action: chance for action, chance in before[key].items() if chance}
    assert len(after.policy) > len(before)


def test_actions_are_counted_by_play(blueprint: CoarsePolicy) -> None:
    uniform = Policy.uniform(GAME)
    likely = off_tree_actions(blueprint.rules, uniform)
    check, half = RULES.options(RULES.first_state()).labels[:2]
    assert likely[half,] == pytest.approx(1 / 4)
    assert likely[check, half] == pytest.approx(1 / 16)
    plays = [(half, 0), (check, half, 1), (check, half, 0), (check, check)]
    assert off_tree_counts(blueprint.rules, plays) == {(half,): 1.0, (check, half): 2.0}
    assert off_tree_counts(blueprint.rules, plays, seats=[1, 1, 0, 1]) == {(check, half): 1.0}
    assert most_frequent_actions({(1,): 2.0, (2,): 3.0, (0,): 2.0}, 2) == [(2,), (0,)]


def test_hands_that_never_come_are_left_alone(blueprint: CoarsePolicy) -> None:
    """A bet behind an action that the blueprint never takes is added, and has nothing to be solved with."""
    check, _, pot = RULES.options(RULES.first_state()).labels[:3]
    never = blueprint.policy.probabilities.copy()
    game = blueprint.policy.game
    for infoset in range(len(game.infostates)):
        if "[Player: 0][Board: ][Actions: ]" in game.infostates[infoset]:
            never[game.sequences_at(infoset)] = np.eye(len(game.sequences_at(infoset)))[0]
    raised = RULES.options(RULES.after(RULES.first_state(), pot)).labels
    unknown = [label for label in raised if label not in blueprint.rules.options(RULES.after(RULES.first_state(), pot)).labels]
    after = improve_blueprint(GAME, CoarsePolicy(blueprint.rules, Policy(game, never)), [(pot, unknown[0])])
    assert len(after.policy) > len(never) // 3
    assert check not in unknown


def test_errors_name_the_remedy(blueprint: CoarsePolicy) -> None:
    check, half = RULES.options(RULES.first_state()).labels[:2]
    with pytest.raises(AlgorithmError, match="unknown gadget 'margin'; known: none, resolve"):
        improve_blueprint(GAME, blueprint, [], "margin")
    with pytest.raises(GameError, match="comes after another off-tree action"):
        improve_blueprint(GAME, blueprint, [(half, half)])
    with pytest.raises(GameError, match="no player acts"):
        improve_blueprint(GAME, blueprint, [(check, check, 0)])
    with pytest.raises(GameError, match="action 99 is not legal"):
        improve_blueprint(GAME, blueprint, [(99,)])
