"""Best responses learned by PPO, against exact ones: reached where they can be, never exceeded."""

import numpy as np
import pytest

pytest.importorskip("torch")

import treeplex as tp
from tests.search.agents.test_agent import table
from treeplex.engine.sampling.streams import Stream
from treeplex.errors import GameError, PolicyError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load
from treeplex.learn.best_response.learner import BY_NETWORK, BestResponse, BestResponseSettings
from treeplex.learn.best_response.positions import NOBODY, RulesWorld, TableWorld, World
from treeplex.search.agents.agent import TableAgent

KUHN, LEDUC, SMALL = "kuhn_poker", "leduc_poker", "leduc_poker(raises=1)"
FEW = {**BY_NETWORK, "batch": 256, "width": 32, "rate": 0.005}


def rules_world(spec: str, fixed: Policy | None = None) -> RulesWorld:
    rules = turn_by_turn(load(spec))
    return RulesWorld(rules, fixed or TablePolicy.uniform(rules.spec, rules.num_players))


def learned(spec: str, world: World, steps: int, **settings) -> BestResponse:
    response = BestResponse(load(spec), BestResponseSettings(steps=steps, **{**FEW, **settings}), world)
    for _ in range(steps):
        response.step()
    return response


def values_of(response: BestResponse, fixed: Policy) -> list[float]:
    """What the response gets in each seat against a policy, by the sequence form."""
    game, own, found = fixed.game, response.policy(), []
    played = own.on(game) if isinstance(own, NeuralPolicy) else own
    for seat in range(game.players):
        mixed, (first, last) = fixed.probabilities.copy(), game.tree.sequence_offsets[seat : seat + 2]
        mixed[first:last] = played.probabilities[first:last]
        found.append(judge(game, Policy(game, mixed)).value[seat])
    return found


@pytest.mark.parametrize("rules", [None, True])
def test_almost_exact_in_kuhn_poker(rules: bool | None) -> None:
    fixed = table(KUHN, 3).table
    response = learned(KUHN, rules_world(KUHN, fixed), 30, rules=rules)
    assert response.sampler.numbered == (rules is None)
    assert sum(values_of(response, fixed)) == pytest.approx(sum(judge(fixed.game, fixed).best_response_values), abs=0.03)


@pytest.mark.slow
def test_leduc_poker_in_seconds() -> None:
    """More than nine tenths of what a best response wins from uniform play, 2.374."""
    fixed = Policy.uniform(compile_game(LEDUC))
    response = learned(LEDUC, rules_world(LEDUC), 100, batch=1024, width=64, rate=0.001, hands=3000)
    found, best = values_of(response, fixed), judge(fixed.game, fixed).best_response_values
    assert sum(found) / 2 > 0.93 * 2.374
    assert all(own <= most + 1e-9 for own, most in zip(found, best, strict=True))
    played = response.measure()
    assert [played["value_0"], played["value_1"]] == pytest.approx(found, abs=2.4 * played["interval"])
    assert played["at_least"] == pytest.approx((played["value_0"] + played["value_1"]) / 2)
    assert played["at_least"] <= 2.374 + played["interval"] * 1.3
    assert 0.05 < played["interval"] < 0.3


@pytest.mark.parametrize("seed", range(4))
def test_never_more_than_a_best_response(seed: int) -> None:
    fixed = table(SMALL, seed).table
    response = learned(SMALL, rules_world(SMALL, fixed), 10)
    best, found = judge(fixed.game, fixed).best_response_values, values_of(response, fixed)
    assert all(own <= most + 1e-9 for own, most in zip(found, best, strict=True))
    assert sum(found) > sum(judge(fixed.game, fixed).value)


def test_agents_and_policies_are_the_same_world() -> None:
    agent = table(SMALL, 1)
    by_agent, by_rules = TableWorld(agent), rules_world(SMALL, agent.table)
    tables = [world.policy_on(agent.table.game).probabilities for world in (by_agent, by_rules)]
    np.testing.assert_allclose(*tables, atol=1e-12)
    for world in (by_agent, by_rules):
        met = set()
        for number in range(200):
            position = world.begin(1, Stream(0, number, 1))
            while position.actions:
                met.add(position.infostate)
                position = position.after(number % len(position.actions))
        assert met
        assert met <= {text for player, text in agent.table.game.lookup if player == 1}


@pytest.mark.parametrize("rules", [None, True])
def test_moves_seen_by_their_player_alone(rules: bool | None) -> None:
    agent = TableAgent(table("modified_rps").game, Policy.uniform(compile_game("modified_rps")))
    response = learned("modified_rps", TableWorld(agent), 10, rules=rules)
    best = judge(agent.table.game, agent.table).best_response_values
    assert values_of(response, agent.table) == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
def test_three_players_and_sums_that_are_not_zero() -> None:
    response = learned("kuhn_poker(players=3)", rules_world("kuhn_poker(players=3)"), 60, hands=6000)
    found, exact = response.measure(), tp.judge("kuhn_poker(players=3)", "uniform")
    assert found["at_least"] == pytest.approx(exact.exploitability, abs=1.5 * found["interval"] + 0.02)
    game = "matrix(rows=[[3,0],[5,1]],second=[[3,5],[0,1]])"
    found = learned(game, rules_world(game), 20).measure()
    assert found["at_least"] == pytest.approx(tp.exploitability(game, "uniform"), abs=1.7 * found["interval"])


@pytest.mark.parametrize("rules", [None, True])
def test_state_is_all_there_is(rules: bool | None) -> None:
    whole, half = (learned(KUHN, rules_world(KUHN), 4, rules=rules, decay=0.0) for _ in range(2))
    again = BestResponse(half.game, half.settings, half.world)
    again.restore({name: np.array(array) for name, array in half.state().items()})
    again.generator.bit_generator.state = half.generator.bit_generator.state
    for response in (whole, again):
        response.step()
    found = again.state()
    for name, array in whole.state().items():
        assert np.array_equal(array, found[name]), name


def test_all_play_by_themselves() -> None:
    world = rules_world(KUHN)
    payoffs = [world.begin(NOBODY, Stream(0, number, 0)).payoffs for number in range(200)]
    assert {tuple(each) for each in payoffs} == {(1.0, -1.0), (-1.0, 1.0), (2.0, -2.0), (-2.0, 2.0)}


@pytest.mark.parametrize("rules", [None, True])
def test_what_does_not_fit(rules: bool | None) -> None:
    with pytest.raises((PolicyError, GameError, KeyError)):
        learned(LEDUC, rules_world(LEDUC, Policy.uniform(compile_game(KUHN))), 1, rules=rules)
