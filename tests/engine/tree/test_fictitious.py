"""The loop of fictitious play, one iteration at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.compiled_view import close_tables, table_of
from tests.random_games import STEADY, RandomGame, games
from treeplex.engine.tree.fictitious import iterate_best_replies, mix
from treeplex.engine.tree.form import new_state, workspace
from treeplex.engine.tree.sweeps import reach
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import uniform_probabilities


@STEADY
@given(games((2, 3)), st.booleans(), st.booleans())
def test_iterations(rules: RandomGame, alternating: bool, optimistic: bool) -> None:
    """Payoffs are random floats, so that no two best responses tie."""
    root, game = oracle.grow(rules), compile_rules(rules)
    weight = float if optimistic else (lambda s: 1.0)
    reference = oracle.FictitiousPlay(root, weight, alternating=alternating, optimistic=optimistic)
    policy = uniform_probabilities(game)
    reply = np.empty_like(policy)
    for player in range(game.players):
        reach(game.tree, player, policy, reply)
    average, target = reply.copy(), np.empty_like(reply)
    state, work = new_state(policy, strategy=reply, averages=average[None]), workspace(game.tree)
    for t in range(1, 5):
        reference.run(1)
        step, optimism = (2 / (t + 1), 2 / (t + 2)) if optimistic else (1 / (t + 1), 0.0)
        steps, optimisms = np.array([step]), np.array([optimism])
        iterate_best_replies(game.tree, game.payoff, steps, optimisms, alternating, state, target, work)
        means = {key: w for player in range(game.players) for key, w in reference.mean(player).items()}
        close_tables(table_of(game, average), means)


def test_many_steps_at_once_are_the_same_as_one_by_one() -> None:
    game = compile_rules(RandomGame(5, depth=6))
    results = []
    for chunks in ([6], [1, 2, 3]):
        policy = uniform_probabilities(game)
        reply = np.empty_like(policy)
        for player in (0, 1):
            reach(game.tree, player, policy, reply)
        average, target = reply.copy(), np.empty_like(reply)
        done = 0
        for chunk in chunks:
            steps = 1 / np.arange(done + 2.0, done + chunk + 2.0)
            state = new_state(policy, strategy=reply, averages=average[None])
            iterate_best_replies(game.tree, game.payoff, steps, np.zeros(chunk), True, state, target, workspace(game.tree))
            done += chunk
        results.append(average)
    np.testing.assert_array_equal(*results)


def test_mix_is_convex_and_touches_one_player() -> None:
    game = compile_rules(RandomGame(3, depth=5))
    size, split = len(game.action_ids), game.tree.sequence_offsets[1]
    target = np.zeros(size)
    mix(game.tree, 0, 0.25, np.full(size, 4.0), np.full(size, 8.0), target)
    assert (target[:split] == 5.0).all()
    assert (target[split:] == 0.0).all()
