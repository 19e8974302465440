"""Rivers solved again behind gadgets: never worse than a policy, whatever it is, as the judge of the whole turn says."""

import numpy as np
import pytest

from tests.poker_games import Both
from tests.spot_agents import small_spot
from treeplex.errors import AlgorithmError
from treeplex.forms.holdem.compile_spot import CompiledSpot
from treeplex.runs.agents.search.spot_blueprint import SpotHands
from treeplex.runs.holdem.policy import HoldemPolicy
from treeplex.runs.holdem.solve import solve_spot
from treeplex.search.holdem.resolved import resolved_streets


def exploitability(game: CompiledSpot, average: np.ndarray) -> float:
    return HoldemPolicy(game, average, np.zeros(0, np.float32), (), len(game.boards)).judge().exploitability


def random_policy(seed: int) -> HoldemPolicy:
    whole = Both(small_spot("a")).hands
    return HoldemPolicy(whole, np.random.default_rng(seed).random(whole.stored), np.zeros(0, np.float32), (), 2)


@pytest.mark.parametrize("seed", range(4))
def test_safe_solving_is_never_above_the_policy(seed: int) -> None:
    policy = random_policy(seed)
    before, hands = policy.judge().exploitability, SpotHands(policy)
    for gadget in ("resolve", "maxmargin"):
        game, average = resolved_streets(hands, gadget, iterations=150)
        assert exploitability(game, average) < before + 1e-3


def test_solving_from_ranges_alone_can_be() -> None:
    """Close to an equilibrium ranges leave open what to play."""
    solution = solve_spot(small_spot("a"), iterations=400)
    hands = SpotHands(solution.policy)
    before = solution.policy.judge().exploitability
    after = {gadget: exploitability(*resolved_streets(hands, gadget, iterations=400)) for gadget in ("none", "maxmargin")}
    assert before < 1e-3
    assert after["none"] > before + 5e-3
    assert after["maxmargin"] < before + 1e-3


def test_what_is_refused() -> None:
    hands = SpotHands(random_policy(0))
    with pytest.raises(AlgorithmError, match="unknown gadget 'reach'; known: none, resolve, maxmargin"):
        resolved_streets(hands, "reach")
