"""Agents of games with few bets at other tables, by name."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import GameError, SpecError
from treeplex.evaluate.match.agents import play_game
from treeplex.forms.policies.files import save_policy
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.search.translation import TranslatedAgent

REAL = "no_limit_leduc(sizes=[50%;100%;a],stack=700)"
FEW = "no_limit_leduc(stack=700)"


def test_a_blueprint_of_few_bets_plays_many(tmp_path: Path) -> None:
    policy = tp.solve(FEW, iterations=20).policy
    save_policy(policy, tmp_path / "few.json")
    game = PlayedGame.of(REAL)
    first = tp.agent(f"translated(agent=blueprint(file={tmp_path / 'few.json'}),game={FEW},mapping=likelier)", game, seed=1)
    second = tp.agent("uniform", game, seed=2)
    assert isinstance(first, TranslatedAgent)
    assert first.mapping == "likelier"
    generator = np.random.default_rng(0)
    won = [play_game([first, second], generator)[0] for _ in range(300)]
    assert np.mean(won) > 30


def test_errors_name_the_remedy() -> None:
    with pytest.raises(SpecError, match="agent translated needs agent, game"):
        tp.agent("translated", REAL)
    with pytest.raises(SpecError, match="mapping"):
        tp.agent(f"translated(agent=uniform,game={FEW},mapping=random_one)", REAL)
    with pytest.raises(SpecError, match="poker with bets"):
        tp.agent("translated(agent=uniform,game=leduc_poker)", "leduc_poker")
    with pytest.raises(GameError, match="give one deck"):
        tp.agent("translated(agent=uniform,game=no_limit_leduc(ranks=4))", REAL)
    with pytest.raises(SpecError, match="cannot solve new bets"):
        tp.agent(f"translated(agent=uniform,game={FEW},off_tree=resolve)", REAL)
