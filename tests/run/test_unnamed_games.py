"""Games without a spec are called by their representation."""

import pytest

import treeplex as tp
from treeplex.errors import PolicyError
from treeplex.forms.sources.load import load
from treeplex.games.base import Game, State
from treeplex.games.turn_based import TurnBased


class UnnamedGame(Game):
    """Kuhn poker without a spec."""

    def new_initial_state(self) -> State:
        return load("kuhn_poker").new_initial_state()


NAME = "<UnnamedGame: 2 players>"


def test_texts_have_the_representation(tmp_path) -> None:  # type: ignore[no-untyped-def]
    solution = tp.solve(UnnamedGame(), "cfr+", iterations=5)
    assert repr(solution).startswith(f"<solution of {NAME} by cfr+:")
    assert "&lt;UnnamedGame: 2 players&gt;" in solution._repr_html_()
    assert NAME in repr(solution.policy)
    assert NAME in repr(solution.game)
    comparison = tp.compare(UnnamedGame(), ["cfr"], iterations=5)
    assert NAME in repr(comparison)
    assert "&lt;UnnamedGame" in comparison._repr_html_()
    with pytest.raises(PolicyError, match=f"infostates of {NAME}"):
        tp.judge(UnnamedGame(), {})
    with pytest.raises(PolicyError, match=f"not for {NAME}"):
        tp.judge(UnnamedGame(), tp.Policy.uniform(tp.compile("leduc_poker")))
    tp.policies.save(solution.policy, tmp_path / "policy.json")
    with pytest.raises(PolicyError, match="does not name its game"):
        tp.load_policy(tmp_path / "policy.json")
    assert len(tp.load_policy(tmp_path / "policy.json", UnnamedGame())) == 12


def test_large_matrices_are_not_written_out() -> None:
    game = tp.compile([[float(i * j) for i in range(30)] for j in range(40)])
    assert str(game) == "<matrix game of 40 by 30>"
    assert len(game.spec) > 1000
    assert str(tp.load([[1, 2], [3, 4]])) == "matrix(rows=[[1,2],[3,4]])"


def test_simultaneous_moves_do_not_hide_the_name() -> None:
    assert str(TurnBased(UnnamedGame(), "")) == NAME
