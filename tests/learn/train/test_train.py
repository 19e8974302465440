"""What no learner can learn is refused by all of them, before anything is made."""

import pytest

import treeplex as tp
from treeplex.errors import SpecError


@pytest.mark.parametrize("learner", ["sd-cfr", "alphaholdem", "best-response", "rebel", "blueprint"])
def test_a_game_without_decisions(learner, tmp_path):
    with pytest.raises(SpecError, match="no player has a decision after the blinds"):
        tp.train("holdem(ranks=3,suits=3,stack=1,sizes=[a])", learner, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_game_without_decisions_is_not_solved(tmp_path):
    with pytest.raises(SpecError, match="no player has a decision after the blinds"):
        tp.solve(tp.load("holdem(ranks=3,suits=3,stack=[4;1])"), out=tmp_path / "run")
    with pytest.raises(SpecError, match="no player has a decision after the blinds"):
        tp.sample("holdem(ranks=3,suits=3,stack=1)", iterations=2, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
