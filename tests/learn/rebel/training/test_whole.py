"""ReBeL on whole hold'em as a command: train, resume, judge, play."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import PolicyError, SpecError
from treeplex.forms.sources.load import load
from treeplex.holdem.street_search.agent import WholeSearchAgent
from treeplex.learn.rebel.shipped_nets import shipped_whole_nets
from treeplex.learn.rebel.training.judge import judge_rebel
from treeplex.learn.rebel.whole.nets import whole_identity
from treeplex.run.cli.main import app
from treeplex.search.named_agents.registry import agent

NINE = "holdem(ranks=3,suits=3,stack=4,sizes=[a])"
SETTINGS = {"solves": 24, "burn_in": 8, "iterations": 4, "episodes": 8, "batch": 8, "width": 8, "boards": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("whole") / "run"
    tp.train(NINE, "rebel", settings=SETTINGS, out=found, workers=1, judge_every=1000)
    return found


@pytest.mark.slow
def test_a_training_is_resumed_judged_and_played(folder):
    training = tp.train(resume=folder, settings={"solves": 32})
    assert training.records[-1].done >= 32
    assert training.records[-1].steps > 0
    found = judge_rebel(NINE, folder, playthroughs=2)
    assert 0 < found.judgement.exploitability < 2
    assert found.milliblinds == pytest.approx(500 * found.judgement.exploitability)
    again = CliRunner().invoke(app, ["evaluate", NINE, str(folder), "--playthroughs", "2", "--json"])
    assert json.loads(again.stdout)["exploitability"] == pytest.approx(found.judgement.exploitability)
    lines = (folder / "evaluations.jsonl").read_text().splitlines()
    assert len(lines) == 2
    player = agent(str(folder), load("holdem(ranks=3,suits=3,stack=4)"), seed=0)
    assert isinstance(player, WholeSearchAgent)
    assert np.allclose(player.policy().sum(axis=0), 1)


@pytest.mark.slow
def test_the_papers_settings_in_miniature(tmp_path):
    game = "holdem(ranks=3,suits=3,stack=8,blinds=[2;4],sizes=[75%;a])"
    small = {**SETTINGS, "boards": 1, "layers": 2, "warm": 2}
    training = tp.train(game, "rebel", preset="paper", settings=small, out=tmp_path / "run", workers=1)
    settings = training.settings
    assert settings.stacks == (200, 1000)  # of 50 to 250 big blinds
    assert (settings.method, settings.rate, settings.halve) == ("lcfr-avg-modified", 3e-4, 800 / 1750)
    assert not settings.shown
    assert training.records[-1].policy_loss > 0


@pytest.mark.slow
def test_streams_are_resumed_and_cannot_change(tmp_path):
    asked = {**SETTINGS, "streams": 2, "solves": 16}
    tp.train(NINE, "rebel", settings=asked, out=tmp_path / "run", workers=1, judge_every=0)
    training = tp.train(resume=tmp_path / "run", settings={"solves": 24}, workers=1)
    assert training.records[-1].done >= 24
    assert training.records[-1].numbers["lost"] == 0
    with pytest.raises(SpecError, match="streams"):
        tp.train(resume=tmp_path / "run", settings={"streams": 3})


def test_a_network_for_52_cards_ships_and_is_found_by_cards_blinds_and_stacks():
    table = load("holdem(stack=100)")
    player = agent("rebel(iterations=2)", table, seed=0)
    assert isinstance(player, WholeSearchAgent)
    assert player.about.startswith("rebel:holdem-50bb")
    net = shipped_whole_nets()["holdem-50bb"]
    assert player.leaf.encoding.bins.count == net.settings["bins"]
    assert net.identity == whole_identity(tp.load(net.game).public)
    with pytest.raises(SpecError, match="is called 'holdem-5bb'; did you mean 'holdem-50bb'"):
        agent("rebel(network=holdem-5bb)", table, seed=0)
    with pytest.raises(
        SpecError,
        match=r"no network for full-game hold'em with stack=60 and blinds of 1/2 is shipped; known: holdem-50bb",
    ):
        agent("rebel", load("holdem(stack=60)"), seed=0)


@pytest.mark.slow
def test_what_does_not_fit_is_refused(folder):
    with pytest.raises(
        PolicyError, match=r"network for holdem\(.*, not for stack=4 and blinds of 1/2 with 10 cards; give the game"
    ):
        judge_rebel("holdem(ranks=5,suits=2,stack=4,sizes=[a])", folder)
    with pytest.raises(SpecError, match=r"no network for full-game hold'em with .* is shipped"):
        agent("rebel", load(NINE), seed=0)
    found = CliRunner().invoke(app, ["evaluate", NINE, str(folder), "--exact"])
    assert found.exit_code == 2
    assert "do not apply to a network that searches" in found.stderr
    with pytest.raises(SpecError, match="depth does not apply to full-game hold"):
        judge_rebel(NINE, folder, search={"depth": 2})
    with pytest.raises(SpecError, match="leave out 'workers' and 'ray'"):
        judge_rebel(NINE, folder, workers=2)


@pytest.mark.parametrize("stack", ["[4;1]", "2"])
def test_a_refused_game_leaves_no_folder(stack, tmp_path):
    game = f"holdem(ranks=3,suits=3,stack={stack},sizes=[a])"
    with pytest.raises(SpecError, match=r"no player has a decision|nothing to learn between streets"):
        tp.train(game, "rebel", settings=SETTINGS, out=tmp_path / "run", workers=1)
    assert not (tmp_path / "run").exists()
