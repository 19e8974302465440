"""``treeplex lbr``: what it prints, what it refuses; and the agent of that name."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.forms.sources.load import load
from treeplex.run.cli.main import app
from treeplex.search.agents.agent import UniformAgent, play_game


def call(*arguments, code=0):
    result = CliRunner().invoke(app, ["lbr", *map(str, arguments)])
    assert result.exit_code == code, (arguments, result.output, result.exception)
    return result


def test_it_prints():
    out = call("leduc_poker", "uniform").stdout
    assert "at least 2.17824" in out
    assert "exact, all public states" in out
    out = call("leduc_poker", "uniform", "--hands", 40, "--actions", "fc").stdout
    assert "95% interval, 40 hands" in out


@pytest.mark.slow
def test_an_agent_that_does_not_say_whether_it_draws_is_played():
    class Silent(UniformAgent):
        draws = None

    game = load("kuhn_poker")
    assert tp.arena.local_best_response(game, UniformAgent(game.public)).exact
    assert not tp.arena.local_best_response(game, Silent(game.public), hands=None).exact


def test_json():
    exact = json.loads(call("kuhn_poker", "uniform", "--json").stdout)
    assert exact["exact"]
    assert exact["hands"] == 0
    assert exact["interval"] == 0
    assert exact["lbr"] == pytest.approx(sum(seat["value"] for seat in exact["seats"]) / 2)
    assert 0 < exact["lbr"] <= tp.exploitability("kuhn_poker", "uniform")
    played = json.loads(call("leduc_poker", "uniform", "--hands", 40, "--first-round", 1, "--seed", 3, "--json").stdout)
    again = tp.arena.local_best_response("leduc_poker", "uniform", hands=40, first_round=1, seed=3)
    assert (played["lbr"], played["interval"], played["hands"]) == (again.value, again.interval, 40)
    assert played["first_round"] == 1
    assert not played["exact"]
    assert [seat["interval"] for seat in played["seats"]] == [None, None]


def test_few_hands_have_no_interval():
    out = call("leduc_poker", "uniform", "--hands", 10).stdout
    assert "no 95% interval for fewer than 30 hands; 10 were played" in out
    assert "±" not in out
    found = json.loads(call("leduc_poker", "uniform", "--hands", 10, "--json").stdout)
    assert (found["interval"], found["hands"]) == (None, 10)


@pytest.mark.slow_cases("arguments0-train a best response instead")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["liars_dice", "uniform"], "train a best response instead"),
        (["leduc_poker", "nobody"], "nobody"),
        (["leduc_poker", "uniform", "--actions", "pa"], "write all, or fc"),
        (["leduc_poker", "lbr"], "needs against"),
        (["kuhn_poker(players=3)", "uniform"], "needs two-player poker"),
    ],
)
def test_refusals(arguments, message):
    result = call(*arguments, code=2)
    assert message in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stdout == ""


def test_policies_and_agents_are_taken():
    solution = tp.solve("leduc_poker", "cfr", iterations=10)
    assert tp.arena.local_best_response("leduc_poker", solution).value == pytest.approx(0.686, abs=1e-3)
    table = load("leduc_poker")
    agent = tp.agent("uniform", table)
    assert tp.arena.local_best_response(table, agent).value == pytest.approx(2.17824, abs=1e-5)


@pytest.mark.slow
def test_it_sits_at_a_table():
    table = load("leduc_poker")
    lbr, other = tp.agent("lbr(against=uniform)", table, seed=1), tp.agent("uniform", table, seed=2)
    generator = np.random.default_rng(0)
    paid = [play_game([lbr, other], generator)[0] for _ in range(300)]
    assert np.mean(paid) > 0.8  # 1.73 in this seat, errors of 0.25


def test_splits():
    assert json.loads(call("leduc_poker", "uniform", "--hands", 8, "--splits", "4,2", "--json").stdout)["splits"] == [4, 2]
    for wrong in ("x", "0", "8,"):
        assert "positive integers separated by commas" in call("leduc_poker", "uniform", "--splits", wrong, code=2).stderr
