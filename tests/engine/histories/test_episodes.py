"""Batches of episodes against probabilities that are found by enumeration."""

from itertools import pairwise

import numpy as np
import pytest

import treeplex as tp
from treeplex.base.arrays import Floats, Ints
from treeplex.engine.histories.episodes import Episodes, next_own, play_episodes
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, Histories
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of


def random_policy(game: CompiledGame, seed: int) -> Floats:
    """A policy with an action that is never taken at some infosets."""
    generator, table = np.random.default_rng(seed), np.ones(sum(game.sequences))
    for infoset in range(len(game.infostates)):
        weights = generator.exponential(size=len(game.sequences_at(infoset)))
        weights[-1] *= infoset % 3 > 0
        table[game.sequences_at(infoset)] = weights / weights.sum()
    return table


def reach_probabilities(histories: Histories, layout: Ints, policies: Floats, seats: tuple[int, ...]) -> Floats:
    """Of every history, float64 [H]; children come after their parents."""
    reach = np.zeros(len(histories.nodes))
    reach[0] = 1.0
    for h, row in enumerate(histories.nodes):
        for number in range(row[CHILDREN]):
            if row[ACTOR] == CHANCE:
                share = histories.chance[row[KEY] + number]
            else:
                first, stride, _ = layout[row[KEY]]
                share = policies[seats[row[ACTOR]], first + stride * number]
            reach[row[CHILD] + number] = reach[h] * share
    return reach


def play(game: CompiledGame, policies: Floats, seats: Ints, number: int = 0) -> Episodes:
    return play_episodes(histories_of(game), game.tree.infoset_layout, policies, seats, game.size.depth, 7, number)


@pytest.mark.parametrize("spec", ["kuhn_poker", "kuhn_poker(players=3)", "goofspiel(num_cards=3,imp_info=true)"])
def test_histories_come_as_often_as_they_are_reached(spec: str) -> None:
    """Every decision's history as often as enumeration says, within five standard deviations; policies by seat."""
    game = tp.compile(spec)
    policies = np.stack([random_policy(game, seed) for seed in range(game.players)])
    episodes = 200_000
    seats = np.tile(np.arange(game.players)[::-1], (episodes, 1)).astype(np.int64)
    found = play(game, policies, seats)
    histories = histories_of(game)
    reach = reach_probabilities(histories, game.tree.infoset_layout, policies, tuple(seats[0]))
    decisions = histories.nodes[:, ACTOR] >= 0
    seen = np.bincount(found.history, minlength=len(reach))
    error = 5.0 * np.sqrt(episodes * reach * (1.0 - reach))
    assert (np.abs(seen - episodes * reach)[decisions] <= error[decisions] + 1e-9).all()
    assert not seen[~decisions].any()
    rows = histories.nodes[found.history]
    assert (rows[:, ACTOR] == found.player).all()
    assert (rows[:, KEY] == found.infoset).all()
    first, stride, _ = game.tree.infoset_layout[found.infoset].T
    assert (policies[seats[0][found.player], first + stride * found.action] == found.probability).all()
    assert (found.probability > 0.0).all()
    assert found.first[-1] == len(found.history)
    assert (np.diff(found.first) > 0).all()


def test_mean_payoffs_are_the_value_of_the_policy() -> None:
    """Within five standard errors, on Leduc poker."""
    game = tp.compile("leduc_poker")
    table = random_policy(game, 3)
    found = play(game, table[None], np.zeros((100_000, 2), np.int64))
    error = found.payoffs.std(axis=0) / np.sqrt(len(found.payoffs))
    assert (np.abs(found.payoffs.mean(axis=0) - tp.judge(game, tp.Policy(game, table)).value) < 5.0 * error).all()


def test_an_episode_is_the_same_in_every_batch() -> None:
    """Ten at once, or the last four on their own."""
    game = tp.compile("leduc_poker")
    table, seats = random_policy(game, 4)[None], np.zeros((10, 2), np.int64)
    whole, part = play(game, table, seats), play(game, table, seats[:4], number=6)
    since = whole.first[6]
    assert (whole.history[since:] == part.history).all()
    assert (whole.action[since:] == part.action).all()
    assert (whole.payoffs[6:] == part.payoffs).all()
    assert play(game, table, seats[:6]).nodes + part.nodes == whole.nodes


def test_the_next_own_decision_is_the_first_one_later_in_the_episode() -> None:
    generator = np.random.default_rng(4)
    first = np.append(0, np.cumsum(generator.integers(0, 7, 50)))
    player = generator.integers(0, 3, first[-1]).astype(np.int32)
    infoset = generator.integers(0, 90, first[-1]).astype(np.int32)
    found = next_own(first, player, infoset, 3)
    for begin, end in pairwise(first):
        for at in range(begin, end):
            later = [int(infoset[after]) for after in range(at + 1, end) if player[after] == player[at]]
            assert found[at] == (later[0] if later else -1)
