"""A table in place of the network: what it lists, and that it learns, resumes and plays as a network does."""

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from tests.learn.alphaholdem.test_trainer import check_resumes
from treeplex.errors import FileError, GameError
from treeplex.evaluate.judge import judge
from treeplex.forms.sources.load import load
from treeplex.learn.alphaholdem.agent import AlphaHoldemAgent, NetworkFile
from treeplex.learn.alphaholdem.planes import PlaneCoder, poker_of
from treeplex.learn.alphaholdem.self_play import plane_policy
from treeplex.learn.alphaholdem.settings import AlphaHoldemSettings
from treeplex.learn.alphaholdem.table import named, rows_of
from treeplex.learn.alphaholdem.trainer import AlphaHoldem
from treeplex.learn.neural.fitting.approximator import TABLE
from treeplex.search.agents.agent import agent_policy

pytest.importorskip("torch")

SMALL = AlphaHoldemSettings(approximator=TABLE, hands=96, match=40, admit=2, best=2, minibatch=128, learning_rate=0.1)


def coder_of(spec: str) -> PlaneCoder:
    return PlaneCoder(poker_of(load(spec)), SMALL.sizes, SMALL.slots)


def student(spec: str, **changes: Any) -> AlphaHoldem:
    return AlphaHoldem(coder_of(spec), SMALL.changed(changes))


def exploitability(learner: AlphaHoldem, spec: str) -> float:
    game = tp.compile(spec)
    return judge(
        game, agent_policy(AlphaHoldemAgent(learner.coder.game, learner.coder, plane_policy(learner.net)), game)
    ).exploitability


def test_kuhn_poker_has_a_row_for_each_infoset() -> None:
    game = tp.compile("kuhn_poker")
    assert len(rows_of(coder_of("kuhn_poker"))) == sum(game.infosets) == 12


@pytest.mark.quick_cases("leduc_poker", "no_limit_leduc")
@pytest.mark.parametrize(
    "spec", ["leduc_poker", "no_limit_leduc", "small_holdem(ranks=3,suits=2,deal=[0;1;1],bets=[1;2;2],raises=1)"]
)
def test_all_that_is_met_is_listed(spec: str) -> None:
    learner = student(spec)
    rows = learner.play([plane_policy(learner.net), None], 300).rows
    known = set(learner.net.rows)  # type: ignore[attr-defined]
    assert known.issuperset(named(rows.cards, rows.actions))


@pytest.mark.slow
def test_it_resumes_bit_for_bit() -> None:
    check_resumes(lambda: student("leduc_poker"))


@pytest.mark.slow
def test_it_begins_with_uniform_play_and_learns_kuhn_poker() -> None:
    learner = student("kuhn_poker", hands=256, learning_rate=0.03, entropy=0.1)
    assert exploitability(learner, "kuhn_poker") == pytest.approx(0.458333, abs=1e-6)
    for _ in range(25):
        learner.step()
    assert exploitability(learner, "kuhn_poker") < 0.35
    assert learner.against_uniform(2000, 1)[0] > 0.15


def test_the_row_of_what_is_not_listed_stays_uniform() -> None:
    learner = student("leduc_poker")
    for _ in range(3):
        learner.step()
    cards, actions = (np.ones((1, *shape), np.uint8) for shape in (learner.coder.card_shape, learner.coder.action_shape))
    logs, values = plane_policy(learner.net)(cards, actions, np.ones((1, learner.coder.columns), np.bool_))
    assert np.exp(logs[0]) == pytest.approx(np.full(learner.coder.columns, 1 / learner.coder.columns))
    assert values[0] == 0.0


def test_a_table_in_a_file_plays_the_same(tmp_path) -> None:  # type: ignore[no-untyped-def]
    learner, file = student("kuhn_poker"), tmp_path / "net.safetensors"
    learner.step()
    NetworkFile("kuhn_poker", learner.settings, learner.net.weights()).save(file)
    found = NetworkFile.load(file)
    assert found.settings.approximator == TABLE
    rows = learner.play([plane_policy(learner.net), None], 50).rows
    planes = rows.cards, rows.actions, rows.legal
    assert np.array_equal(found.policy_for(learner.coder)(*planes)[0], plane_policy(learner.net)(*planes)[0])
    with pytest.raises(FileError, match="does not fit a game with another deck"):
        found.policy_for(coder_of("leduc_poker"))


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["holdem(sizes=[50%;100%;a],preflop=[3x;a])", "holdem(stack=1,sizes=[a])"])
def test_whole_holdem_is_too_large(spec: str) -> None:
    with pytest.raises(GameError, match=r"more than 200,000 .*, too many for a table; set approximator=network"):
        student(spec)
