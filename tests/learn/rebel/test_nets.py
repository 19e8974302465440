"""The policy network: its rows, its loss, its guesses, and trainings that use them."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")


from treeplex.base.workers.executor import make_executor  # noqa: E402
from treeplex.errors import AlgorithmError, FileError, GameError, SpecError  # noqa: E402
from treeplex.forms.sources.load import public_tree  # noqa: E402
from treeplex.games.public import PublicTree  # noqa: E402
from treeplex.learn.common.encoding import Encoding  # noqa: E402
from treeplex.learn.rebel import policy_encoding  # noqa: E402
from treeplex.learn.rebel.files import read_net, save_net  # noqa: E402
from treeplex.learn.rebel.nets import (  # noqa: E402
    load_weights,
    networks,
    policy_entropy,
    policy_loss,
    probabilities,
    weights_of,
)
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, parallel_trainer  # noqa: E402
from treeplex.learn.rebel.policy_encoding import PolicyEncoding, action_labels  # noqa: E402
from treeplex.learn.rebel.settings import RebelSettings  # noqa: E402
from treeplex.learn.rebel.trainer import RebelTrainer  # noqa: E402
from treeplex.search import METHODS, Belief, NoLeaf, SubgameSearch  # noqa: E402
from treeplex.search.action_subset import ActionAbstraction  # noqa: E402
from treeplex.search.subgames.batch import cut_states  # noqa: E402
from treeplex.search.subgames.horizon import Horizon  # noqa: E402
from treeplex.search.subgames.identity import public_identity  # noqa: E402
from treeplex.search.warm_start.batch import write_guess  # noqa: E402
from treeplex.search.warm_start.begin import begin_search  # noqa: E402

torch.set_num_threads(1)

DICE = "liars_dice(dice_sides=2)"
TINY = RebelSettings(
    iterations=6, episodes=16, width=16, solves=320, burn_in=64, batch=32, reuse=4.0, depth=1, seed=3, policy_net=True, warm=3
)


def searched(spec: str, iterations: int = 20) -> SubgameSearch:
    rules = public_tree(spec)
    root = Belief.root(rules)
    search = SubgameSearch(
        cut_states(rules, [root.state]), METHODS["dcfr"], NoLeaf(), (root.ranges[0][None], root.ranges[1][None])
    )
    search.run(iterations)
    return search


@pytest.mark.parametrize(
    ("spec", "labels"), [(DICE, range(5)), ("kuhn_poker", range(2)), ("leduc_poker", range(3)), ("tic_tac_toe", range(9))]
)
def test_actions_of_games(spec: str, labels: range) -> None:
    assert action_labels(public_tree(spec)).tolist() == list(labels)


def test_guesses_where_actions_are_left_out() -> None:
    """The guess of a menu is the guess of the whole game over the actions that it keeps; adding one changes that."""
    rules = public_tree(DICE)
    leaf = networks(rules, replace(TINY, seed=5))
    assert leaf.guess is not None
    with torch.no_grad():
        leaf.guess.net[-1].weight.mul_(100.0)
    root = Belief.root(rules)
    menu = ActionAbstraction(rules, lambda node, actions: [action for action in actions if action != 1])

    def guessed(considered: PublicTree) -> dict[int, np.ndarray]:
        search = SubgameSearch(
            cut_states(considered, [root.state], Horizon(1)),
            METHODS["dcfr"],
            leaf,
            (root.ranges[0][None], root.ranges[1][None]),
        )
        write_guess(search, leaf.guess)
        actions = considered.visit(rules.root).actions  # type: ignore[union-attr]
        return dict(zip(actions, search.policy_at(0, search.policy), strict=True))

    whole = guessed(rules)
    assert np.ptp(list(whole.values())) > 0.05
    for considered, kept in ((menu, [0, 2, 3]), (menu.with_action_at((), 1), [0, 1, 2, 3])):
        found, expected = guessed(considered), np.array([whole[action] for action in kept])
        assert list(found) == kept
        assert np.array(list(found.values())) == pytest.approx(expected / expected.sum(axis=0), abs=1e-6)


def test_games_with_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_encoding, "MOST_FUTURES", 100)
    with pytest.raises(GameError, match="more than 100 public nodes"):
        action_labels(public_tree("leduc_poker"))


@pytest.mark.parametrize("spec", [DICE, "liars_dice(dice_sides=3)", "kuhn_poker", "leduc_poker"])
def test_rows_are_the_average_policies_of_all_decisions(spec: str) -> None:
    search = searched(spec)
    rules = search.subgames.game
    encoding = PolicyEncoding(Encoding(rules))
    inputs, targets, legal = encoding.rows(search)
    policy = search.average_policy()
    assert len(inputs) == len(search.subgames.decisions)
    for row, state in enumerate(search.subgames.decisions.states):
        actions = rules.visit(state.node).actions  # type: ignore[union-attr]
        columns = [encoding.labels.tolist().index(action) for action in actions]
        assert np.flatnonzero(legal[row]).tolist() == columns
        expected = search.policy_at(row, policy).T
        there = search.subgames.infosets[row] >= 0
        found = targets[row][:, columns] / 255
        assert found[: len(there)][there] == pytest.approx(expected[there], abs=1 / 510 + 1e-9)
        assert not targets[row][~np.pad(there, (0, len(targets[row]) - len(there)))].any()
        assert not targets[row][:, ~legal[row]].any()
    assert inputs[0][-2 * encoding.encoding.hands :].sum() == pytest.approx(2)


def test_hands_that_are_never_there_say_nothing() -> None:
    rules = public_tree(DICE)
    state = Belief.root(rules).after(0, np.ones((4, 2))).state
    ranges = np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])  # player 1, who acts, has only its first hand
    search = SubgameSearch(cut_states(rules, [state], Horizon(1)), METHODS["dcfr"], Zero(), ranges)
    search.run(5)
    _, targets, _ = PolicyEncoding(Encoding(rules)).rows(search)
    assert targets[0, 0].any()
    assert not targets[0, 1].any()


class Zero:
    def __call__(self, places, believed, reached, player=None):
        return np.zeros_like(believed[0]), np.zeros_like(believed[1])


def test_the_loss_is_the_squared_error_of_probabilities_of_hands_that_count() -> None:
    legal = torch.tensor([[True, True, False]])
    logits = torch.tensor([[0.0, np.log(3.0), 9.0, 5.0, -5.0, 0.0]])
    assert probabilities(logits, legal)[0, 0].tolist() == pytest.approx([0.25, 0.75, 0.0])
    targets = torch.tensor([[[255, 0, 0], [0, 0, 0]]], dtype=torch.uint8)
    assert float(policy_loss(lambda rows: rows, logits, targets, legal)) == pytest.approx(0.75**2)


def test_cross_entropy_is_of_hands_that_count_and_actions_that_are_legal() -> None:
    legal = torch.tensor([[True, True, False]])
    logits = torch.tensor([[0.0, np.log(3.0), 9.0, 5.0, -5.0, 0.0]], requires_grad=True)
    targets = torch.tensor([[[204, 51, 0], [0, 0, 0]]], dtype=torch.uint8)
    loss = policy_entropy(lambda rows: rows, logits, targets, legal)
    assert float(loss.detach()) == pytest.approx(-0.8 * np.log(0.25) - 0.2 * np.log(0.75))
    loss.backward()
    assert logits.grad[0].tolist() == pytest.approx([0.25 - 0.8, 0.75 - 0.2, 0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("change", [{"value_loss": "squared"}, {"policy_loss": "cross-entropy"}])
def test_the_loss_is_the_one_that_is_asked_for(change: dict[str, str]) -> None:
    settings = replace(TINY, warm=0)
    usual, other = (RebelTrainer(public_tree(DICE), each) for each in (settings, replace(settings, **change)))
    while not usual.finished:
        first, second = usual.round(), other.round()
        if np.isfinite(first.loss):
            break
    if "value_loss" in change:
        assert second.loss == pytest.approx(2 * first.loss, rel=1e-3)  # no error here is above 1
    else:
        assert second.loss == first.loss
        assert second.policy_loss > first.policy_loss


def test_a_guess_is_the_network_from_the_top_down() -> None:
    """Beliefs below the root are those to which the network's own policy leads."""
    rules = public_tree("liars_dice(dice_sides=3)")
    leaf = networks(rules, TINY)
    assert leaf.guess is not None
    with torch.no_grad():
        leaf.guess.net[-1].weight.mul_(400.0)
    belief = Belief.root(rules)
    ranges = belief.ranges[0][None], belief.ranges[1][None]
    search = begin_search(cut_states(rules, [belief.state], Horizon(3)), METHODS["dcfr"], leaf, ranges, 9)
    assert search.iteration == 3
    encoding, columns = leaf.guess.encoding, len(leaf.guess.encoding.labels)
    for path in [(), (1,), (1, 3)]:
        _, row = search.subgames.find(0, path)
        inputs = encoding.encoding.prepared(cut_states(rules, [belief.state], Horizon(1)).roots).write(
            (belief.ranges[0][None],) * 2
        )
        inputs = inputs.copy()
        inputs[0, : encoding.encoding.features] = rules.features(belief.state.node)
        actor = len(path) % 2
        inputs[0, -6:] = np.concatenate((belief.beliefs[actor], belief.beliefs[1 - actor]))
        with torch.no_grad():
            logits = leaf.guess.net(torch.from_numpy(inputs)).reshape(3, columns)
        legal = list(rules.visit(belief.state.node).actions)  # type: ignore[union-attr]
        expected = logits[:, legal].softmax(dim=1).numpy().T
        assert search.policy_at(row, search.policy) == pytest.approx(expected, abs=1e-5)
        assert expected.std() > 0.01
        if len(path) < 2:
            belief = belief.after((1, 3)[len(path)], search.policy_at(row, search.policy))


@pytest.mark.slow
def test_it_learns_the_policies_that_searches_find() -> None:
    rules = public_tree(DICE)
    trainer = RebelTrainer(rules, replace(TINY, warm=0, solves=640, iterations=12, rate=5e-3))
    assert trainer.policies is not None
    errors = []
    while not trainer.finished:
        rows = trainer.play.advance()
        assert rows.policies is not None
        with torch.no_grad():
            errors.append(float(policy_loss(trainer.leaf.guess.net, *map(torch.from_numpy, rows.policies))))
        trainer.values.rows.add(rows[:2], 1000)
        trainer.policies.rows.add(rows.policies, 1000)
        trainer.due.owed = 4.0
        trainer.take_due()
    assert np.mean(errors[-5:]) < 0.5 * errors[0]


def test_a_training_goes_on_bit_for_bit() -> None:
    rules = public_tree(DICE)
    whole, first, second = (RebelTrainer(rules, TINY) for _ in range(3))
    for _ in range(12):
        whole.round()
    for _ in range(5):
        first.round()
    second.restore(first.state())
    for _ in range(7):
        second.round()
    names = set(whole.state())
    assert {"policy.targets", "policy.net.0.weight", "policy.adam.0.step", "policy.legal"} <= names
    for name, array in whole.state().items():
        assert np.array_equal(array, second.state()[name]), name
    with pytest.raises(FileError, match="does not fit this training run"):
        second.restore(RebelTrainer(rules, replace(TINY, policy_net=False)).state())


def test_streams_bring_policies() -> None:
    rules = public_tree(DICE)
    trainers = []
    for _ in range(2):
        player = pickle.loads(pickle.dumps(SelfPlayer(DICE, TINY)))
        trainers.append(parallel_trainer(rules, TINY, make_executor("inline"), player, 2)[0])
    whole, second = trainers
    for _ in range(4):
        whole.round()
    second.restore(whole.state())
    for _ in range(4):
        whole.round(), second.round()
    assert second.policies is not None
    assert len(second.policies.rows) > 0
    for name, array in whole.state().items():
        if not name.endswith("seconds"):
            assert np.array_equal(array, second.state()[name]), name


def test_files_keep_both_networks(tmp_path: Path) -> None:
    rules = public_tree(DICE)
    leaf, path = networks(rules, TINY), tmp_path / "net.safetensors"
    settings, identity = TINY.to_json(), public_identity(rules)
    save_net(path, weights_of(leaf), game=DICE, identity=identity, settings=settings, card={})
    found = read_net(path).leaf(rules)
    assert found.guess is not None
    assert found.warm == TINY.warm > 0
    for name, array in weights_of(leaf).items():
        assert np.array_equal(array, weights_of(found)[name]), name
    save_net(path, weights_of(leaf), game=DICE, identity=identity, settings=settings | {"policy_net": False}, card={})
    with pytest.raises(FileError, match="does not fit"):
        read_net(path).leaf(rules)
    with pytest.raises(RuntimeError, match="but this run has no policy network"):
        load_weights(networks(rules, replace(TINY, policy_net=False)), weights_of(leaf))


def test_what_is_refused() -> None:
    with pytest.raises(SpecError, match=r"must be below iterations \(6\)"):
        replace(TINY, warm=6)
    with pytest.raises(SpecError, match="warm must be an integer"):
        RebelSettings(warm=-1)
    trainer = RebelTrainer(public_tree(DICE), TINY)
    for _ in range(5):
        trainer.round()
    assert trainer.policies is not None
    trainer.policies.rows.arrays[0][:] = np.nan
    trainer.due.owe(trainer.settings.batch)
    with pytest.raises(AlgorithmError, match="the loss is nan after"):
        trainer.take_due()
