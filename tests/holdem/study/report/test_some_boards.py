"""Lines of spots that deal only some of their boards: all that are dealt can be looked at, others are refused."""

from itertools import combinations

import pytest

from tests.holdem.forms.test_runouts import PUSH
from tests.poker_games import unfolded
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.solve.solve_spot import solve_spot


def test_lines_go_on_with_what_is_dealt() -> None:
    solution = solve_spot(PUSH, iterations=2, threads=1, every=2)
    flops = solution.at("c,x").children()
    boards = unfolded(solution.game)
    assert len(flops) == len(boards[1])
    assert {frozenset(solution.at(line).board) for line in flops} == {frozenset(each.cards) for each in boards[1]}
    turns = [each for line in flops[:3] for each in solution.at(f"{line},x,x").children()]
    reached = {frozenset(solution.at(line).board) for line in turns}
    assert reached <= {frozenset(each.cards) for each in boards[2]}
    dealt = {frozenset(each.cards) for each in boards[1]}
    other = next(cards for cards in combinations(PUSH.format.deck, 3) if frozenset(cards) not in dealt)
    with pytest.raises(SpecError, match="is not dealt here, since this spot deals only a subset of boards"):
        solution.at(f"c,x,{cards_to_string(other)}")
