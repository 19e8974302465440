"""Solvers whose last policy converges: against closed forms, fixed points and exact values."""

import numpy as np
import pytest

from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.errors import SpecError
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.solvers import algorithms, make_solver

KUHN = compile_game("kuhn_poker")


def exploitability(solver: object) -> float:
    return judge(KUHN, solver.average_policy()).exploitability  # type: ignore[attr-defined]


def test_mirror_descent_with_a_moving_magnet_ends_at_an_equilibrium() -> None:
    solver = make_solver(KUHN, "mmd")
    solver.run(1000)
    assert exploitability(solver) < 1e-9
    assert judge(KUHN, solver.average_policy()).value[0] == pytest.approx(-1 / 18, abs=1e-9)


def test_mirror_descent_needs_a_small_step_where_payoffs_are_large() -> None:
    """As its page says: on a matrix game the default cycles, worse than uniform play; a fifth of it converges."""
    game = compile_game("modified_rps")
    found = []
    for spec in ("mmd", "mmd(eta=1)"):
        solver = make_solver(game, spec)
        solver.run(2000)
        found.append(judge(game, solver.average_policy()).exploitability)
    assert found[0] > 1.0
    assert found[1] < 1e-9
    assert "if eta is small enough" in algorithms()["mmd"].summary


def test_mirror_descent_with_a_fixed_magnet_approaches_the_logit_equilibrium_of_a_static_game() -> None:
    """Where both play the softmax of their action values over the temperature, a uniform magnet holds them."""
    game, alpha = compile_game("modified_rps"), 0.5
    solver = make_solver(game, f"mmd(eta=0.1,alpha={alpha},every=0)")
    solver.run(2000)
    probabilities, values = solver.average_policy().probabilities, workspace(game.tree).values
    for player in range(2):
        gradient(game.tree, game.payoff, player, solver.average, values)
        own = slice(int(game.tree.sequence_offsets[player]) + 1, int(game.tree.sequence_offsets[player + 1]))
        weights = np.exp(values[own] / alpha)
        np.testing.assert_allclose(probabilities[own], weights / weights.sum(), atol=1e-10)
        assert probabilities[own].max() > 0.35


@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
def test_a_step_of_mirror_descent_is_the_closed_form(updates: str) -> None:
    """At the last decisions of Kuhn poker the first step is the softmax of eta times the counterfactual values."""
    eta, alpha = 0.7, 0.3
    solver = make_solver(KUHN, f"mmd(eta={eta},alpha={alpha},every=0)", updates=updates)
    work = workspace(KUHN.tree)
    gradient(KUHN.tree, KUHN.payoff, 0, solver.average.copy(), work.values)
    values = work.values.copy()
    solver.run(1)
    policy = solver.average_policy().probabilities
    layout, parents = KUHN.tree.infoset_layout, KUHN.tree.infoset_parent
    inner = set(parents.tolist())
    checked = 0
    for infoset in range(*KUHN.tree.infoset_offsets[:2]):
        first, stride, actions = layout[infoset]
        sequences = first + stride * np.arange(actions)
        if inner & set(sequences.tolist()):
            continue
        weights = np.exp(eta * values[sequences] / (1 + eta * alpha))
        np.testing.assert_allclose(policy[sequences], weights / weights.sum(), rtol=1e-12)
        checked += 1
    assert checked >= 3


def test_runs_in_parts_are_runs_at_once() -> None:
    for name in ("mmd(every=7)", "rtcfr+(every=7)"):
        whole, parts = make_solver(KUHN, name), make_solver(KUHN, name)
        whole.run(50)
        for count in (1, 6, 7, 0, 13, 23):
            parts.run(count)
        np.testing.assert_array_equal(whole.average_policy().probabilities, parts.average_policy().probabilities)


def test_without_regularisation_rtcfr_plays_as_cfr_plus() -> None:
    ours, known = make_solver(KUHN, "rtcfr+(mu=0,gamma=0)"), make_solver(KUHN, "cfr+")
    for _ in range(5):
        ours.run(7)
        known.run(7)
        np.testing.assert_allclose(ours.average_policy().probabilities, known.current_policy().probabilities, atol=1e-12)


def test_the_last_policy_of_rtcfr_converges_where_that_of_cfr_plus_does_not() -> None:
    ours, known = make_solver(KUHN, "rtcfr+(mu=0.01)"), make_solver(KUHN, "cfr+")
    ours.run(4000)
    known.run(4000)
    assert exploitability(ours) < 1e-4 < judge(KUHN, known.current_policy()).exploitability


@pytest.mark.parametrize(
    "name",
    [
        "mmd(eta=0)",
        "mmd(alpha=-1)",
        "rtcfr+(gamma=0.5)",
        "rtcfr+(mu=-1)",
        "rtcfr+(every=0)",
        "mmd(every=2.5)",
        "rtcfr+(every=1.5)",
    ],
)
def test_constants_out_of_range(name: str) -> None:
    with pytest.raises(SpecError, match=name.split("(")[0].replace("+", r"\+")):
        make_solver(KUHN, name)
