"""Several threads compute the same iterations as one, bit for bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import treeplex as tp
from treeplex.engine.tree.form import TreeState, workspace
from treeplex.engine.tree.shared import divide, iterate_shared, levels_of, threads_for
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.solvers.solver import GameSolver

GAMES = (
    "kuhn_poker",
    "leduc_poker",
    "kuhn_poker(players=3)",
    "liars_dice(dice_sides=3)",
    "goofspiel(num_cards=3)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2)",
    "holdem(ranks=4,suits=2,hole=1,deal=[0;1],stack=8,sizes=[100%;a])",
    "matrix(rows=[[1,-1],[-1,1]])",
)


def shared(solver: GameSolver, rows: np.ndarray, threads: int, *, alternating: bool) -> TreeState:
    """Run iterations on several threads, whatever the game's size."""
    game, state = solver.game, solver.tables.state
    division, shares = divide(game.tree, game.payoff, threads)
    work, gate = workspace(game.tree), np.zeros(2, np.int64)

    def run(thread: int) -> None:
        iterate_shared(game.tree, shares[thread], division, rows, alternating, state, work, thread, gate)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, range(threads)))
    return state


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("alternating", [True, False])
def test_any_number_of_threads_gives_the_same_bits(spec: str, alternating: bool) -> None:
    game = tp.compile(spec)
    order = "alternating" if alternating else "simultaneous"
    for algorithm in ("dcfr", "pcfr+"):
        one = tp.solvers.make_solver(game, algorithm, horizon=40, updates=order)
        assert isinstance(one, GameSolver)
        one.run(40)
        rows = np.ascontiguousarray(one.rule.rows(range(1, 41), 40))
        for threads in (1, 2, 5):
            other = tp.solvers.make_solver(game, algorithm, horizon=40, updates=order)
            assert isinstance(other, GameSolver)
            state = shared(other, rows, threads, alternating=alternating)
            for name in ("regrets", "policy", "strategy", "averages"):
                np.testing.assert_array_equal(getattr(one.tables.state, name), getattr(state, name), err_msg=name)


@pytest.mark.parametrize("spec", GAMES)
def test_the_division_covers_the_game_once(spec: str) -> None:
    game = tp.compile(spec)
    tree = game.tree
    for threads in (1, 3):
        division, shares = divide(tree, game.payoff, threads)
        np.testing.assert_array_equal(division.rows[:, 0], tree.sequence_offsets[:-1])
        np.testing.assert_array_equal(division.rows[:, -1], tree.sequence_offsets[1:])
        assert (np.diff(division.rows, axis=1) >= 0).all()
        infosets = [
            infoset
            for block, first, last in division.pieces.tolist()
            for infoset in range(tree.blocks[block, 1] + first, tree.blocks[block, 1] + last)
        ]
        assert sorted(infosets) == list(range(len(tree.infoset_parent)))
        for player, part in ((0, "first"), (1, "second")):
            starts = np.concatenate([getattr(share, part).starts[:, player] for share in shares])
            assert sorted(starts) == sorted(game.payoff.dense.starts[:, player])


def test_no_level_has_a_parent_of_its_own() -> None:
    game: CompiledGame = tp.compile("leduc_poker")
    tree = game.tree
    for runs in levels_of(tree):
        for blocks in runs:
            inside = {
                sequence
                for block in blocks
                for sequence in range(
                    tree.blocks[block, 0], tree.blocks[block, 0] + tree.blocks[block, 2] * tree.blocks[block, 3]
                )
            }
            parents = [
                tree.infoset_parent[tree.blocks[block, 1] : tree.blocks[block, 1] + tree.blocks[block, 2]] for block in blocks
            ]
            assert inside.isdisjoint(np.concatenate(parents).tolist())


def test_only_large_games_get_threads() -> None:
    small, large = tp.compile("leduc_poker"), tp.compile("leduc_poker(ranks=12,raises=6)")
    assert threads_for(small.tree, small.payoff, 8) == 1
    assert threads_for(large.tree, large.payoff, 8) > 1
    assert threads_for(large.tree, large.payoff, 1) == 1


def test_solve_takes_threads() -> None:
    game = tp.compile("leduc_poker(ranks=12,raises=6)")
    one = tp.solve(game, iterations=20, threads=1)
    other = tp.solve(game, iterations=20, threads=tp.engine.threads.available_cores())
    np.testing.assert_array_equal(one.policy.probabilities, other.policy.probabilities)
    with pytest.raises(tp.errors.SpecError, match="threads is 0"):
        tp.solve("kuhn_poker", iterations=1, threads=0)
