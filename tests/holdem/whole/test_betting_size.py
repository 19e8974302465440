"""How large betting trees are: counted beside trees that are listed, and estimated."""

from random import Random

import numpy as np
import pytest

import treeplex as tp
from treeplex.holdem.whole import betting_size as counting
from treeplex.holdem.whole.betting_size import Lines, betting_size
from treeplex.holdem.whole.nodes import betting_nodes, table_size, to_act

TEN_CARDS = "holdem(ranks=5,suits=2,stack=12,preflop=[a],sizes=[100%;a],raises=[2;2;1;1])"
THREE = "holdem(players=3,stack=[4;3;5],sizes=[a],ranks=3,suits=2,hole=1,deal=[0;1])"
COUNTS = (3, 5, 7, 11)


def never(size):
    return False


@pytest.mark.parametrize("spec", [TEN_CARDS, THREE, "holdem(ranks=5,suits=2,stack=6,blinds=[1;2],raises=[2;1;1;1])"])
def test_a_size_is_that_of_the_listed_tree(spec):
    rules = tp.load(spec).rules
    nodes = betting_nodes(rules, COUNTS)
    assert betting_size(rules, COUNTS, never) == (len(nodes.player), table_size(nodes, COUNTS))


def test_a_street_alone_ends_before_the_cards():
    rules = tp.load(TEN_CARDS).rules
    nodes = betting_nodes(rules, COUNTS)
    assert betting_size(rules, (1,) * 4, never, begins=rules.first_table).decisions == np.count_nonzero(nodes.street == 0)


def test_playouts_have_the_size_as_their_mean():
    rules = tp.load(TEN_CARDS).rules
    lines, random, size = Lines(rules, COUNTS, whole=True), Random(0), betting_size(rules, COUNTS, never)
    found = np.array([lines.playout(to_act(rules, rules.first_table), random) for _ in range(4000)])
    assert found.mean(axis=0) + np.array([1, 0]) == pytest.approx(size, rel=0.1)
    least = lines.very_likely(counting.BettingSize(1, 0), [(to_act(rules, rules.first_table), 1)])
    assert all(0.7 * whole < low < whole for low, whole in zip(least, size, strict=True))


def test_counting_ends_where_it_is_enough(monkeypatch):
    rules = tp.load(TEN_CARDS).rules
    assert 20 < betting_size(rules, COUNTS, lambda size: size.decisions > 20).decisions < 48
    monkeypatch.setattr(counting, "EXACT_SECONDS", 0.02)
    monkeypatch.setattr(counting, "PLAYOUTS", 150)
    huge = tp.load("holdem(stack=400)").rules
    assert betting_size(huge, (1,) * 4, lambda size: size.decisions > 2_000_000).decisions > 2_000_000
