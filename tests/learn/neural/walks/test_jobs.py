"""Learners whose walks and episodes are jobs: the same bits whoever does them, and whatever dies."""

import os
import pickle
import signal

import numpy as np
import pytest

import treeplex as tp
from treeplex.base.workers.executor import make_executor
from treeplex.errors import SpecError
from treeplex.forms.sources.load import load
from treeplex.learn.neural.fitting.policies import NetworkValues, PlayerPolicy, Profile, large_outputs
from treeplex.learn.neural.frame import NeuralSettings
from treeplex.learn.neural.walks.compiled import WorkerGame
from treeplex.learn.neural.walks.rules import EPISODES, RulesSampler
from treeplex.learn.neural.walks.sampler import EpisodeOptions
from treeplex.learn.train.registry import learner_named

GAME = "kuhn_poker"
TABLE = {"approximator": "table"}
LEARNERS = {
    "deep-cfr": {**TABLE, "walks": 600},
    "sd-cfr": {**TABLE, "walks": 600, "memory": 700},
    "dream": {**TABLE, "walks": 300},
    "escher": {**TABLE, "walks": 300, "value_walks": 300},
    "vr-deep-pdcfr+": {**TABLE, "walks": 300},
    "nfsp": {**TABLE, "plays": 50},
    "armac": {**TABLE, "plays": 50},
    "psro": {**TABLE, "oracle": "learned", "plays": 30, "batches": 2},
    "rpg": {**TABLE, "batch": 30},
}
"""Learners with settings by which a step is several jobs."""
SMALL = {"rules": True, "width": 8, "layers": 1, "batch": 16}
CRITIC = {"critic_fits": 2, "critic_rounds": 1}
BY_RULES = {
    "deep-cfr": {**SMALL, "walks": 40, "fits": 3},
    "escher": {**SMALL, **CRITIC, "walks": 600, "value_walks": 40, "fits": 3},
    "vr-deep-pdcfr+": {**SMALL, **CRITIC, "walks": 40, "fits": 3},
    "nfsp": {**SMALL, "plays": 70, "fits": 2},
    "armac": {**SMALL, **CRITIC, "plays": 70, "fits": 2},
    "psro": {**SMALL, "oracle": "learned", "plays": 40, "batches": 1, "fits": 2, "simulated": 10},
    "ppo": {**SMALL, "batch": 70},
    "r-nad": {**SMALL, "batch": 70},
}
"""The rows of walks by the rules."""


def learnt(name, executor, steps=2, settings=LEARNERS):
    """A learner's state after some steps."""
    known = learner_named(name)
    student = known.made(load(GAME), known.settings_for(GAME, None, settings[name]))
    if executor is not None:
        student.spread_over(executor, GAME)
    for _ in range(steps):
        student.step()
    return {**student.state(), "effort": np.array(list(student.effort().values()))}


def assert_same(found, wanted):
    """All arrays are equal to the bit."""
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_same_bits_with_any_number_of_workers(name):
    wanted = learnt(name, None)
    assert wanted["effort"].min() > 0
    with make_executor("threads", 3) as executor:
        assert_same(learnt(name, executor), wanted)
        assert executor.traffic.jobs > 2


@pytest.mark.slow_cases("deep-cfr", "escher", "ppo")
@pytest.mark.parametrize("name", BY_RULES)
def test_the_same_bits_by_the_rules_with_any_number_of_workers(name):
    """Policies travel pickled; which rows a network is asked for together does not depend on who walks."""
    pytest.importorskip("torch")
    wanted = learnt(name, None, settings=BY_RULES)
    assert wanted["effort"].min() > 0
    for size in (2, 3):
        with make_executor("threads", size) as executor:
            assert_same(learnt(name, executor, settings=BY_RULES), wanted)
            assert executor.traffic.jobs > 2


def test_infosets_that_several_jobs_met_stand_there_once():
    """Joined episodes say the same of every decision as those of each job."""
    sampler = RulesSampler(load(GAME), NeuralSettings(seed=3), make_executor("inline"))
    policy = Profile([PlayerPolicy(sampler.inputs(0).constant(1.0), "softmax")] * 2)

    def episodes(seats, number):
        sampler.played = number
        return sampler.episodes([policy], seats, EpisodeOptions(3, histories=True))

    seats = np.zeros((3 * EPISODES - 5, 2), np.int64)
    whole = episodes(seats, 7)
    assert len(whole.infosets) == 12
    parts = [episodes(seats[i : i + EPISODES], 7 + i) for i in (0, 32, 64)]
    for name in ("player", "action", "probability", "payoffs"):
        found = np.concatenate([getattr(part.episodes, name) for part in parts])
        np.testing.assert_array_equal(getattr(whole.episodes, name), found)
    for name in ("player", "features", "legal"):
        found = np.concatenate([getattr(part.infosets, name)[part.episodes.infoset] for part in parts])
        np.testing.assert_array_equal(getattr(whole.infosets, name)[whole.episodes.infoset], found)
    np.testing.assert_array_equal(whole.histories, np.concatenate([part.histories for part in parts]))
    assert whole.policy[whole.episodes.infoset, whole.episodes.action].tolist() == [0.5] * len(whole.episodes.action)
    assert whole.episodes.nodes == sum(part.episodes.nodes for part in parts)


def test_large_products_are_those_of_small_ones():
    pytest.importorskip("torch")
    generator = np.random.default_rng(1)
    layers = [(generator.normal(size=shape).astype(np.float32), np.ones(shape[0], np.float32)) for shape in ((9, 5), (3, 9))]
    rows = generator.normal(size=(6, 8)).astype(np.float32)
    np.testing.assert_allclose(large_outputs(layers, rows[:, :5]), NetworkValues(5, layers).outputs(rows), rtol=1e-5)


def test_what_cannot_travel_is_one_line():
    with make_executor("threads", 2) as executor, pytest.raises(SpecError, match="cannot send the job to a worker"):
        executor.share(lambda rows: rows)


def test_only_the_spec_travels():
    here = WorkerGame.of(tp.compile(GAME), GAME)
    there = pickle.loads(pickle.dumps(here))
    assert len(pickle.dumps(here)) < 200
    assert there.compiled.identity == here.compiled.identity
    np.testing.assert_array_equal(there.first, here.first)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deep-cfr", "vr-deep-pdcfr+", "nfsp"])
def test_a_process_that_is_killed_changes_no_number(name):
    wanted = learnt(name, None, 6)
    with make_executor("processes", 2) as executor:
        finished, calls = executor.crew.finished, 0

        def killing(seconds):
            nonlocal calls
            calls += 1
            if calls == 4:
                os.kill(executor.crew.pids[0], signal.SIGKILL)
            return finished(seconds)

        executor.crew.finished = killing
        assert_same(learnt(name, executor, 6), wanted)
        assert executor.lost == 1


@pytest.mark.slow
@pytest.mark.parametrize("rules", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_training_with_processes_is_one_without(rules, tmp_path):
    settings = {**({**SMALL, "walks": 40, "fits": 3} if rules else LEARNERS["sd-cfr"]), "steps": 3}
    alone = tp.train(GAME, "sd-cfr", settings=settings, out=tmp_path / "alone")
    begun = tp.train(GAME, "sd-cfr", settings={**settings, "steps": 1}, out=tmp_path / "spread", workers=2)
    spread = tp.train(resume=begun.folder, settings=settings)
    one, other = (training.load().on(tp.compile(GAME)) if rules else training.load() for training in (spread, alone))
    assert np.array_equal(one.probabilities, other.probabilities)
    assert [record.measures for record in spread.records] == [record.measures for record in alone.records]


def test_what_cannot_be_spread_is_said(tmp_path):
    with pytest.raises(SpecError, match=r"rcfr does not support workers \(--workers\); leave it out"):
        tp.train(GAME, "rcfr", out=tmp_path / "run", workers=2)
