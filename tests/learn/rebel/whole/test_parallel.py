"""Whole hold'em played by workers: numbers depend on the streams alone, and a stop loses nothing."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.base.workers.executor import make_executor  # noqa: E402
from treeplex.forms.sources.load import load  # noqa: E402
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, SelfPlayStopped, parallel_trainer  # noqa: E402
from treeplex.learn.rebel.settings import WholeRebelSettings  # noqa: E402

TEN = "holdem(ranks=5,suits=2,stack=8,sizes=[100%;a])"
TINY = WholeRebelSettings(
    iterations=3, episodes=4, boards=1, burn_in=4, batch=8, width=8, reuse=8.0, solves=60, streams=3, policy_net=True, warm=1
)


def training():
    game = load(TEN).public
    return parallel_trainer(game, TINY, make_executor("inline"), SelfPlayer(TEN, TINY), TINY.streams)


def numbers(trainer):
    return {name: np.array(array) for name, array in trainer.state().items() if not name.endswith(".seconds")}


def rounds_until_stopped(trainer):
    for rounds in range(TINY.streams + 1):
        try:
            trainer.round()
        except SelfPlayStopped:
            return rounds
    raise AssertionError("it did not stop")


def test_streams_are_counted_and_resumed_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = training()
    for _ in range(9):
        whole.round()
    assert whole.done > 0
    assert whole.steps > 0
    trainer, play = training()
    for _ in range(4):
        trainer.round()
    monkeypatch.setattr(play.executor.crew, "finished", lambda seconds: [])
    play.stop = lambda: True
    rounds = 4 + rounds_until_stopped(trainer)
    saved = numbers(trainer)
    assert any(".weights." in name for name in saved)
    saved |= {name: array for name, array in trainer.state().items() if name.endswith(".seconds")}
    resumed, _ = training()
    resumed.restore(saved)
    for _ in range(9 - rounds):
        resumed.round()
    found, expected = numbers(resumed), numbers(whole)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
