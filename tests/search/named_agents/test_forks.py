"""Copies of agents under way: what one sees changes nothing for the other, whatever it plays from."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.search.agents.agent import Agent, fork

NAMES = {
    "search(depth=1,leaf=zero,iterations=4)": "leduc_poker",
    "deepstack(leaf=exact,iterations=20,skip=2)": "kuhn_poker",
    "libratus(blueprint={run},iterations=10)": "leduc_poker",
    "modicum(blueprint={run},iterations=10)": "leduc_poker",
    "lbr(against=libratus(blueprint={run},iterations=10))": "leduc_poker",
    "translated(agent=uniform,game=no_limit_leduc)": "no_limit_leduc(sizes=[50%;100%;a])",
    "pluribus(blueprint={three},iterations=10)": "kuhn_poker(players=3)",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    tp.solve("leduc_poker", "cfr", iterations=5, out=folder / "run")
    tp.solve("kuhn_poker(players=3)", "cfr", iterations=2, out=folder / "three")
    return {"run": folder / "run", "three": folder / "three"}


def steps(agent: Agent, labels: list[int]) -> list[np.ndarray]:
    """The policies of an agent that sees these events."""
    found = []
    for label in labels:
        if agent.game.options(agent.state).player >= 0:
            found.append(agent.policy())
        agent.see(label)
    return found


@pytest.mark.slow_cases("search(depth=1,leaf=zero,iterations=4)", "modicum(blueprint={run},iterations=10)")
@pytest.mark.parametrize("name", NAMES)
def test_copies_go_their_own_way(name, runs):
    game = load(NAMES[name])
    agent = tp.agent(name.format(**runs), game)
    rules, state, path = game.public, game.public.first_state(), list[int]()
    while (options := rules.options(state)).player != TERMINAL:  # checks and calls to the end
        bets = None if options.player == CHANCE else rules.bets(state)
        numbers = [0] if options.player == CHANCE else [bets.kinds.index("pass")] if bets else [len(options.labels) > 2]
        path.append(options.labels[int(numbers[0])])
        state = rules.after(state, path[-1])
    agent.begin(None, np.random.default_rng(0))
    alone = steps(agent, path)
    agent.begin(None, np.random.default_rng(0))
    disturbed = []
    for label in path:
        options = agent.game.options(agent.state)
        if options.player >= 0:
            disturbed.append(agent.policy())
            other = fork(agent)
            other.see(options.labels[-1])  # a bet, which is not what follows
            if other.game.options(other.state).player >= 0:
                other.policy()
        agent.see(label)
    assert len(alone) == len(disturbed) > 1
    for one, two in zip(alone, disturbed, strict=True):
        assert np.allclose(one, two, atol=1e-12)
