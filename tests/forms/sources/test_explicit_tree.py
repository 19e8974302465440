"""Explicit trees and exact numbers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeplex.errors import GameError
from treeplex.forms.sources.explicit_tree import ExplicitGame, Node, simplest_fraction, simplest_fractions
from treeplex.games.base import TERMINAL

GAME = ExplicitGame(
    [Node(1, "p1:top", ("left", "right"), (1, 2)), *[Node(TERMINAL, payoffs=(Fraction(p), Fraction(1, 3))) for p in (1, 2)]],
    ["one", "two"],
)


def test_walking_leaves_states_as_they_were() -> None:
    root = GAME.new_initial_state()
    below = root.child(1)
    assert (root.current_player(), list(root.legal_actions()), root.action_to_string(1)) == (1, [0, 1], "right")
    assert list(root.legal_actions(0)) == []
    assert root.information_state_string() == root.information_state_string(1) == "p1:top"
    assert below.is_terminal()
    assert below.returns() == [2.0, 1 / 3]


@pytest.mark.parametrize("player", [0, 7])
def test_others_knowledge_is_not_in_the_file(player: int) -> None:
    with pytest.raises(GameError, match=f"no infostate for player {player}"):
        GAME.new_initial_state().information_state_string(player)


@pytest.mark.parametrize("action", [-1, 2])
def test_illegal_action(action: int) -> None:
    with pytest.raises(GameError, match="not legal"):
        GAME.new_initial_state().child(action)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=60))
def test_float_probabilities_become_fractions_that_sum_to_one(weights: list[int]) -> None:
    shares = [weight / sum(weights) for weight in weights]
    fractions = simplest_fractions(shares)
    assert sum(fractions) == 1
    assert all(
        fraction > 0 and abs(float(fraction) - share) <= 1e-12 * share
        for fraction, share in zip(fractions, shares, strict=True)
    )


@given(st.lists(st.floats(1e-30, 1.0), min_size=1, max_size=60))
def test_any_float_probabilities_become_fractions_that_sum_to_one(weights: list[float]) -> None:
    shares = [weight / sum(weights) for weight in weights]
    fractions = simplest_fractions(shares)
    assert sum(fractions) == 1
    assert all(
        fraction > 0 and abs(float(fraction) - share) <= 1e-12 * share
        for fraction, share in zip(fractions, shares, strict=True)
    )


def test_the_simplest_fractions_are_found() -> None:
    assert simplest_fractions([1 / 3, 1 / 6, 1 / 2]) == [Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)]
    assert simplest_fractions([1 / 1326] * 1326) == [Fraction(1, 1326)] * 1326


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_payoffs_stay_the_same_float(payoff: float) -> None:
    assert float(simplest_fraction(payoff)) == payoff


@pytest.mark.parametrize("payoff", [float("nan"), float("inf")])
def test_payoffs_are_finite(payoff: float) -> None:
    with pytest.raises(GameError, match="finite"):
        simplest_fraction(payoff)
