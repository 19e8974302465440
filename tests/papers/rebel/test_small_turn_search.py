"""The script on search in turn hold'em: what it judges is what search plays, and it comes to the equilibrium."""

import numpy as np
import pytest

from papers.rebel.small_turn_search import Turn, steps
from treeplex.evaluate import judge
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.search import ExactLeaf
from treeplex.search.play_distribution import playthrough_policy
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.horizon import Horizon

SPEC = "turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[])"


@pytest.fixture(scope="module")
def turn():
    return Turn(SPEC, Horizon(rounds=True, endgame=7), 60)


@pytest.mark.quick_cases("lcfr")
@pytest.mark.parametrize("method", ["lcfr", "lcfr-avg", "lcfr-avg-modified", "flop"])
def test_what_is_played_comes_to_the_equilibrium(turn, method):
    points = [4, 16, 80]
    found = turn.curve(turn.rivers, method, points)
    for which in ("played", "average"):
        assert found[which][0] > 5 * found[which][2]
        assert found[which][2] < 0.03


@pytest.mark.slow
def test_updates_that_alternate_come_closer():
    """On twelve cards after 32 iterations: 2.5 times closer in the sound form, 1.6 times in the modified one."""
    turn = Turn("turn_holdem", Horizon(rounds=True, endgame=9), 64)
    methods = ["lcfr", "lcfr-avg", "lcfr-avg-simultaneous", "lcfr-avg-modified", "lcfr-avg-modified-simultaneous"]
    found = {method: turn.curve(turn.rivers, method, [32])["played"][0] for method in methods}
    assert found["lcfr-avg"] < 0.5 * found["lcfr-avg-simultaneous"]
    assert found["lcfr-avg-modified"] < 0.7 * found["lcfr-avg-modified-simultaneous"]
    assert max(found["lcfr-avg"], found["lcfr-avg-modified"]) < 0.9 * found["lcfr"] < found["lcfr-avg-simultaneous"]


@pytest.mark.parametrize("method", ["lcfr", "lcfr-avg", "lcfr-avg-simultaneous", "dcfr-avg-modified", "flop"])
def test_steps_add_up_to_the_average(turn, method):
    """The turn's part of what is played is the average policy of the search itself, of fictitious play its last step."""
    search = turn.search(turn.rivers, method, 12)
    total = np.zeros_like(search.average)
    for step in steps(search, 12):
        total = step.discount * total + step.weight * step.played
        last = step
    assert last.average == pytest.approx(search.average)
    if method != "flop":
        assert total == pytest.approx(search.average)


@pytest.mark.slow
def test_playthroughs_come_to_what_is_played(turn):
    """The agent's own judge, which draws iterations, with many playthroughs, where the two agree on beliefs (CFR-D)."""
    settings = PlaythroughSettings(method="dcfr", iterations=16, depth=0, rounds=True, endgame=7, playthroughs=64, batch=64)
    drawn = playthrough_policy(turn.game, turn.rules, ExactLeaf(iterations=60), settings, np.random.default_rng(0))
    played = turn.curve(turn.rivers, "dcfr", [16])["played"][0]
    assert judge(turn.game, drawn).exploitability == pytest.approx(played, abs=0.05)


def test_a_uniform_round_with_solved_rivers_is_a_policy_of_the_whole_game(turn):
    search = turn.search(turn.rivers, "cfr", 4)
    total = np.zeros(int(turn.game.tree.sequence_offsets[-1]))
    turn.add(total, 1.0, search.strategy, search.strategy)
    policy = Policy(turn.game, normalised(turn.game, total))
    assert 0.05 < judge(turn.game, policy).exploitability < judge(turn.game, Policy.uniform(turn.game)).exploitability
