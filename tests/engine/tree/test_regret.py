"""The fused update and its loop: every field of a weight row against a plain NumPy update over the oracle's values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.compiled_view import close_tables, sequence_names, table_of
from tests.random_games import STEADY, RandomGame, games
from treeplex.engine.tree.form import new_state, workspace
from treeplex.engine.tree.regret import Weights, accumulate, adaptive_factor, iterate
from treeplex.engine.tree.sweeps import reach
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.walk import compile_rules

FACTORS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.75])
ROWS = st.builds(
    Weights,
    positive=FACTORS,
    negative=FACTORS,
    regret=FACTORS,
    floor=st.sampled_from([0.0, 1.0]),
    predicted_positive=FACTORS,
    predicted_negative=FACTORS,
    prediction=FACTORS,
    average_discount=FACTORS,
    average=FACTORS,
)


class Reference:
    """The documented update on dict tables."""

    def __init__(self, root: oracle.Node, *, alternating: bool, adaptive: bool) -> None:
        self.root, self.alternating, self.adaptive = root, alternating, adaptive
        self.actions = oracle.action_sets(root)
        self.players = next(len(node.returns) for node in oracle.nodes(root) if not node.children)
        self.policy = oracle.uniform(root)
        self.regrets, self.average, self.last = (
            {key: np.zeros(len(actions)) for key, actions in self.actions.items()} for _ in range(3)
        )
        self.totals = dict.fromkeys(self.actions, 0.0)
        self.sums = {key: np.zeros(2) for key in self.actions}

    def step(self, w: Weights) -> None:
        frozen = dict(self.policy)
        for player in range(self.players):
            seen = self.policy if self.alternating else frozen
            values = oracle.counterfactual_values(self.root, seen, player)
            for key, played in oracle.realisation(self.root, seen, player).items():
                self.average[key] = w.average_discount * self.average[key] + w.average * played
                new = values[key] - values[key] @ list(seen[key].values())
                old = self.regrets[key]
                regret = np.where(old > 0, old * w.positive, old * w.negative) + w.regret * new
                regret = np.maximum(regret, 0) if w.floor else regret
                self.sums[key] += [((new - self.last[key]) ** 2).sum(), ((regret - old) ** 2).sum()]
                self.last[key], self.regrets[key] = new, regret
                strength = 1 / (1 + self.factor(key)) if self.adaptive else w.prediction
                scaled = np.where(regret > 0, regret * w.predicted_positive, regret * w.predicted_negative)
                guess = np.maximum(scaled + strength * new, 0)
                self.totals[key] = guess.sum()
                self.policy[key] = oracle.behaviour({key: guess}, {key: self.actions[key]})[key]

    def factor(self, key: oracle.Key) -> float:
        shift, growth = self.sums[key]
        return min(np.sqrt(shift / growth), 5.0) if growth > 0 else 5.0 if shift > 0 else 0.0


def run_kernel(game: CompiledGame, rows: list[Weights], *, alternating: bool, adaptive: bool) -> tuple[oracle.Floats, ...]:
    size = len(game.action_ids)
    layout = game.tree.infoset_layout
    policy = np.array([1.0 if name is None else 1.0 / layout[game.lookup[name[0]], 2] for name in sequence_names(game)])
    regrets, strategy, average = (np.zeros(size) for _ in range(3))
    for player in range(game.players):
        reach(game.tree, player, policy, strategy)
    state = new_state(policy, regrets=regrets, strategy=strategy, averages=average[None])
    if adaptive:
        state = state._replace(previous=np.zeros(size), changes=np.zeros((2, len(game.infostates))))
    iterate(game.tree, game.payoff, np.array(rows), alternating, state, workspace(game.tree))
    return regrets, policy, strategy, average


def check_iterate(rules: RandomGame, rows: list[Weights], alternating: bool, adaptive: bool) -> None:
    root = oracle.grow(rules)
    game = compile_rules(rules)
    reference = Reference(root, alternating=alternating, adaptive=adaptive)
    for row in rows:
        reference.step(row)
    regrets, policy, strategy, average = run_kernel(game, rows, alternating=alternating, adaptive=adaptive)
    close_tables(table_of(game, regrets), reference.regrets, 1e-10)
    close_tables(table_of(game, average), reference.average, 1e-10)
    for key, at in reference.policy.items():
        found = policy[game.sequences_at(game.lookup[key])]
        assert found.sum() == pytest.approx(1.0)
        if reference.totals[key] == 0.0 or reference.totals[key] > 1e-6:  # else rounding decides between tiny weights
            np.testing.assert_allclose(found, list(at.values()), atol=1e-8)
    expected = np.empty_like(strategy)
    for player in range(game.players):
        reach(game.tree, player, policy, expected)
    np.testing.assert_array_equal(strategy, expected)


@STEADY
@given(games((2, 3)), st.lists(ROWS, min_size=2, max_size=4), st.booleans(), st.booleans())
def test_iterate(rules: RandomGame, rows: list[Weights], alternating: bool, adaptive: bool) -> None:
    check_iterate(rules, rows, alternating, adaptive)


@pytest.mark.slow_cases(
    "positive-True-2",
    "positive-True-3",
    "positive-False-2",
    "positive-False-3",
    "negative-True-2",
    "regret-True-2",
    "regret-False-2",
    "floor-True-2",
    "floor-False-2",
    "floor-False-3",
    "predicted_positive-True-2",
    "predicted_positive-False-2",
    "predicted_negative-False-2",
    "average_discount-True-2",
    "average_discount-True-3",
    "average_discount-False-2",
    "average-True-2",
)
@pytest.mark.parametrize("rules", [RandomGame(7, depth=6), RandomGame(44, players=3, depth=6)], ids=["2", "3"])
@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize("field", Weights._fields)
def test_each_field_alone(field: str, alternating: bool, rules: RandomGame) -> None:
    """Long enough that regrets of both signs meet new ones of both signs."""
    row = Weights(prediction=1.5)._replace(**{field: 0.5})
    check_iterate(rules, [row] * 12, alternating, adaptive=False)


def test_rows_are_in_the_order_of_the_fields() -> None:
    assert list(Weights(*range(9))) == list(range(9))
    assert Weights._fields[7:] == ("average_discount", "average")
    assert Weights() == (1, 1, 1, 0, 1, 1, 0, 1, 1)


def test_accumulate_touches_one_player() -> None:
    game = compile_rules(RandomGame(3, depth=5))
    strategy, average = np.full(len(game.action_ids), 2.0), np.ones(len(game.action_ids))
    accumulate(game.tree, 1, 0.5, 3.0, strategy, average)
    split = game.tree.sequence_offsets[1]
    assert (average[:split] == 1.0).all()
    assert (average[split:] == 6.5).all()


@pytest.mark.parametrize(
    ("shift", "growth", "factor"), [(4.0, 1.0, 2.0), (400.0, 1.0, 5.0), (1.0, 0.0, 5.0), (0.0, 0.0, 0.0), (0.0, 2.0, 0.0)]
)
def test_adaptive_factor(shift: float, growth: float, factor: float) -> None:
    assert adaptive_factor(np.array([[9.0, shift], [9.0, growth]]), 1) == factor
