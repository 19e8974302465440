"""Best responses learned in tables, against exact ones: reached where they can be, never exceeded."""

import numpy as np
import pytest

import treeplex as tp
from tests.search.agents.test_agent import table
from treeplex.engine.sampling.streams import Stream
from treeplex.errors import GameError, PolicyError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load
from treeplex.learn.best_response.held_out import held_out
from treeplex.learn.best_response.positions import NOBODY, RulesWorld, TableWorld, World
from treeplex.learn.best_response.tabular import TabularResponse
from treeplex.search.agents.agent import TableAgent

LEDUC = "leduc_poker"


def rules_world(spec: str, fixed: Policy | None = None) -> RulesWorld:
    rules = turn_by_turn(load(spec))
    return RulesWorld(rules, fixed or TablePolicy.uniform(rules.spec, rules.num_players))


def learned(world: World, episodes: int, **options) -> TabularResponse:
    response = TabularResponse(world, 0, **options)
    for episode in range(episodes):
        response.learn(episode, max(0.2, 1 - 2 * episode / episodes))
    return response


def exact_values(spec: str, response: TabularResponse, fixed: Policy) -> list[float]:
    """What the response gets in each seat against a policy, by the sequence form."""
    game, own, found = fixed.game, response.policy().on(fixed.game), []
    for seat in range(game.players):
        mixed = fixed.probabilities.copy()
        for (player, _), infoset in game.lookup.items():
            if player == seat:
                mixed[game.sequences_at(infoset)] = own.probabilities[game.sequences_at(infoset)]
        found.append(judge(game, Policy(game, mixed)).value[seat])
    return found


@pytest.mark.quick_cases("True")
@pytest.mark.parametrize("branching", [True, False])
def test_exact_in_kuhn_poker(branching):
    fixed = table("kuhn_poker", 3).table
    response = learned(rules_world("kuhn_poker", fixed), 2000 if branching else 4000, branching=branching)
    best = judge(fixed.game, fixed).best_response_values
    assert exact_values("kuhn_poker", response, fixed) == pytest.approx(best, abs=1e-12 if branching else 0.03)


@pytest.mark.slow
def test_leduc_poker_in_seconds():
    """Nine tenths of what a best response wins from uniform play, 2.374."""
    response = learned(rules_world(LEDUC), 5000)
    fixed = Policy.uniform(compile_game(LEDUC))
    found, best = exact_values(LEDUC, response, fixed), judge(fixed.game, fixed).best_response_values
    assert sum(found) / 2 > 0.9 * 2.374
    assert all(own <= most + 1e-9 for own, most in zip(found, best, strict=True))
    played = held_out(response.world, response.choose, 3000, seed=1)
    assert played.values == pytest.approx(found, abs=1.7 * max(played.intervals))
    assert played.gain == pytest.approx(sum(played.values) / 2)
    assert played.gain <= 2.374 + played.interval * 1.3
    assert 0.05 < played.interval < 0.3


@pytest.mark.parametrize("seed", range(4))
def test_never_more_than_a_best_response(seed):
    fixed = table("leduc_poker(raises=1)", seed).table
    response = learned(rules_world("leduc_poker(raises=1)", fixed), 300)
    best = judge(fixed.game, fixed).best_response_values
    found = exact_values("", response, fixed)
    assert all(own <= most + 1e-9 for own, most in zip(found, best, strict=True))
    assert sum(found) > sum(judge(fixed.game, fixed).value)


@pytest.mark.slow
def test_agents_and_policies_are_the_same_world():
    """Against an agent at public states, the same infosets are met as on rules, and the same is won."""
    agent = table(LEDUC, 1)
    by_agent, by_rules = learned(TableWorld(agent), 500), learned(rules_world(LEDUC, agent.table), 500)
    for player in (0, 1):
        known = {text for who, text in agent.table.game.lookup if who == player}
        assert all(known > set(each.infosets[player].lookup) for each in (by_agent, by_rules))
    found = [sum(exact_values(LEDUC, each, agent.table)) for each in (by_agent, by_rules)]
    assert found[0] == pytest.approx(found[1], rel=0.15)


def test_moves_seen_by_their_player_alone():
    rules = load("modified_rps")
    agent = TableAgent(table("modified_rps").game, Policy.uniform(compile_game(rules)))
    response = learned(TableWorld(agent), 300)
    assert exact_values("modified_rps", response, agent.table) == pytest.approx(
        judge(agent.table.game, agent.table).best_response_values, abs=1e-9
    )


@pytest.mark.slow
def test_three_players_and_sums_that_are_not_zero():
    response = learned(rules_world("kuhn_poker(players=3)"), 3000)
    found = held_out(response.world, response.choose, 6000, seed=2)
    exact = tp.judge("kuhn_poker(players=3)", "uniform")
    assert found.gain == pytest.approx(exact.exploitability, abs=1.5 * found.interval + 0.02)
    game = "matrix(rows=[[3,0],[5,1]],second=[[3,5],[0,1]])"
    response = learned(rules_world(game), 200)
    found = held_out(response.world, response.choose, 4000, seed=0)
    assert found.gain == pytest.approx(tp.exploitability(game, "uniform"), abs=1.7 * found.interval)


def test_state_is_all_there_is():
    whole = learned(rules_world("kuhn_poker"), 60)
    half = learned(rules_world("kuhn_poker"), 30)
    again = TabularResponse(half.world, 0)
    again.restore({name: np.array(array) for name, array in half.state().items()})
    for episode in range(30, 60):
        again.learn(episode, 0.0)
    for name, array in whole.state().items():
        assert np.array_equal(array, again.state()[name]), name
    broken = dict(half.state())
    broken["values.0"] = broken["values.0"][:-1]
    with pytest.raises(ValueError, match="different lengths"):
        TabularResponse(half.world, 0).restore(broken)


def test_all_play_by_themselves():
    world = rules_world("kuhn_poker")
    payoffs = [world.begin(NOBODY, Stream(0, number, 0)).payoffs for number in range(200)]
    assert {tuple(each) for each in payoffs} == {(1.0, -1.0), (-1.0, 1.0), (2.0, -2.0), (-2.0, 2.0)}


def test_what_does_not_fit():
    with pytest.raises((PolicyError, GameError, KeyError)):
        learned(rules_world(LEDUC, Policy.uniform(compile_game("kuhn_poker"))), 1)
