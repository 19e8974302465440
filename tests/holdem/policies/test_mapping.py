"""A solution of hold'em is a mapping over all its infosets."""

from collections.abc import Mapping

import pytest

import treeplex as tp
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.solve.solve_spot import solve_spot


def test_a_solution_is_a_mapping_over_every_infoset() -> None:
    """On a turn whose suits stand for each other each infoset is there once; every other river is found all the same."""
    spot = tp.holdem.spot("3s7sTsKs", "QQ,AKs", "99,JJ", pot=20.0, stack=20.0, bets="100%", raises="none")
    solution = solve_spot(spot, iterations=3)
    assert isinstance(solution, Mapping)
    table = dict(solution)
    assert len(table) == len(solution) == len(list(solution.values())) == solution.game.infosets
    assert all(sum(row.values()) == pytest.approx(1.0, abs=1e-6) for row in table.values())
    assert ("", "QcQd") in solution
    assert table["", "QcQd"] == solution["", "QcQd"] == solution.policy["", "QcQd"]
    assert solution.get(("", "2c2d")) is None
    lines = {line for line, _ in solution}
    assert {"", "x", "a", "x,a", "x,x,2s"} <= lines
    decisions = sum(isinstance(node, Decision) for node in solution.tree.nodes)
    assert len(lines) < decisions * 48
    assert len(lines & {"x,x,2c", "x,x,2d", "x,x,2h"}) == 1
    assert solution["x,x,2d", "QcQh"] == pytest.approx(solution["x,x,2c", "QdQh"])
    assert len({solution, solution.policy, solution}) == 2
