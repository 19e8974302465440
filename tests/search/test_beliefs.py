"""Public belief states: Bayes updates, both representations, on every kind of game."""

import numpy as np
import pytest

from treeplex.errors import GameError
from treeplex.forms.sources.load import public_tree
from treeplex.games.public import Chance, Decision, PublicTree, Terminal
from treeplex.games.registry import load
from treeplex.search import Belief

GAMES = [
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(dice_sides=3)",
    "liars_dice(dice=2,faces=2)",
    "modified_rps",
    "leduc_poker(ranks=4,suits=1)",
]


def walk(rules: PublicTree, generator: np.random.Generator) -> list[tuple[Belief, np.ndarray]]:
    """A random path of public belief states, and the joint weights of hands by brute force beside each."""
    belief, joint = Belief.root(rules), np.asarray(rules.prior, float)
    path = [(belief, joint)]
    while not isinstance(visited := rules.visit(belief.state.node), Terminal):
        if isinstance(visited, Chance):
            allowed = [(label, chance) for label, chance in visited.outcomes if (joint * chance).sum() > 0]
            label, chance = allowed[generator.integers(len(allowed))]
            belief, joint = belief.after(label), joint * chance
        else:
            assert isinstance(visited, Decision)
            hands = joint.shape[visited.player]
            policy = generator.dirichlet(np.ones(len(visited.actions)), size=hands).T
            number = int(generator.integers(len(visited.actions)))
            belief = belief.after(visited.actions[number], policy)
            if visited.private:
                joint = np.repeat(joint, len(visited.actions), axis=visited.player)
                played = policy.T.ravel()
            else:
                played = policy[number]
            joint = joint * (played[:, None] if visited.player == 0 else played[None, :])
        path.append((belief, joint))
    return path


@pytest.mark.parametrize("spec", GAMES)
def test_bayes_along_random_paths(spec: str) -> None:
    rules = public_tree(spec)
    for seed in range(20):
        for belief, joint in walk(rules, np.random.default_rng(seed)):
            assert belief.joint == pytest.approx(joint / joint.sum(), abs=1e-12)
            assert belief.beliefs[0] == pytest.approx(joint.sum(axis=1) / joint.sum(), abs=1e-12)
            assert belief.beliefs[1] == pytest.approx(joint.sum(axis=0) / joint.sum(), abs=1e-12)
            assert [own.sum() for own in belief.ranges] == pytest.approx([1, 1])


@pytest.mark.parametrize("spec", GAMES)
def test_hands_are_drawn_from_the_joint_distribution(spec: str) -> None:
    rules, generator, draws = public_tree(spec), np.random.default_rng(0), 3000
    for belief, joint in walk(rules, np.random.default_rng(1)):
        expected, drawn = joint / joint.sum(), np.zeros(joint.shape)
        for _ in range(draws):
            drawn[belief.draw(generator)] += 1 / draws
        assert (drawn[expected == 0] == 0).all()
        error = np.sqrt(expected * (1 - expected) / draws)
        assert (abs(drawn - expected) < 5 * error + 2 / draws).all()


def test_nothing_is_drawn_where_hands_exclude_each_other() -> None:
    rules, same = public_tree("kuhn_poker"), np.array([0.0, 1.0, 0.0])
    belief = Belief.of(rules, rules.first_state(), (same, same))
    with pytest.raises(GameError, match="no hands in these ranges"):
        belief.draw(np.random.default_rng(0))


def test_in_perfect_information_a_belief_is_a_state() -> None:
    rules = public_tree("tic_tac_toe")
    belief = Belief.root(rules)
    for count, cell in zip((9, 8, 7), (4, 0, 8), strict=True):
        belief = belief.after(cell, np.full((count, 1), 1 / count))
        assert belief.joint.shape == (1, 1)
        assert belief.joint[0, 0] == 1.0


def test_a_private_action_becomes_the_hand() -> None:
    rules = public_tree("modified_rps")
    policy = np.array([[0.5], [0.3], [0.2]])
    belief = Belief.root(rules).after(0, policy)
    assert belief.ranges[0] == pytest.approx([0.5, 0.3, 0.2])
    assert belief.joint == pytest.approx(policy)


def test_where_nobody_plays_to_every_hand_is_alike() -> None:
    rules = public_tree("liars_dice(dice_sides=3)")
    never = np.zeros((6, 3))
    belief = Belief.root(rules).after(0, never)
    assert belief.ranges[0] == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize(
    "ranges", [(np.ones(2), np.ones(3)), (np.array([1, -1, 1.0]), np.ones(3)), (np.full(3, np.nan), np.ones(3))]
)
def test_bad_ranges_are_refused(ranges: tuple[np.ndarray, np.ndarray]) -> None:
    rules = public_tree("liars_dice(dice_sides=3)")
    with pytest.raises(GameError, match="the range at"):
        Belief.of(rules, Belief.root(rules).state, ranges)


def test_actions_need_a_policy() -> None:
    rules = public_tree("liars_dice(dice_sides=3)")
    with pytest.raises(GameError, match=r"action 0 at \(\) needs a policy of shape \(6, 3\), not None"):
        Belief.root(rules).after(0)
    with pytest.raises(GameError, match="no action"):
        Belief.root(rules).after(99, np.ones((6, 3)))
    with pytest.raises(GameError, match=r"needs a policy of shape \(6, 3\), not \(2, 3\)"):
        Belief.root(rules).after(0, [[1.0] * 3] * 2)  # type: ignore[arg-type]
    given = Belief.root(rules).after(0, [[0.1, 0.2, 0.3]] * 6)  # type: ignore[arg-type]
    assert given.ranges[0] == pytest.approx([1 / 6, 1 / 3, 1 / 2])


def test_a_node_is_no_state() -> None:
    rules = public_tree("kuhn_poker")
    with pytest.raises(GameError, match=r"'' is not a public state of this game; start at first_state\(\), not at root"):
        rules.options(rules.root)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("kuhn_poker(players=3)", "3 players has no public tree"),
        ("goofspiel(num_cards=3,imp_info=true)", "private information"),
        ("matrix(rows=[[1,0],[0,1]],second=[[1,0],[0,1]])", "not zero-sum"),
    ],
)
def test_games_without_public_rules_are_refused(spec: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        explore(spec)


def explore(spec: str) -> None:
    """Walk down the first actions."""
    rules = public_tree(load(spec))
    belief = Belief.root(rules)
    while not isinstance(visited := rules.visit(belief.state.node), Terminal):
        label = visited.outcomes[0][0] if isinstance(visited, Chance) else visited.actions[0]
        policy = None if isinstance(visited, Chance) else np.full((len(visited.actions), 1), 1 / len(visited.actions))
        belief = belief.after(label, policy)


def test_the_state_after_any_private_action_is_the_same() -> None:
    rules = public_tree("modified_rps")
    root = rules.first_state()
    for action in range(3):
        following = rules.after(root, action)
        assert following.node == 1
        assert np.array_equal(following.weight, np.ones((3, 1)))
    with pytest.raises(GameError, match="no action 3 at 0"):
        rules.after(root, 3)
    dice = public_tree("liars_dice(dice_sides=3)")
    with pytest.raises(GameError, match=r"no action 0 at \(1,\)"):
        dice.after(dice.after(dice.first_state(), 1), 0)
