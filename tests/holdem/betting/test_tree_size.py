"""How large betting trees are: counted beside trees that are listed, and estimated."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.holdem.betting import tree_size as counting
from treeplex.holdem.betting.tree_size import betting_size
from treeplex.holdem.whole.nodes import betting_nodes, table_size

TEN_CARDS = "holdem(ranks=5,suits=2,stack=12,preflop=[a],sizes=[100%;a],raises=[2;2;1;1])"
THREE = "holdem(players=3,stack=[4;3;5],sizes=[a],ranks=3,suits=2,hole=1,deal=[0;1])"
COUNTS = (3, 5, 7, 11)


@pytest.mark.parametrize("spec", [TEN_CARDS, THREE, "holdem(ranks=5,suits=2,stack=6,blinds=[1;2],raises=[2;1;1;1])"])
def test_a_size_is_that_of_the_listed_tree(spec):
    rules = tp.load(spec).rules
    nodes, size = betting_nodes(rules, COUNTS), betting_size(rules.betting)
    assert (size.decisions, size.numbers(COUNTS), size.exact) == (len(nodes.player), table_size(nodes, COUNTS), True)


def test_a_street_alone_ends_before_the_cards():
    rules = tp.load(TEN_CARDS).rules
    nodes = betting_nodes(rules, COUNTS)
    assert betting_size(rules.betting, rules.betting.root, streets=1).decisions == np.count_nonzero(nodes.street == 0)


def test_some_states_stand_for_all(monkeypatch):
    rules = tp.load("holdem(players=3,stack=60,sizes=[50%;a],preflop=[3x;a],raises=[2;2;2;1])").rules
    size = betting_size(rules.betting)
    monkeypatch.setattr(counting, "MOST_STATES", 200)
    found = betting_size(rules.betting)
    assert (size.exact, found.exact) == (True, False)
    assert (found.decisions, found.numbers(COUNTS)) == pytest.approx((size.decisions, size.numbers(COUNTS)), rel=0.2)


def test_counting_ends_where_it_is_enough():
    rules = tp.load(TEN_CARDS).rules
    assert 20 < betting_size(rules.betting, enough=lambda size: size.decisions > 20).decisions < 48
    huge = tp.load("holdem(stack=100)").rules
    assert betting_size(huge.betting, enough=lambda size: size.decisions > 200_000).decisions > 200_000
