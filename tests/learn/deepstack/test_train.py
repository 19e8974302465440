"""Trainings of DeepStack's networks: what a folder has, leaves from it, and files that do not fit."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import treeplex as tp  # noqa: E402
from treeplex.errors import FileError, GameError, PolicyError, SpecError  # noqa: E402
from treeplex.evaluate import judge  # noqa: E402
from treeplex.learn.deepstack.files import NETS, deepstack_leaf, read_round_nets  # noqa: E402
from treeplex.learn.rebel.files import is_net_file, read_net  # noqa: E402
from treeplex.learn.train.kind import CURVE  # noqa: E402
from treeplex.learn.train.train import train  # noqa: E402
from treeplex.search import METHODS, Belief, Horizon, SubgameSearch, cut, public_tree  # noqa: E402
from treeplex.search.agents.agent import agent_policy  # noqa: E402

TINY = {"iterations": 4, "situations": 64, "side": 32, "width": 8, "layers": 1, "burn_in": 8, "batch": 8, "reuse": 2.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("deepstack") / "nets"
    train("leduc_poker", "deepstack", settings=TINY, out=made)
    return made


def test_a_folder_says_how_far_it_is(folder: Path) -> None:
    records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert records[-1]["done"] == 64
    assert records[-1]["round"] == 1
    assert records[-1]["rows"] + round(0.05 * 64) == pytest.approx(64, abs=6)
    assert records[-1]["loss"] > 0
    assert (folder / CURVE).read_bytes().startswith(b"\x89PNG")
    net = read_round_nets(folder)
    assert (net.game, net.card["situations"], net.settings["width"]) == ("leduc_poker", 64, 8)
    assert net.card["steps"] == records[-1]["steps"] > 0


def test_a_search_reads_the_networks(folder: Path) -> None:
    rules = public_tree("leduc_poker")
    for horizon in (Horizon(rounds=1), Horizon(rounds=1, endgame=7)):
        leaf = deepstack_leaf(folder, rules)
        search = SubgameSearch(cut(rules, [Belief.root(rules)], horizon), METHODS["cfr+"], leaf)
        search.run(10)
        first, second = search.mean_values()
        assert np.isfinite(first).all()
        assert first + second == pytest.approx(0, abs=1.0)
    assert deepstack_leaf(folder / NETS, rules).rounds.weights().keys() == leaf.rounds.weights().keys()


def test_networks_of_another_game_are_refused(folder: Path) -> None:
    with pytest.raises(PolicyError, match=r"has networks for leduc_poker, not for these rules; give the game"):
        deepstack_leaf(folder, public_tree("leduc_poker(ranks=4)"))


def test_files_that_are_no_such_networks(folder: Path, tmp_path: Path) -> None:
    assert not is_net_file(folder / NETS)  # ReBeL's judge takes none of them
    with pytest.raises(FileError, match="not a value network; give one that train rebel"):
        read_net(folder / NETS)
    with pytest.raises(FileError, match=r"nets\.safetensors"):
        deepstack_leaf(tmp_path, public_tree("leduc_poker"))
    (tmp_path / NETS).write_bytes((folder / NETS).read_bytes()[:-8])
    with pytest.raises(FileError, match="truncated or not a value network; give one that train deepstack wrote"):
        deepstack_leaf(tmp_path, public_tree("leduc_poker"))


@pytest.mark.slow_cases("tic_tac_toe-no betting round starts with a deal")
@pytest.mark.parametrize(
    ("game", "said"),
    [
        ("kuhn_poker", "no betting round starts with a deal"),
        ("tic_tac_toe", "no betting round starts with a deal"),
        ("kuhn_poker(players=3)", "has no public tree"),
    ],
)
def test_games_that_have_no_rounds_are_refused(game: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(GameError, match=said):
        train(game, "deepstack", settings=TINY, out=tmp_path / "new")


def test_settings_are_checked_and_kept(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="unit must be one of gelu, prelu"):
        train("leduc_poker", "deepstack", settings=TINY | {"unit": "relu"}, out=tmp_path / "new")
    with pytest.raises(SpecError, match="situations is 64 and cannot change to 128 on resume"):
        train(resume=folder, settings={"situations": 128})
    training = tp.train("leduc_poker", "deepstack", settings=TINY | {"unit": "prelu"}, out=tmp_path / "prelu")
    assert training.load().settings["unit"] == "prelu"
    assert "situations" in training.to_json()


@pytest.mark.slow
def test_an_agent_plays_by_networks(folder: Path) -> None:
    game = tp.compile("leduc_poker")
    player = tp.agent(f"deepstack(net={folder},iterations=20)", game, seed=0)
    assert judge(game, agent_policy(player, game)).exploitability < 1.5  # uniform play 2.37
    with pytest.raises(SpecError, match="only at the ends of betting rounds; leave out 'rounds' and 'depth'"):
        tp.agent(f"deepstack(net={folder},depth=2)", game)
    with pytest.raises(PolicyError, match="has networks for leduc_poker, not for these rules"):
        tp.agent(f"deepstack(net={folder})", "no_limit_leduc")
    with pytest.raises(FileError, match="cannot read no_such_folder"):
        tp.agent("deepstack(net=no_such_folder)", game)
