"""Pluribus by name, at tables of three and more."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import SpecError, TreeplexError
from treeplex.evaluate.match.agents import play_game
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.search.many_players import RoundSearchAgent


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("blueprint") / "kuhn.safetensors"
    tp.policies.save(tp.solve("kuhn_poker(players=3)", "cfr", iterations=5).policy, path)
    return path


def test_three_named_agents_play(blueprint: Path) -> None:
    table = PlayedGame.of("kuhn_poker(players=3)")
    names = f"pluribus(blueprint={blueprint},iterations=20,search_after=0)", f"blueprint(file={blueprint})", "uniform"
    agents = [tp.agent(name, table, seed=seat) for seat, name in enumerate(names)]
    assert isinstance(agents[0], RoundSearchAgent)
    generator = np.random.default_rng(0)
    for _ in range(20):
        assert sum(play_game(agents, generator)) == pytest.approx(0.0)
    assert agents[0].thought is not None


def test_settings(blueprint: Path) -> None:
    text = f"pluribus(blueprint={blueprint},continuations=2,bias=3,play=average,search_after=2)"
    agent = tp.agent(text, "kuhn_poker(players=3)", think=0.5)
    assert isinstance(agent, RoundSearchAgent)
    assert (agent.leaf.count, agent.leaf.bias, agent.average, agent.search_after, agent.think) == (2, 3.0, True, 2, 0.5)


@pytest.mark.parametrize(
    ("text", "game", "said"),
    [
        ("pluribus(blueprint=FILE)", "kuhn_poker", "pluribus plays card games of three and more players"),
        ("pluribus(blueprint=FILE)", "liars_dice(players=3)", "do not say what is public"),
        ("pluribus(blueprint=FILE,continuations=5)", "kuhn_poker(players=3)", "continuations"),
        ("pluribus(blueprint=FILE,play=first)", "kuhn_poker(players=3)", "play"),
        ("pluribus(blueprint=FILE)", "kuhn_poker(players=4)", "kuhn_poker"),
        ("pluribus", "kuhn_poker(players=3)", "needs blueprint"),
    ],
)
def test_what_it_cannot_play_is_one_line(blueprint: Path, text: str, game: str, said: str) -> None:
    with pytest.raises(TreeplexError, match=said) as caught:
        tp.agent(text.replace("FILE", str(blueprint)), game)
    assert "\n" not in str(caught.value)


def test_agents_of_two_players_do_not_sit_down_with_three() -> None:
    with pytest.raises(SpecError, match=r"kuhn_poker\(players=3\) is no game of two players"):
        PlayedGame.of("kuhn_poker(players=3)").tree
