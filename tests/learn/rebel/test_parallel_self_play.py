"""Stopping self-play on many cores: jobs under way are not waited for, and are done again bit for bit."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


from treeplex.base.workers.executor import make_executor  # noqa: E402
from treeplex.forms.sources.load import public_tree  # noqa: E402
from treeplex.learn.rebel import parallel_self_play  # noqa: E402
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, SelfPlayStopped, parallel_trainer  # noqa: E402
from treeplex.learn.rebel.settings import RebelSettings  # noqa: E402

DICE = "liars_dice(dice_sides=2)"
TINY = RebelSettings(iterations=4, episodes=8, width=8, solves=320, burn_in=16, batch=16, reuse=4.0, depth=1, seed=3)
STREAMS = 3


def training(streams=STREAMS):
    return parallel_trainer(public_tree(DICE), TINY, make_executor("inline"), SelfPlayer(DICE, TINY), streams)


def numbers(trainer):
    return {name: np.array(array) for name, array in trainer.state().items()}


def test_a_stop_does_not_wait_and_jobs_under_way_are_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = training()
    for _ in range(8):
        whole.round()
    trainer, play = training()
    for _ in range(4):
        trainer.round()
    monkeypatch.setattr(play.executor.crew, "finished", lambda seconds: [])
    play.stop = lambda: True
    with pytest.raises(SelfPlayStopped):
        _ = [trainer.round() for _ in range(STREAMS + 1)]
    saved = numbers(trainer)
    assert any(".weights." in name for name in saved)
    done = trainer.play.solved // TINY.episodes
    resumed, _ = training()
    resumed.restore(saved)
    resumed.play.solved = trainer.play.solved
    for _ in range(8 - done):
        resumed.round()
    found, expected = numbers(resumed), numbers(whole)
    assert found.keys() == expected.keys()
    assert not any(".weights." in name for name in found)
    for name, array in expected.items():
        if not name.endswith(".seconds"):
            np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_a_state_waits_unless_it_is_to_stop_and_where_networks_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer, play = training()
    trainer.round()
    assert play.executor.left()
    trainer.state()
    assert not play.executor.left()
    trainer.round()
    play.stop = lambda: True
    trainer.state()
    assert play.executor.left()
    monkeypatch.setattr(parallel_self_play, "MOST_BYTES", 0)
    trainer.state()
    assert not play.executor.left()


def test_a_state_of_more_streams_is_refused() -> None:
    trainer, play = training()
    trainer.round()
    play.stop = lambda: True
    saved = numbers(trainer)
    fewer, _ = training(STREAMS - 1)
    with pytest.raises(ValueError, match="does not have 2 streams"):
        fewer.play.restore(saved)
