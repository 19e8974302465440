"""Learners whose walks are jobs of a Ray cluster, where Ray is installed: the bits of this process, by the rules as well."""

import numpy as np
import pytest

import treeplex as tp
from tests.base.workers.local_cluster import local_cluster
from tests.learn.neural.walks.test_jobs import GAME, SMALL, TABLE

pytest.importorskip("ray")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("ray"), pytest.mark.slow]
WALKS = {"walks": 40, "fits": 3, "steps": 2, "every": 2}
PLAYS = {"plays": 70, "fits": 2, "steps": 2, "every": 2}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with local_cluster():
        yield


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param("sd-cfr", {**TABLE, "walks": 600, "steps": 2}, id="compiled"),
        pytest.param("sd-cfr", {**SMALL, **WALKS}, id="by the rules"),
        pytest.param("nfsp", {**SMALL, **PLAYS}, id="episodes by the rules"),
    ],
)
def test_a_training_on_ray_is_one_without(name, settings, tmp_path):
    pytest.importorskip("torch")
    alone = tp.train(GAME, name, settings=settings, out=tmp_path / "alone")
    there = tp.train(GAME, name, settings=settings, out=tmp_path / "there", ray="auto")
    one, other = (training.load() for training in (there, alone))
    if settings.get("rules"):
        one, other = one.on(tp.compile(GAME)), other.on(tp.compile(GAME))
    assert np.array_equal(one.probabilities, other.probabilities)
    assert [record.measures for record in there.records] == [record.measures for record in alone.records]
    assert there.records[-1].measures["nodes"] > 0


def test_a_game_too_large_to_compile(tmp_path):
    """Its histories are walked by two actors that know the rules alone."""
    pytest.importorskip("torch")
    settings = {key: value for key, value in {**SMALL, **PLAYS, "plays": 40}.items() if key != "rules"}
    game = "liars_dice(dice=3,dice_sides=6)"
    alone = tp.train(game, "nfsp", settings=settings, out=tmp_path / "alone")
    there = tp.train(game, "nfsp", settings=settings, out=tmp_path / "there", ray="auto")
    assert [record.measures for record in there.records] == [record.measures for record in alone.records]
    assert "exploitability" not in there.records[-1].measures
