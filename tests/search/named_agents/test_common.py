"""Agents that solve again, by their names."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, FileError, PolicyError, SpecError, TreeplexError
from treeplex.forms.sources.load import load
from treeplex.search import play_game
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.named_agents.registry import agent
from treeplex.search.resolving.agent import ResolvingAgent


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tp.solve("leduc_poker", "cfr", iterations=20).save(tmp_path_factory.mktemp("run") / "leduc")


@pytest.mark.quick_cases(
    "deepstack(iterations=4,leaf=zero,depth=3,gadget=maxmargin,skip=2)",
    "libratus(blueprint={},iterations=4)",
    "libratus(blueprint={},iterations=4,gadget=none,every=decision,start=0)",
)
@pytest.mark.parametrize(
    "text",
    [
        "deepstack(iterations=4,leaf_iterations=2)",
        "deepstack(iterations=4,leaf=zero,depth=3,gadget=maxmargin,skip=2)",
        "libratus(blueprint={},iterations=4)",
        "libratus(blueprint={},iterations=4,gadget=none,every=decision,start=0)",
        "modicum(blueprint={},iterations=4)",
        "modicum(blueprint={},iterations=4,continuations=1,every=decision)",
        "modicum(blueprint={},iterations=4,continuations=5,approach=self-generative)",
    ],
)
def test_they_play(text: str, solved: Path) -> None:
    game = load("leduc_poker")
    known = agent(text.format(solved), game, think=30.0, seed=1)
    assert isinstance(known, ResolvingAgent)
    assert known.think == 30.0
    other = agent("uniform", game, seed=2)
    for seed in range(6):
        players = [known, other] if seed % 2 else [other, known]
        assert sum(play_game(players, np.random.default_rng(seed))) == 0
    assert known.searches > 0


def test_rebel_is_one_of_them() -> None:
    pytest.importorskip("torch")
    game = load("liars_dice(dice_sides=4)")
    known = agent("rebel(iterations=20)", game, think=20.0, seed=1)
    assert isinstance(known, SearchAgent)
    assert sum(play_game([known, agent("uniform", game)], np.random.default_rng(0))) == 0
    known.begin()
    known.forget()
    known.think = 1e-9
    known.policy()
    assert known.thought is not None
    assert known.thought.iterations >= 1
    assert known.thought.subgames == 1


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("libratus", SpecError, "agent libratus needs blueprint; write, for example, libratus"),
        ("libratus(blueprint={},start=2)", AlgorithmError, "start=2, but the game has no round after 2 deals"),
        ("libratus(blueprint={},gadget=margin)", SpecError, "gadget must be one of none, resolve"),
        ("modicum(blueprint=/none)", FileError, "no policy file or run folder /none"),
        (
            "modicum(blueprint={},continuations=5)",
            SpecError,
            "continuations is 5, but there are only 4 biased ones; give at most that many, or use approach=self-generative",
        ),
        ("modicum(blueprint={},continuations=0)", SpecError, "continuations must be an integer of at least 1"),
        ("modicum(blueprint={},promises=estimates)", SpecError, "'promises' applies only to full-game hold'em .* leave it out"),
        ("modicum(blueprint={},approach=biased)", SpecError, "approach must be one of bias, self-generative"),
        ("deepstack(leaf=nothing)", SpecError, "leaf must be exact, zero or a file"),
        ("deepstack(iterations=10,skip=10)", SpecError, "skip is 10; it must be below the 10 iterations"),
    ],
)
def test_what_is_refused(text: str, error: type[TreeplexError], message: str, solved: Path) -> None:
    with pytest.raises(error, match=message):
        agent(text.format(solved), "leduc_poker")


def test_a_blueprint_of_another_game(solved: Path) -> None:
    for text in (f"libratus(blueprint={solved})", f"modicum(blueprint={solved})"):
        with pytest.raises(PolicyError, match="is a policy for leduc_poker, not for kuhn_poker"):
            agent(text, "kuhn_poker")
