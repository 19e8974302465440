"""What a solution by value-tested CFR+ says where another algorithm is far better."""

import pytest

import treeplex as tp
from papers.vtcfr.games import random_matrix
from treeplex.run.solve.tree_job import SLOW_NOTE


def test_a_run_that_hardly_moves_says_so_and_others_are_better_there() -> None:
    """The game of the study on which it loses most."""
    far = tp.compile(random_matrix(8107, 6, 15, (1000.0, 100000.0)))
    slow, better = (tp.solve(far, algorithm, iterations=1000) for algorithm in ("auto", "ddcfr"))
    assert SLOW_NOTE in slow.notes
    assert SLOW_NOTE not in better.notes
    assert slow.exploitability > 20 * better.exploitability


def test_every_note_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = tp.solve("kuhn_poker", iterations=4)
    assert "note" not in solution.facts()
    monkeypatch.setattr(type(solution), "notes", ("one piece", SLOW_NOTE))
    assert solution.facts()["note"] == f"one piece; {SLOW_NOTE}"


@pytest.mark.parametrize("game", ["small_matrix", "kuhn_poker", "leduc_poker", "goofspiel(num_cards=3,imp_info=true)"])
def test_other_runs_say_nothing(game: str) -> None:
    assert SLOW_NOTE not in tp.solve(game, "vt-cfr+", iterations=400).notes
