"""Locks: strategies that stay, from lines and from views."""

import numpy as np
import pytest

from treeplex.base.located_text import LocatedText
from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.policies.locks import NodeLock, solver_locks
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.fields import read_lock
from treeplex.holdem.spots.known import holdem

PLAN = BetPlan.same("50%,a", "a")
RIVER = holdem("Td9d6hQc2s", "AA,QJs,JTs", "KK,T8s,65s,KJs:0.5", pot=20, stack=60, bets=PLAN)
TURN = holdem("Td9d6hQc", "AA,QJs,87s", "KK,T8s,KJs", pot=20, stack=60, bets=PLAN)


def lock(text):
    return read_lock(LocatedText("lock", text=text))


def share(view, action):
    """How often the whole range takes an action."""
    weights = view.compatible_of(view.player)
    return float(view.strategy[action] @ weights / weights.sum())


@pytest.fixture(scope="module")
def free():
    return solve_spot(RIVER, iterations=400, threads=1, target=0.01)


def test_a_locked_strategy_is_played_and_answered(free):
    locked = solve_spot(RIVER, iterations=300, threads=1, locks=[lock("x: b50% 60%, a 40%")])
    assert locked.at("x").strategy == pytest.approx(
        np.array([0, 0.6, 0.4])[:, None] * np.ones(len(locked.at("x").hands)), abs=1e-5
    )
    assert locked.ev[1] < free.ev[1] - 0.1
    assert locked.exploitability < 0.02


def test_the_opponent_of_a_lock_exploits_it():
    folding = solve_spot(RIVER, iterations=200, threads=1, locks=[lock("b10: f 100%"), lock("a: f 100%")])
    assert 1 - share(folding.at(""), 0) > 0.9
    assert folding.ev[0] == pytest.approx(10, abs=0.3)


@pytest.mark.parametrize(
    ("first", "second"),
    [("x: x 100%", "x: a 100%"), ("x [KK]: x 100%", "x: a 100%"), ("x [KsKh]: x 100%", "x [KK]: a 100%")],
)
def test_a_lock_that_another_leaves_nothing_of_is_refused(first, second):
    game = compile_spot(RIVER)
    with pytest.raises(SpecError, match="lock: no effect: later locks of 'x' cover the same hands"):
        solver_locks(game, [lock(first), lock(second)])
    if "[" in first:
        assert len(solver_locks(game, [lock(second), lock(first)])) == 1
    solver_locks(game, [lock(first), lock(first)])


def test_some_hands_and_the_last_word():
    locks = [lock("x [KK]: x 100%"), lock("x [KsKh]: a 100%"), lock("x [AA]: x 100%")]
    with pytest.raises(SpecError, match="lock: IP has none of these hands there; name hands of the range"):
        solver_locks(compile_spot(RIVER), locks)
    found = solve_spot(RIVER, iterations=5, threads=1, locks=locks[:2]).at("x")
    names = RIVER.format.names(found.hands)
    assert found.strategy[:, names.index("KhKd")].tolist() == [1, 0, 0]
    assert found.strategy[:, names.index("KsKh")].tolist() == [0, 0, 1]
    assert 0 < found.strategy[2, names.index("Tc8c")] < 1


def test_a_lock_on_a_strategy_of_its_own_changes_nothing(free):
    views = [free.at(line) for line in ("", "x", "b10")]
    locks = [NodeLock(view.line, view.hands, view.strategy) for view in views]
    again = solve_spot(RIVER, iterations=400, threads=1, target=0.01, locks=locks)
    close = 2 * (free.exploitability + again.exploitability) + 1e-6
    assert again.ev[0] == pytest.approx(free.ev[0], abs=close)
    for view in views:
        assert again.at(view.line).strategy == pytest.approx(view.strategy, abs=1e-5)


def test_locks_of_a_solution_are_kept_for_another():
    first = solve_spot(TURN, iterations=1, threads=1, locks=[lock("x,b50% [AA]: f 100%"), lock("x,x,7s: x 100%")])
    again = solve_spot(TURN, iterations=1, threads=1, locks=[*first.locks, lock("x,b50% [QJs]: c 100%")])
    places = {(each.board, each.player, each.node) for each in again.locks}
    assert places == {(each.board, each.player, each.node) for each in first.locks}
    assert again.policy.locked("x,x,7s").all()
    assert not again.policy.locked("x,x,7h").any()
    view, locked = again.at("x,b10"), again.policy.locked("x,b10")
    assert locked.sum() == first.policy.locked("x,b10").sum() + 3 == 6 + 3  # of QJs the board has one
    assert set(view.strategy[0][locked].tolist()) == {0.0, 1.0}
    assert again.policy.locked("x,b10,c").size == 0


def test_what_a_locked_hand_would_do_where_it_never_comes():
    locks = [lock(": x 100%"), lock("b10,a: c 100%")]
    view = solve_spot(RIVER, iterations=3, threads=1, locks=locks).at("b10,a")
    assert not view.weight_of(0).any()
    assert view.strategy.tolist() == [[0] * len(view.hands), [1] * len(view.hands)]


def test_boards():
    game = compile_spot(TURN, isomorphism=False)
    everywhere = solver_locks(game, [lock("x,x: x 100%")])
    assert {each.board for each in everywhere} == set(range(1, 49))
    once = solver_locks(game, [lock("x,x: x 100%"), lock("x,x,7s: b50% 100%")])
    assert len(once) == 48
    different = [each for each in once if each.strategy[0, 0] == 0]
    assert [game.boards[1][each.board - 1].cards[-1] for each in different] == [4 * 5 + 3]
    assert solver_locks(game, [lock("x, x, 7s, b50%: c 100%")])[0].player == 1


def test_locks_switch_isomorphism_off():
    board = holdem("Ts9s4s2s", "AA", "KK", pot=20, stack=20, bets=BetPlan.same("a", "a"))
    assert len(compile_spot(board).boards[1]) < 48
    found = solve_spot(board, iterations=2, threads=1, locks=[lock("x: a 100%")])
    assert len(found.game.boards[1]) == 48


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,x: x 100%", "lock: no player acts after 'x,x'"),
        ("x,b70%: c 100%", "lock: line 'x,b70%', step 2, 'b70%': there is no such action; IP can"),
        ("x: c 100%", "lock, action 'c': there is no such action; IP can x, b10"),
        ("x: b70% 50%, x 50%", "action 'b70%'"),
        ("x [72o]: x 100%", "IP has none of these hands there; name hands of the range"),
    ],
)
def test_locks_that_do_not_fit(text, message):
    with pytest.raises(SpecError, match=message):
        solve_spot(RIVER, iterations=1, threads=1, locks=[lock(text)])


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (np.ones((2, 1)), "strategy has shape"),
        (np.full((3, 1), 0.5), "do not sum to 1"),
        (np.array([[2.0], [-1], [0]]), "negative"),
    ],
)
def test_arrays_that_are_no_strategies(strategy, message):
    with pytest.raises(SpecError, match=message):
        solver_locks(compile_spot(RIVER), [NodeLock("x", np.array([1000]), strategy)])
