"""Neural fictitious self-play: with tables it approaches fictitious play's equilibrium, with networks it follows."""

import numpy as np
import pytest
from numpy.typing import NDArray

from treeplex.forms.sources.load import load
from treeplex.learn.neural.responses.nfsp import RESPONSE, Nfsp
from treeplex.learn.neural.responses.q_learning import episode_of
from treeplex.learn.neural.walks.sampler import EpisodeBatch

SMALL = {"plays": 500, "memory": 5000, "explore_over": 100_000}


def learner(game: str, **settings: object) -> Nfsp:
    return Nfsp(load(game), Nfsp.settings_class().changed(SMALL, settings))


def test_tables_approach_an_equilibrium() -> None:
    nfsp, found = learner("kuhn_poker", approximator="table"), []
    for step in range(600):
        nfsp.step()
        if step in (30, 599):
            found.append(nfsp.measure()["exploitability"])
    assert found[1] < 0.03 < found[0]
    assert nfsp.sampler.played == 300_000


@pytest.mark.slow
def test_networks_approach_an_equilibrium() -> None:
    nfsp = learner("kuhn_poker", width=32, layers=2, rate=0.005)
    for _ in range(150):
        nfsp.step()
    assert nfsp.measure()["exploitability"] < 0.08


def test_averages_count_greedy_actions_of_those_who_respond() -> None:
    nfsp = learner("kuhn_poker", approximator="table", eta=0.3)
    for _ in range(5):
        nfsp.step()
    infosets = [np.arange(6), np.arange(6)]
    before = np.concatenate([average.chosen.counts for average in nfsp.averages])
    greedy = np.concatenate([response.greedy(rows) for response, rows in zip(nfsp.responses, infosets, strict=True)])
    played: list[tuple[NDArray[np.int64], EpisodeBatch]] = []
    play = nfsp.play

    def watched(follows: NDArray[np.int64]) -> EpisodeBatch:
        played.append((follows, play(follows)))
        return played[-1][1]

    nfsp.play = watched  # type: ignore[method-assign]
    nfsp.step()
    follows, (episodes, *_) = played[0]
    expected = before.copy()
    for episode, player, infoset in zip(episode_of(episodes), episodes.player, episodes.infoset, strict=True):
        if follows[episode, player] == RESPONSE:
            expected[infoset] += greedy[infoset]
    np.testing.assert_array_equal(np.concatenate([average.chosen.counts for average in nfsp.averages]), expected)
    share = (follows == RESPONSE).mean()
    assert share == pytest.approx(0.3, abs=0.06)
    found = np.concatenate([average.policy()(rows) for average, rows in zip(nfsp.averages, infosets, strict=True)])
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True))
