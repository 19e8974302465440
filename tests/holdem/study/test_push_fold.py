"""Push or fold: against published charts, the library's own solver, and conditions of an equilibrium."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.cli.main import group as holdem
from treeplex.holdem.study.push_fold import largest_stacks, push_fold

PUBLISHED = {
    20: "22+,A2s+,A2o+,K9o+,K4s+,Q9o+,Q5s+,J9o+,J7s+,T9o,T6s+,98o,96s+,86s+,75s+,65s,54s",
    10: "22+,A2s+,A2o+,K2s+,K2o+,Q7o+,Q2s+,J8o+,J3s+,T8o+,T4s+,97o+,95s+,87o,84s+,76o,74s+,64s+,53s+,43s",
}
"""Hands pushed at 20 and 10 big blinds, as super-turbo-poker-tips.com, "Heads-Up Push-Fold Table", lists them."""


@pytest.mark.parametrize("stack", PUBLISHED)
def test_published_ranges(stack):
    found, published = push_fold(stack), parse_range(PUBLISHED[stack])
    differ = [CLASSES[c] for c in range(169) if abs(found.push[c] - published[c == HAND_CLASSES].mean()) > 0.01]
    assert all(0 < found.push[CLASSES.index(name)] < 1 for name in differ)  # hands that are mixed, which a list cannot say
    assert len(differ) <= 1
    assert found.pushed == pytest.approx(published.mean(), abs=0.001)


def test_published_stacks():
    """HoldemResources.net, "Using the Nash Charts": T3s is pushed up to 7.7 bb, Q2o called up to 5.6; 63s is pushed from 5.1
    to 7.1 bb and below 2.3."""
    places = {name: CLASSES.index(name) for name in ("T3s", "Q2o", "63s")}

    def pushed(name, stack):
        return push_fold(stack).push[places[name]] >= 0.5

    assert (pushed("T3s", 7.7), pushed("T3s", 7.8)) == (True, False)
    assert [pushed("63s", stack) for stack in (2.2, 2.4, 4.0, 5.1, 7.1, 7.2)] == [True, False, False, True, True, False]
    calls = [push_fold(stack).call[places["Q2o"]] >= 0.5 for stack in (5.55, 5.65)]
    assert calls == [True, False]


@pytest.mark.parametrize(("stack", "ante"), [(1.5, 0), (3, 0), (10, 0.125), (25, 0), (100, 1)])
def test_nobody_gains(stack, ante):
    found = push_fold(stack, ante=ante)
    assert abs(found.exploitability) < 1e-9
    pairs, equity = class_equities()
    chance, x, y = pairs / pairs.sum(), found.push[:, None], found.call[None, :]
    payoff = -(1 - x) * (0.5 + ante) + x * (1 - y) * (1 + ante) + x * y * stack * (2 * equity - 1)
    assert (chance * payoff).sum() == pytest.approx(found.value)
    for often, ev in ((found.push, found.push_ev), (found.call, found.call_ev)):
        assert often[ev > 1e-9] == pytest.approx(1)
        assert often[ev < -1e-9] == pytest.approx(0)


def test_regret_matching_finds_the_same_value():
    pairs, equity = class_equities()
    chance, stack = pairs / pairs.sum(), 8.0
    sums, regrets = np.zeros((2, 169)), np.zeros((2, 2, 169))
    for t in range(1, 3001):
        x, y = (np.where(each.sum(axis=0) > 0, each[1] / np.maximum(each.sum(axis=0), 1e-300), 0.5) for each in regrets)
        sums += t * np.array([x, y])
        push = (chance * (1.5 * (1 - y) + (stack * (2 * equity - 1) + 0.5) * y)).sum(axis=1)
        call = -((chance * (stack * (2 * equity - 1) - 1)).T * x).sum(axis=1)
        for player, (own, gain) in enumerate(((x, push), (y, call))):
            regrets[player] = np.maximum(regrets[player] + np.array([-own * gain, (1 - own) * gain]), 0)
    x, y = sums / (3000 * 3001 / 2)
    value = -0.5 + (x * (chance * (1.5 * (1 - y) + (stack * (2 * equity - 1) + 0.5) * y)).sum(axis=1)).sum()
    assert value == pytest.approx(push_fold(stack).value, abs=2e-4)


def test_chart():
    push, call = largest_stacks(12, step=1)
    for name, wanted in (("AA", (12, 12)), ("K2o", (11, 8)), ("J2o", (4, 4))):
        assert (push[CLASSES.index(name)], call[CLASSES.index(name)]) == wanted


@pytest.mark.parametrize(
    ("stack", "ante", "says"),
    [(1, 0, "more than 1"), (500, 0, "at most 200"), (5, -1, "0 or more"), (float("nan"), 0, "stack")],
)
def test_what_cannot_be(stack, ante, says):
    with pytest.raises(SpecError, match=says):
        push_fold(stack, ante=ante)
    with pytest.raises(SpecError, match="step"):
        largest_stacks(10, step=0)


def test_command(tmp_path):
    def call(*words, code=0):
        result = CliRunner().invoke(holdem, ["pushfold", *map(str, words)])
        assert result.exit_code == code, result.output
        return result.stderr if code else result.stdout

    assert "--step needs --to" in call("--stack", 10, "--step", 1, code=2)
    files = tmp_path / "p.csv", tmp_path / "p.html"
    text = call("--stack", 10, "--csv", files[0], "--html", files[1])
    assert text.startswith("small blind, 10 bb: all-in with 58.3% of hands\nAA ")
    found = push_fold(10)
    with files[0].open() as file:
        rows = list(csv.DictReader(file))
    assert [row["hand"] for row in rows] == list(CLASSES)
    np.testing.assert_allclose([float(row["push"]) for row in rows], found.push, atol=1e-5)
    assert files[1].read_text().count("<td ") == 2 * 169
    data = json.loads(call("--stack", 10, "--json"))
    assert data["hands"]["43s"]["push"] == pytest.approx(found.push[CLASSES.index("43s")])
    assert "pushes (3 at most)" in call("--to", 3, "--step", 1)
    assert "give --stack BB for one stack, or --to BB" in call(code=2)
    assert "--html needs --stack" in call("--to", 3, "--html", files[1], code=2)
    assert tp.holdem.push_fold(10).value == found.value
