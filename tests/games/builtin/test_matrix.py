from pathlib import Path

import numpy as np
import pytest

from treeplex.errors import FileError, SpecError
from treeplex.games import MatrixGame
from treeplex.games.registry import load


def test_modified_rps_has_the_equilibrium_of_the_paper() -> None:
    # Brown et al. (2020), "Combining deep reinforcement learning and search", figure 1: 0.4, 0.4, 0.2 for both players.
    payoffs = load("modified_rps").payoffs
    np.testing.assert_allclose(payoffs[0] @ [0.4, 0.4, 0.2], 0.0, atol=1e-15)
    np.testing.assert_allclose([0.4, 0.4, 0.2] @ payoffs[1], 0.0, atol=1e-15)


def test_small_matrix() -> None:
    assert load("small_matrix").payoffs[0].tolist() == [
        [0, -1, 2],
        [1, 0, -2],
        [-2, 2, 0],
        [-10000, -10000, -10000],
        [-20000, -20000, -20000],
    ]


def test_arrays() -> None:
    game = MatrixGame(np.array([[1, 0.25]]), np.array([[3, 4]]))
    assert game.spec == "matrix(rows=[[1,0.25]],second=[[3,4]])"
    assert load(game.spec).new_initial_state().child(0).child(1).returns() == [0.25, 4.0]


def test_second_player_does_not_see_the_row() -> None:
    root = load("rock_paper_scissors").new_initial_state()
    assert len({root.child(row).information_state_string(1) for row in range(3)}) == 1
    assert len({root.child(row).information_state_string(0) for row in range(3)}) == 3


@pytest.mark.parametrize("entry", [float("nan"), float("inf")])
def test_entries_must_be_finite(entry: float) -> None:
    with pytest.raises(SpecError, match="row 1, column 0 of rows"):
        MatrixGame(np.array([[0.0], [entry]]))


def test_files(tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("# payoffs\n1, 2\n\n3,4.5\n")
    second.write_text("0,0\n0,1\n")
    game = load(f"matrix(file={first})")
    assert game.payoffs[0].tolist() == [[1, 2], [3, 4.5]]
    assert game.spec == f"matrix(file={first})"
    both = load(f"matrix(file={first},second_file={second})")
    assert both.payoffs[1].tolist() == [[0, 0], [0, 1]]
    assert load(both.spec).payoffs.tolist() == both.payoffs.tolist()


def test_file_errors_name_the_place(tmp_path: Path) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text("1,2\n3,four\n")
    with pytest.raises(FileError, match=r"broken.csv, line 2, column 2: 'four'"):
        load(f"matrix(file={broken})")
    broken.write_text("1,2\n3\n")
    with pytest.raises(FileError, match=r"broken.csv, line 2: the row has 1 entries but the first row has 2"):
        load(f"matrix(file={broken})")
    broken.write_text("# nothing\n")
    with pytest.raises(FileError, match=r"broken.csv has no rows"):
        load(f"matrix(file={broken})")
    with pytest.raises(FileError, match=r"cannot read .*no such file"):
        load(f"matrix(file={tmp_path / 'none.csv'})")


@pytest.mark.parametrize(
    "spec", ["matrix(rows=[[1]],file=a.csv)", "matrix(rows=[[1]],second=[[1]],second_file=a.csv)", "matrix(file=3)"]
)
def test_sources_of_payoffs(spec: str) -> None:
    with pytest.raises(SpecError):
        load(spec)
