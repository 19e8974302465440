"""Learners whose walks and episodes are jobs: the same bits whoever does them, and whatever dies."""

import os
import pickle
import signal

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.sources.load import load_rules
from treeplex.learn.neural.walks.jobs import WalkedGame
from treeplex.runs.train.registry import learner_named
from treeplex.workers.executor import make_executor

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


def learnt(name, executor, steps=2):
    """A learner's state after some steps."""
    known = learner_named(name)
    student = known.made(load_rules(GAME), known.settings_for(GAME, None, LEARNERS[name]))
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


def test_only_the_spec_travels():
    here = WalkedGame.of(tp.compile(GAME), GAME)
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


def test_a_training_with_processes_is_one_without(tmp_path):
    settings = {**LEARNERS["sd-cfr"], "steps": 3}
    alone = tp.train(GAME, "sd-cfr", settings=settings, out=tmp_path / "alone")
    begun = tp.train(GAME, "sd-cfr", settings={**settings, "steps": 1}, out=tmp_path / "spread", workers=2)
    spread = tp.train(resume=begun.folder, settings=settings)
    assert np.array_equal(spread.load().probabilities, alone.load().probabilities)
    assert [record.measures for record in spread.records] == [record.measures for record in alone.records]


def test_what_cannot_be_spread_is_said(tmp_path):
    with pytest.raises(SpecError, match=r"rcfr does not take workers \(--workers\); leave it out"):
        tp.train(GAME, "rcfr", out=tmp_path / "run", workers=2)
    settings = {"rules": True, "steps": 1}
    with pytest.raises(AlgorithmError, match="is walked by its rules, in this process; leave --workers and --ray out"):
        tp.train("kuhn_poker", "mmd", settings=settings, out=tmp_path / "other", workers=2)
