"""The agent that solves again: exploitability of DeepStack, Libratus and Modicum, exactly, and how it plays."""

from collections.abc import Hashable, Sequence
from functools import cache

import numpy as np
import pytest

import treeplex as tp
from tests.search.resolving.test_resolved import LEDUC, blueprint, leduc, losses, random_policy
from treeplex.errors import AlgorithmError, GameError, PolicyError, SpecError
from treeplex.search import (
    Belief,
    BlueprintLeaf,
    ExactLeaf,
    Horizon,
    LeafValue,
    ZeroLeaf,
    agent_policy,
    biased_policies,
    play_game,
    public_tree,
    resolve_subgames,
)
from treeplex.search.action_subset import ActionAbstraction
from treeplex.search.resolving.agent import ResolvingAgent
from treeplex.search.resolving.blueprint import TableBlueprint
from treeplex.search.resolving.settings import DECISION, ROUND, ResolveSettings
from treeplex.search.subgames.horizon import TO_THE_END

END_OF_ROUND = Horizon(rounds=1, dealt=True)
DICE = "liars_dice(dice_sides=2)"


def agent_for(
    spec: str,
    leaves: LeafValue | Sequence[LeafValue] | None = None,
    policy: tp.Policy | None = None,
    *,
    horizon: Horizon = TO_THE_END,
    start: int = 0,
    **settings: object,
) -> ResolvingAgent:
    chosen, rules = ResolveSettings(**settings), public_tree(spec)  # type: ignore[arg-type]
    table = None if policy is None else TableBlueprint(rules, policy, start)
    return ResolvingAgent(rules, chosen, leaves, horizon=horizon, blueprint=table, start=start)


def played_by(agent: ResolvingAgent, spec: str) -> tp.Policy:
    return agent_policy(agent, tp.compile(spec))


@pytest.mark.slow_cases("leduc_poker-0.03")
@pytest.mark.parametrize(("spec", "bound"), [("kuhn_poker", 0.003), ("modified_rps", 0.02), ("leduc_poker", 0.03)])
def test_continual_resolving_is_close_to_an_equilibrium(spec: str, bound: float) -> None:
    """CFR reaches 0.096 in Leduc poker with so many iterations, CFR+ 0.013."""
    agent = agent_for(spec, iterations=100)
    assert tp.exploitability(spec, played_by(agent, spec)) < bound


@pytest.mark.slow
def test_exact_leaves() -> None:
    """Cut off at the end of the round, exact values for what follows."""
    exact = ExactLeaf(method="cfr+", iterations=10)
    agent = agent_for("leduc_poker", exact, iterations=40, skip=20, horizon=END_OF_ROUND)
    assert tp.exploitability(leduc(), played_by(agent, "leduc_poker")) < 0.2


@pytest.mark.slow
def test_leaves_of_zero_are_bad() -> None:
    agent = agent_for("leduc_poker", ZeroLeaf(), iterations=10, horizon=END_OF_ROUND)
    assert tp.exploitability(leduc(), played_by(agent, "leduc_poker")) > 0.5


@pytest.mark.slow
def test_exact_leaves_come_close_to_cfr() -> None:
    """CFR: 0.0355 after 300 iterations, 0.0118 after 1,000."""
    exact = ExactLeaf(method="cfr+", iterations=100)
    agent = agent_for("leduc_poker", exact, iterations=300, horizon=END_OF_ROUND)
    assert tp.exploitability(leduc(), played_by(agent, "leduc_poker")) < 0.0355


@pytest.mark.slow
@pytest.mark.parametrize("gadget", ["none", "resolve", "reach-maxmargin"])
def test_second_rounds_as_they_were_resolved(gadget: str) -> None:
    """One solve for each player and second round is what solving all of them at once finds."""
    policy = blueprint(50)
    agent = agent_for("leduc_poker", policy=policy, gadget=gadget, every=ROUND, start=1, iterations=50)
    expected = resolve_subgames(leduc(), policy, gadget, iterations=50)
    found = played_by(agent, "leduc_poker")
    assert losses(leduc(), found) == pytest.approx(losses(leduc(), expected), abs=0.002)
    assert agent.searches == 60


@pytest.mark.slow
@pytest.mark.parametrize("iterations", LEDUC)
@pytest.mark.parametrize("gadget", ["none", "resolve", "maxmargin"])
def test_leduc(gadget: str, iterations: int) -> None:
    agent = agent_for("leduc_poker", policy=blueprint(iterations), gadget=gadget, every=ROUND, start=1)
    expected = LEDUC[iterations][1][gadget]
    assert tp.exploitability(leduc(), played_by(agent, "leduc_poker")) == pytest.approx(expected, rel=1e-2)


def check_safe(spec: str, seed: int, **settings: object) -> None:
    game = tp.compile(spec)
    policy = random_policy(game, seed, pure=0.2 * (seed % 3))
    before = losses(game, policy)
    for gadget in ("resolve", "maxmargin"):
        agent = agent_for(spec, policy=policy, gadget=gadget, **settings)
        assert (losses(game, played_by(agent, spec)) <= before + 0.02).all(), gadget


@pytest.mark.quick_cases("2-round")
@pytest.mark.parametrize("every", [DECISION, ROUND])
@pytest.mark.parametrize("seed", range(3))
def test_kuhn_is_safe_from_any_blueprint(seed: int, every: str) -> None:
    check_safe("kuhn_poker", seed, every=every, start=0, iterations=300)


@pytest.mark.slow
@pytest.mark.parametrize("every", [DECISION, ROUND])
@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_leduc_is_safe_from_any_blueprint(seed: int, start: int, every: str) -> None:
    check_safe("leduc_poker", seed, every=every, start=start, iterations=300)


def continuations(policy: tp.Policy, count: int) -> list[LeafValue]:
    choices = biased_policies(policy)[:count]
    return [BlueprintLeaf(public_tree("leduc_poker"), policy, {1 - player: choices}) for player in (0, 1)]


@cache
def equilibrium() -> tp.Policy:
    return tp.solve("leduc_poker", "lp").policy


@pytest.mark.slow
@pytest.mark.parametrize(("count", "low", "high"), [(1, 0.1, 0.5), (4, 0.0, 0.08)])
def test_continuations_of_an_equilibrium(count: int, low: float, high: float) -> None:
    """With one continuation the first round may lose much; with four hardly anything."""
    leaves = continuations(equilibrium(), count)
    agent = agent_for("leduc_poker", leaves, every=ROUND, iterations=100, horizon=END_OF_ROUND)
    assert low <= tp.exploitability(leduc(), played_by(agent, "leduc_poker")) <= high


def low_bids(node: Hashable, actions: Sequence[int]) -> Sequence[int]:
    """All but the bids of two dice showing one."""
    return [action for action in actions if action != 2]


@pytest.mark.parametrize("every", [DECISION, ROUND])
def test_an_action_outside_the_tree_is_added(every: str) -> None:
    rules = public_tree(DICE)
    agent = ResolvingAgent(ActionAbstraction(rules, low_bids), ResolveSettings(every=every, iterations=50))
    assert agent.policy().shape == (3, 2)
    agent.see(0)
    own = agent._stands[0].carried.belief.ranges[0]
    agent.see(2)
    assert agent.path == (0, 2)
    assert agent.policy().shape == (2, 2)
    assert list(agent.game.options(agent.state).labels) == [3, 4]
    if every == DECISION:
        assert agent._stands[0].depth == 2
        assert agent._stands[0].carried.belief.ranges[0] != pytest.approx(own)
    else:
        assert agent._stands[0].depth == 0
    agent.begin()
    assert agent.policy().shape == (3, 2)
    with pytest.raises(GameError, match="action 9 is not legal"):
        agent.see(9)
    assert agent.policy().shape == (3, 2)


def test_time_to_think() -> None:
    agent = agent_for("leduc_poker", iterations=10**7)
    agent.think = 0.02
    agent.policy()
    assert agent.thought is not None
    assert 1 <= agent.thought.iterations < 10**7
    assert agent.thought.subgames == 1
    agent.policy()
    assert agent.thought is not None
    assert agent.thought.iterations == 0
    agent.forget()
    agent.begin()
    agent.think = 1e-9
    agent.policy()
    assert agent.thought is not None
    assert agent.thought.iterations == 1


def test_several_solves_of_a_decision_share_its_time() -> None:
    agent = agent_for("leduc_poker", iterations=10**7)
    agent.think = 0.3
    agent.begin(1)
    while agent.game.options(agent.state).player != 1:
        agent.see(agent.game.options(agent.state).labels[-1])
    agent.policy()
    assert agent.thought is not None
    assert agent.thought.subgames == 2
    first, second = (solved.effort for solved in agent._known.values())
    assert first is not None
    assert second is not None
    assert 0.14 < first.seconds < 0.25
    assert second.seconds > 0.04
    assert second.iterations > 1
    agent.see(agent.game.options(agent.state).labels[-1])
    agent._spent = agent._spent._replace(seconds=0.2)
    agent.begin(1)
    assert agent._spent.seconds == 0


def test_a_play_from_elsewhere_and_games_with_others() -> None:
    rules = public_tree("leduc_poker")
    agent = ResolvingAgent(rules, ResolveSettings(iterations=20))
    payoffs = [play_game([agent, agent], np.random.default_rng(seed)) for seed in range(5)]
    assert all(sum(each) == 0 for each in payoffs)
    uniform = Belief.root(rules).after(1, np.full((len(rules.options(rules.first_state()).labels), 6), 0.5))
    agent.begin(1, at=uniform)
    assert agent.policy().shape[1] == 6
    agent.begin()
    assert agent.path == ()
    assert agent.policy().shape[1] == 6


def test_what_is_refused() -> None:
    rules = public_tree("leduc_poker")
    for settings, message in (
        ({"gadget": "margin"}, "gadget must be one of none, resolve.*, not 'margin'"),
        ({"every": "street"}, "every must be one of decision, round, not 'street'"),
        ({"method": "lp"}, "method must be one of .*, not 'lp'"),
        ({"iterations": 5, "skip": 5}, "skip is 5; it must be below the 5 iterations of a search"),
        ({"method": "fp", "skip": 5}, "fp cannot skip iterations"),
        ({"method": "cfr-avg-modified", "skip": 5}, "cfr-avg-modified cannot skip iterations"),
    ):
        with pytest.raises(SpecError, match=message):
            ResolveSettings(**settings)  # type: ignore[arg-type]
    with pytest.raises(AlgorithmError, match="needs a blueprint, which plays until deal 1; give one, or start=0"):
        ResolvingAgent(rules, ResolveSettings(), start=1)
    policy = blueprint(10)
    with pytest.raises(AlgorithmError, match="start=2, but the game has no round after 2 deals"):
        agent_for("leduc_poker", policy=policy, start=2)
    with pytest.raises(PolicyError, match="a policy for leduc_poker has no infostate"):
        agent_for("kuhn_poker", policy=policy)
    with pytest.raises(AlgorithmError, match="cannot begin in the middle of the game"):
        agent_for("leduc_poker", policy=policy, start=1).begin(at=Belief.root(rules))
