"""Stopping self-play on many cores: jobs under way are not waited for, and are done again bit for bit."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.forms.subgames.public_rules import public_rules  # noqa: E402
from treeplex.learn.common.workers import Alone  # noqa: E402
from treeplex.learn.rebel import parallel_self_play  # noqa: E402
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, SelfPlayStopped, parallel_trainer  # noqa: E402
from treeplex.learn.rebel.settings import RebelSettings  # noqa: E402

DICE = "liars_dice(dice_sides=2)"
TINY = RebelSettings(iterations=4, episodes=8, width=8, solves=320, burn_in=16, batch=16, reuse=4.0, depth=1, seed=3)
STREAMS = 3


class Slow(Alone):  # type: ignore[misc]
    """A worker that finishes no more jobs than it may."""

    left = 1 << 30

    def finished(self, seconds):
        """As :class:`Alone` while it may."""
        if not self.left:
            return []
        self.left -= 1
        return super().finished(seconds)


def training(worker=Alone):
    crew = worker(SelfPlayer(DICE, TINY))
    trainer, play = parallel_trainer(public_rules(DICE), TINY, crew, STREAMS)
    return trainer, play, crew


def numbers(trainer):
    return {name: np.array(array) for name, array in trainer.state().items()}


def test_a_stop_does_not_wait_and_jobs_under_way_are_done_again() -> None:
    whole, _, _ = training()
    for _ in range(8):
        whole.round()
    trainer, play, crew = training(Slow)
    for _ in range(4):
        trainer.round()
    crew.left, play.stop = 0, lambda: True
    with pytest.raises(SelfPlayStopped):
        _ = [trainer.round() for _ in range(STREAMS + 1)]
    saved = numbers(trainer)
    assert any(".weights." in name for name in saved)
    done = trainer.play.solved // TINY.episodes
    resumed, _, _ = training()
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
    trainer, play, _ = training()
    trainer.round()
    assert play.errands
    trainer.state()
    assert not play.errands
    trainer.round()
    play.stop = lambda: True
    trainer.state()
    assert play.errands
    monkeypatch.setattr(parallel_self_play, "MOST_BYTES", 0)
    trainer.state()
    assert not play.errands


def test_a_state_of_more_streams_is_refused() -> None:
    trainer, play, _ = training()
    trainer.round()
    play.stop = lambda: True
    saved = numbers(trainer)
    fewer, _ = parallel_trainer(public_rules(DICE), TINY, Alone(SelfPlayer(DICE, TINY)), STREAMS - 1)
    with pytest.raises(ValueError, match="not 2 streams"):
        fewer.play.restore(saved)
