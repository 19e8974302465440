"""Rivers solved again behind gadgets: never worse than a policy, whatever it is, as the judge of the whole turn says."""

import numpy as np
import pytest

from papers.holdem.resolved_streets import resolved_streets
from tests.poker_games import Both
from tests.spot_agents import small_spot
from treeplex.errors import AlgorithmError
from treeplex.holdem.agents.spot_blueprint import SpotHands
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.known import leduc_holdem


def exploitability(game: CompiledSpot, average: np.ndarray) -> float:
    return HoldemPolicy(game, average, np.zeros(0, np.float32), (), len(game.boards)).judge().exploitability


def random_policy(seed: int) -> HoldemPolicy:
    whole = Both(small_spot("a")).hands
    return HoldemPolicy(whole, np.random.default_rng(seed).random(whole.stored), np.zeros(0, np.float32), (), 2)


@pytest.mark.slow_cases("0")
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_safe_solving_is_never_above_the_policy(seed: int) -> None:
    policy = random_policy(seed)
    before, hands = policy.judge().exploitability, SpotHands(policy)
    for gadget in ("resolve", "maxmargin"):
        game, average = resolved_streets(hands, gadget, iterations=100)
        assert exploitability(game, average) < before + 1e-3


@pytest.mark.slow
def test_leduc_poker() -> None:
    """What the general engine finds from 200 iterations of CFR; ranges alone leave open what to play, and make it worse."""
    solution = solve_spot(leduc_holdem(), "cfr", iterations=200, threads=1)
    hands = SpotHands(solution.policy)
    assert solution.policy.judge().exploitability == pytest.approx(0.0538, rel=0.01)
    after = {gadget: exploitability(*resolved_streets(hands, gadget, iterations=300)) for gadget in ("none", "maxmargin")}
    assert after["none"] > 0.07
    assert after["maxmargin"] == pytest.approx(0.0354, rel=0.05)


def test_what_is_refused() -> None:
    hands = SpotHands(random_policy(0))
    with pytest.raises(AlgorithmError, match="unknown gadget 'reach'; known: none, resolve, maxmargin"):
        resolved_streets(hands, "reach")
