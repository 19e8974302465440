"""Walks that record rows: their means are the counterfactual regrets that a sweep over the whole game finds."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.engine.histories.recording import RecordedWalks, gathered, new_rows, record_external, record_outcomes
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import backup, reach
from treeplex.forms.policies.heads import matched_rows
from treeplex.learn.neural.fitting.policies import MatrixProfile
from treeplex.learn.neural.frame import NeuralLearner
from treeplex.learn.neural.walks.critics import CriticSettings, GameCritic

WALKS = 60_000


class Walker(NeuralLearner):
    """A learner that learns nothing, for its slots."""

    settings_class = CriticSettings
    step = policy = state = restore = lambda self, *_: None  # type: ignore[assignment]


@pytest.fixture(scope="module")
def walker() -> Walker:
    Walker.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]
    return Walker(tp.load("kuhn_poker"), CriticSettings(approximator="table"))


def exact_regrets(walker: Walker, policy: np.ndarray) -> np.ndarray:
    """Counterfactual regrets of all slots under a policy of slots, by sweeps over the sequence form."""
    game, tree = walker.compiled, walker.compiled.tree
    whole = np.ones(len(game.action_ids))
    whole[walker.slots] = policy
    strategy, values, infosets = np.empty_like(whole), np.empty_like(whole), np.empty(len(game.infostates))
    for player in range(game.players):
        reach(tree, player, whole, strategy)
    for player in range(game.players):
        gradient(tree, game.payoff, player, strategy, values)
        backup(tree, player, whole, values, infosets)
    return values[walker.slots] - np.repeat(infosets, np.diff(walker.first))


def skewed(walker: Walker) -> np.ndarray:
    """Some policy that is far from uniform."""
    weights = np.random.default_rng(5).random(len(walker.slots)) + 0.2
    totals = np.add.reduceat(weights, walker.first[:-1])
    return weights / np.repeat(totals, np.diff(walker.first))


def slot_sums(walker: Walker, places: np.ndarray, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    legal = walker.infosets.legal
    total, mean, _ = gathered(legal, places, values, weights)
    return (total * mean)[legal]


def test_external_sampling_finds_counterfactual_regrets(walker: Walker) -> None:
    policy, room = skewed(walker), new_rows(walker.histories, walker.first, 10 * WALKS)
    exact = exact_regrets(walker, policy)
    for player in (0, 1):
        kind = RecordedWalks(walker.histories, walker.first, policy, player, 3)
        end, rows, others, visited = record_external(kind, 0, WALKS, room)
        own = walker.slots_of(player)
        found = slot_sums(walker, room.places[:rows], room.values[:rows], room.weights[:rows]) / WALKS
        np.testing.assert_allclose(found[own], exact[own], atol=0.02)
        assert end == WALKS
        assert visited > 2 * WALKS
        # others are met in proportion to their own reach: each of their first infosets a third of the time
        first = walker.infosets_of(1 - player).start
        roots = [i for i in range(first, first + 6) if walker.compiled.tree.infoset_parent[i] in (0, 13)][:3]
        assert others > 0
        if player == 1:
            share = [(room.others[:others] == infoset).sum() / WALKS for infoset in roots]
            np.testing.assert_allclose(share, 1 / 3, atol=0.01)


@pytest.mark.parametrize("exploration", [1.0, 0.5])
def test_outcome_sampling_with_any_critic_does_too(walker: Walker, exploration: float) -> None:
    policy, room, critic = skewed(walker), new_rows(walker.histories, walker.first, 10 * WALKS), GameCritic(walker)
    guesses = np.random.default_rng(1).normal(0.0, 1.0, len(critic.place_of))
    exact = exact_regrets(walker, policy)
    choices = np.ones(len(walker.first) - 1)  # uniform choices on the way to each infoset
    parents = walker.compiled.tree.infoset_parent
    infoset_of = walker.compiled.tree.sequence_infoset
    for infoset in range(len(choices)):
        before = infoset_of[parents[infoset]]
        if before >= 0:
            choices[infoset] = choices[before] * len(walker.compiled.sequences_at(int(before)))
    for player in (0, 1):
        kind = RecordedWalks(walker.histories, walker.first, policy, player, 7, exploration)
        _, rows, _, edges, _ = record_outcomes(kind, guesses, critic.edge, 0, WALKS, room)
        own = walker.slots_of(player)
        found = slot_sums(walker, room.places[:rows], room.values[:rows], room.weights[:rows]) / WALKS
        np.testing.assert_allclose((found * np.repeat(choices, np.diff(walker.first)))[own], exact[own], atol=0.06)
        assert len(np.unique(room.edges[:edges, 0])) == len(critic.place_of)


def test_without_correction_it_is_the_critic_alone(walker: Walker) -> None:
    policy, room, critic = skewed(walker), new_rows(walker.histories, walker.first, 1000), GameCritic(walker)
    guesses = np.arange(len(critic.place_of), dtype=float)  # 2 h + a: both actions of a history are 1 apart
    kind = RecordedWalks(walker.histories, walker.first, policy, 0, 7, 1.0, corrected=False)
    _, rows, _, _, _ = record_outcomes(kind, guesses, critic.edge, 0, 100, room)
    second = policy[walker.first[room.places[:rows]] + 1]
    np.testing.assert_allclose(room.values[:rows], np.stack((-second, 1.0 - second), axis=1), atol=1e-6)


def test_edges_lead_to_the_next_decision_or_to_the_end(walker: Walker) -> None:
    policy, room, critic = skewed(walker), new_rows(walker.histories, walker.first, 1000), GameCritic(walker)
    nodes, zeros = walker.histories.nodes, np.zeros(len(critic.place_of))
    for returns in (False, True):
        kind = RecordedWalks(walker.histories, walker.first, policy, 0, 7, 1.0, returns=returns)
        _, _, _, edges, _ = record_outcomes(kind, zeros, critic.edge, 0, 200, room)
        slots, after = room.edges[:edges].T
        direct = nodes[critic.nodes[critic.place_of[slots]], 1] + slots - critic.first[critic.place_of[slots]]
        assert (nodes[after, 0] == -4).all() == returns
        if not returns:
            np.testing.assert_array_equal(after, direct)  # no chance between decisions in Kuhn poker


def test_a_critic_learns_the_exact_values_of_a_policy(walker: Walker) -> None:
    policy, room, critic = skewed(walker), new_rows(walker.histories, walker.first, 20_000), GameCritic(walker)
    kind = RecordedWalks(walker.histories, walker.first, policy, 0, 7, 1.0)
    _, _, _, edges, _ = record_outcomes(kind, np.zeros(len(critic.place_of)), critic.edge, 0, 2000, room)
    critic.add((room.edges[:edges],))
    matrix = np.zeros(walker.infosets.legal.shape)
    matrix[walker.infosets.legal] = policy
    critic.fit(MatrixProfile(matrix))  # five rounds reach through the three decisions of Kuhn poker
    nodes, payoffs = walker.histories.nodes, walker.histories.payoffs

    def worth(node: int) -> float:
        actor, child, children, key = nodes[node]
        if actor == -4:
            return float(payoffs[key, 0])
        return sum(policy[walker.first[key] + a] * worth(child + a) for a in range(children))

    for place, node in enumerate(critic.nodes):
        for a in range(nodes[node, 2]):
            found = critic.values(0)[place, a] * walker.scale
            assert found == pytest.approx(worth(nodes[node, 1] + a), abs=1e-6)
    np.testing.assert_allclose(critic.values(1)[critic.legal], -critic.values(0)[critic.legal])


def test_regret_matching() -> None:
    values = np.array([[1.0, 3.0, 9.0], [-1.0, -0.5, -2.0], [0.0, -1.0, 9.0]])
    legal = np.array([[True, True, False], [True, True, True], [True, True, False]])
    np.testing.assert_allclose(matched_rows(values, legal, True)[legal], [0.25, 0.75, 0, 1, 0, 1, 0])
    np.testing.assert_allclose(matched_rows(values, legal)[legal], [0.25, 0.75, 1 / 3, 1 / 3, 1 / 3, 0.5, 0.5])
