"""Training: ratings, what is kept, resuming bit for bit, and that it learns."""

from collections.abc import Callable

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.evaluate.judge import judge
from treeplex.forms.sources.load import load
from treeplex.learn.alphaholdem.agent import AlphaHoldemAgent, NetworkFile
from treeplex.learn.alphaholdem.league import Member, best_members, expected_score, updated_ratings
from treeplex.learn.alphaholdem.planes import PlaneCoder, poker_of
from treeplex.learn.alphaholdem.self_play import plane_policy, play_hands
from treeplex.learn.alphaholdem.settings import LATEST, AlphaHoldemSettings
from treeplex.learn.alphaholdem.trainer import AlphaHoldem
from treeplex.search.agents.agent import agent_policy, play_game

torch = pytest.importorskip("torch")

SMALL = AlphaHoldemSettings(hands=96, match=40, admit=2, best=2, minibatch=128, channels=4, width=16)


def student(spec: str, settings: AlphaHoldemSettings = SMALL) -> AlphaHoldem:
    return AlphaHoldem(PlaneCoder(poker_of(load(spec)), settings.sizes, settings.slots), settings)


def test_ratings() -> None:
    assert expected_score(1000, 1000) == 0.5
    assert expected_score(1400, 1000) == pytest.approx(10 / 11)
    rating, others = updated_ratings(1000, [1000, 1400], [1.0, 0.5])
    assert rating == pytest.approx(1000 + 16 + 32 * (0.5 - 1 / 11))
    assert others == pytest.approx([984, 1400 - 32 * (0.5 - 1 / 11)])
    members = [Member({}, rating, update) for rating, update in ((1000, 0), (1010, 10), (990, 20), (1010, 30))]
    assert [member.update for member in best_members(members, 3)] == [30, 10, 0]


def check_resumes(student: Callable[[], AlphaHoldem]) -> AlphaHoldem:
    """Check that a training interrupted after three of five steps ends as an uninterrupted one, which it returns."""
    whole, begun, resumed = student(), student(), student()
    for _ in range(5):
        whole.step()
    for _ in range(3):
        begun.step()
    resumed.restore(begun.state())
    for _ in range(2):
        resumed.step()
    first, second = whole.state(), resumed.state()
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    return whole


@pytest.mark.slow
def test_resumes_bit_for_bit() -> None:
    assert len(check_resumes(lambda: student("leduc_poker")).members) == 2


@pytest.mark.slow
@pytest.mark.parametrize("opponents", ["k-best", LATEST])
def test_learns_kuhn_poker(opponents: str) -> None:
    settings = AlphaHoldemSettings(hands=256, match=100, opponents=opponents, channels=4, width=32, entropy=0.1)
    learner, game = student("kuhn_poker", settings), tp.compile("kuhn_poker")
    before = judge(game, agent_policy(AlphaHoldemAgent(learner.coder.game, learner.coder, plane_policy(learner.net)), game))
    for _ in range(25):
        learner.step()
    after = judge(game, agent_policy(AlphaHoldemAgent(learner.coder.game, learner.coder, plane_policy(learner.net)), game))
    assert before.exploitability > 0.4
    assert after.exploitability < 0.35
    assert learner.against_uniform(2000, 1)[0] > 0.15


def test_payoffs_are_those_of_hands_and_within_what_was_paid() -> None:
    learner = student("holdem(stack=6,sizes=[100%;a],ranks=4,suits=2,hole=1,deal=[0;1;1])")
    played = learner.play([plane_policy(learner.net), None], 200)
    np.testing.assert_allclose(played.payoffs.sum(axis=1), 0.0, atol=1e-12)
    assert (played.payoffs >= -played.paid - 1e-12).all()
    assert (played.payoffs <= played.paid[:, ::-1] + 1e-12).all()
    assert (np.diff(played.rows.hand) >= 0).all()
    assert played.rows.legal[np.arange(len(played.rows.column)), played.rows.column].all()


@pytest.mark.slow
def test_uniform_hands_pay_what_the_exact_sum_says() -> None:
    coder, game = student("kuhn_poker").coder, tp.compile("kuhn_poker")
    played = play_hands(coder, [None], np.zeros((6000, 2), np.int64), np.random.default_rng(1))
    assert played.payoffs[:, 0].mean() == pytest.approx(judge(game, tp.Policy.uniform(game)).value[0], abs=0.05)


def test_the_agent_plays_as_its_table_and_whole_holdem(tmp_path) -> None:  # type: ignore[no-untyped-def]
    learner = student("holdem")
    file = tmp_path / "net.safetensors"
    NetworkFile("holdem", SMALL, learner.net.weights()).save(file)
    found = NetworkFile.load(file)
    agent = AlphaHoldemAgent(learner.coder.game, learner.coder, found.policy_for(learner.coder))
    generator = np.random.default_rng(0)
    assert sum(play_game([agent, agent.fork()], generator)) == 0.0
    agent.begin()
    agent.see(7)  # a raise between two columns
    table = agent.policy()
    np.testing.assert_allclose(table.sum(axis=0), 1.0)
    assert (table > 0).sum(axis=0).max() <= learner.coder.columns


def test_bad_input(tmp_path) -> None:  # type: ignore[no-untyped-def]
    learner = student("kuhn_poker")
    file = tmp_path / "net.safetensors"
    NetworkFile("kuhn_poker", SMALL, learner.net.weights()).save(file)
    with pytest.raises(FileError, match="does not fit a game with another deck"):
        NetworkFile.load(file).policy_for(student("leduc_poker").coder)
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(FileError, match="truncated"):
        NetworkFile.load(file)
    with pytest.raises(SpecError, match=r"third is .*; it must be above"):
        AlphaHoldemSettings(third=1.1)
    with pytest.raises(SpecError, match="ascending"):
        AlphaHoldemSettings(sizes=(1.0, 0.5))
    with torch.no_grad():
        learner.net.module["value"].bias.fill_(float("nan"))
    with pytest.raises(AlgorithmError, match="the loss is nan"):
        learner.step()
