"""Pluribus by name, at tables of three and more."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import GameError, TreeplexError
from treeplex.forms.sources.load import load, public_tree
from treeplex.learn.blueprint.kind import BlueprintKind
from treeplex.learn.train.kind import Options
from treeplex.run.job.workers import Work
from treeplex.search.agents.agent import play_game
from treeplex.search.many_players.sampled_rounds import SampledRounds
from treeplex.search.many_players.search import EnumeratedRounds, RoundSearchAgent

SIX = "holdem(players=6,stack=4,sizes=[a],ranks=5,suits=2,hole=1,deal=[0;1])"


@pytest.fixture(scope="module")
def blueprint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("blueprint") / "kuhn.safetensors"
    tp.policies.save(tp.solve("kuhn_poker(players=3)", "cfr", iterations=5).policy, path)
    return path


def test_three_named_agents_play(blueprint: Path) -> None:
    table = load("kuhn_poker(players=3)")
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
    assert isinstance(agent.rounds, EnumeratedRounds)
    assert (agent.rounds.leaf.count, agent.rounds.leaf.bias, agent.average, agent.search_after) == (2, 3.0, True, 2)
    assert agent.think == 0.5
    sampling = tp.agent(text.replace("play=", "search=sampled,deals=8,play="), "kuhn_poker(players=3)")
    assert isinstance(sampling, RoundSearchAgent)
    assert isinstance(sampling.rounds, SampledRounds)
    assert (sampling.rounds.deals, sampling.rounds.guide.bias.tolist()) == (8, [[1, 1, 1], [3, 1, 1]])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A blueprint of six players, as ``treeplex train blueprint`` writes it."""
    found = tmp_path_factory.mktemp("six")
    learner = BlueprintKind()
    settings = learner.settings_for(SIX, "small", {"boards": 60, "deals": 4})
    assert settings.buckets == ()
    job = learner.make(SIX, settings, Options(Work(), None, found))
    job.step(60)
    job.write(found, [], status="running")
    return found


@pytest.mark.slow
def test_six_players_search_by_sampling(trained: Path) -> None:
    """Hands of small hold'em among six, of whom one searches all rounds, at its own table and at one with more bets."""
    for spec, hands in ((SIX, 6), (SIX.replace("sizes=[a]", "sizes=[100%;a]"), 2)):
        table = load(spec)
        searching = tp.agent(f"pluribus(blueprint={trained},iterations=20,search_after=0,deals=4)", table, seed=1)
        others = [tp.agent(f"blueprint(file={trained})", table, seed=seat) for seat in range(5)]
        generator = np.random.default_rng(0)
        for hand in range(hands):
            seats = [*others[:hand], searching, *others[hand:]]
            assert sum(play_game(seats, generator)) == pytest.approx(0.0)
    text = f"pluribus(blueprint={trained},iterations=20,search_after=0,deals=4)"
    policies = [tp.agent(text, SIX, seed=seed).policy() for seed in (1, 1, 2)]
    assert np.array_equal(policies[0], policies[1])
    assert not np.array_equal(policies[0], policies[2])
    searching = tp.agent(f"pluribus(blueprint={trained},search_after=0)", SIX, think=0.2)
    policy = searching.policy()
    assert policy.shape == (3, 10)
    assert policy.sum(axis=0) == pytest.approx(np.ones(10))
    assert searching.thought is not None
    assert 0 < searching.thought.seconds < 20.0


@pytest.mark.slow_cases(
    "pluribus(blueprint=FILE)-holdem(players=5,stack=4,sizes=[a],ranks=5,suits=2,hole=1,deal=[0;1])-blueprint of"
)
@pytest.mark.parametrize(
    ("text", "game", "said"),
    [
        ("pluribus(blueprint=FILE)", "holdem(players=5,stack=4,sizes=[a],ranks=5,suits=2,hole=1,deal=[0;1])", "blueprint of"),
        ("pluribus(blueprint=FILE,search=all)", "SIX", "search=all needs a policy table"),
        ("pluribus(blueprint=FILE,deals=0)", "SIX", "deals"),
        ("pluribus(blueprint=FILE)", "leduc_poker(players=3)", "and cannot play"),
        ("endgames(blueprint=FILE)", "SIX", "heads-up"),
    ],
)
def test_blueprints_that_do_not_fit_are_one_line(trained: Path, text: str, game: str, said: str) -> None:
    with pytest.raises(TreeplexError, match=said) as caught:
        tp.agent(text.replace("FILE", str(trained)), game.replace("SIX", SIX))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "game", "said"),
    [
        ("pluribus(blueprint=FILE)", "kuhn_poker", "pluribus needs a card game with three or more players"),
        ("pluribus(blueprint=FILE)", "liars_dice(players=3)", "do not define public states"),
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
    with pytest.raises(GameError, match="3 players has no public tree"):
        public_tree("kuhn_poker(players=3)")
