"""What solving a game takes: the bytes that a run has when it runs, and a time for every form."""

import sys

import pytest

import treeplex as tp
from treeplex.engine.tree.form import workspace
from treeplex.forms.compile.views.lazy_infostates import LazyInfostates
from treeplex.run.solve import cost
from treeplex.run.solve.cost import cost_of
from treeplex.solvers import make_solver


@pytest.mark.parametrize(
    ("spec", "kept"),
    [
        ("goofspiel(num_cards=3,imp_info=true)", "pairs of sequences"),
        ("leduc_poker(ranks=2)", "matrices over hands"),
        ("phantom_ttt(rows=2,columns=2,line=2)", "products of two lists"),
    ],
)
def test_memory_is_what_a_run_has(spec: str, kept: str) -> None:
    game = tp.compile(spec)
    found, solver = cost_of(game), make_solver(game, "dcfr")
    assert found.run == sum(each.nbytes for each in [*solver.arrays().values(), *workspace(game.tree)])
    policy = solver.average_policy()
    assert found.evaluation == 2 * policy.probabilities.nbytes + sum(each.nbytes for each in workspace(game.tree))
    if isinstance(game.infostates, LazyInfostates):
        names = sum(column.nbytes for column in (game.infostates.columns() or {}).values())
    else:
        names = sys.getsizeof(game.infostates) + sum(map(sys.getsizeof, game.infostates))
    stored = [*game.tree, game.action_ids, *(array for part in game.payoff[:3] for array in part)]
    assert found.game == pytest.approx(sum(array.nbytes for array in stored) + names, rel=0.05)
    assert found.payoffs.endswith(kept)
    assert found.seconds is not None
    assert found.seconds > 0


@pytest.mark.slow
def test_walked_rules_are_measured_by_a_part_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "SAMPLED", 100)
    game = tp.compile("oshi_zumo(coins=3,size=1,horizon=3)", stored=False)
    found = cost_of(game)
    assert found.payoffs == "none: every iteration walks the rules"
    assert found.seconds is not None
    assert found.seconds > 0
    stored = cost_of(tp.compile(game.rules))
    assert stored.run == found.run
    assert stored.game > found.game
    assert tp.judge(game, "uniform").nash_conv == pytest.approx(tp.judge(game.rules, "uniform").nash_conv)


def test_a_run_that_does_not_fit_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "available_memory", lambda: 10)
    found = cost_of(tp.compile("kuhn_poker"))
    assert found.seconds is None
    assert found.facts()["an iteration"].startswith("a run does not fit into memory")
