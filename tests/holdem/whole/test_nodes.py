"""Betting trees need somebody who acts; tables at which nobody does are played all the same."""

import pytest

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.whole.nodes import betting_nodes, check_acting, check_table


@pytest.mark.parametrize(
    ("stack", "others", "shown"),
    [
        ("1", "", "stack=1 "),
        ("[8;1]", "", r"stack=\[8;1\]"),
        ("[1;8]", "", r"stack=\[1;8\]"),
        ("3", ",ante=2", "blinds of 1/2 and the antes"),
        ("1", ",rules=acpc", "give all players more than the big blind, such as stack=40"),
    ],
)
def test_blinds_that_leave_nobody_a_decision(stack, others, shown):
    rules = tp.load(f"holdem(stack={stack}{others})").rules
    for refused in (lambda: check_acting(rules), lambda: betting_nodes(rules, (1,) * 4)):
        with pytest.raises(SpecError, match=shown):
            refused()


@pytest.mark.parametrize(
    "spec", ["holdem(stack=2)", "holdem(stack=1,players=3)", "holdem(stack=[1;9;9],players=3)", "holdem(stack=5,blinds=[1;10])"]
)
def test_somebody_decides(spec):
    check_acting(tp.load(spec).rules)


@pytest.mark.parametrize(
    ("game", "shown"),
    [
        ("stack=60,blinds=[50;100]", "with stack=60 no player can pay the blinds of 50/100; give .* such as stack=2000"),
        ("stack=50,blinds=[50;100]", "with stack=50 no player has a decision after the blinds of 50/100"),
        ("ante=300", "1/2 and the antes; give all players more than the big blind and the ante, such as stack=340"),
    ],
)
def test_tables_with_too_few_chips(game, shown):
    with pytest.raises(SpecError, match=shown):
        check_table(tp.load(f"holdem({game})").rules)


def test_one_short_stack_may_sit_down():
    check_table(tp.load("holdem(stack=[1;9;9],players=3)").rules)


def test_a_hand_without_decisions_is_played():
    state = tp.load("holdem(ranks=3,suits=3,stack=1)").new_initial_state()
    while actions := state.legal_actions():
        state = state.child(actions[0])
    assert sum(state.returns()) == 0
