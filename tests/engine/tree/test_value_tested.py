"""The value-tested update and its loop against its formulas, written out on dict tables over the oracle's values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.compiled_view import close_tables, table_of
from tests.random_games import STEADY, RandomGame, games
from treeplex.engine.tree.form import new_state
from treeplex.engine.tree.sweeps import reach
from treeplex.engine.tree.value_tested import ValueTest, iterate_tested
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import uniform_probabilities

FACTORS = st.sampled_from([0.0, 0.25, 0.5, 1.0])
ROWS = st.builds(
    ValueTest,
    discount=FACTORS,
    next_discount=FACTORS,
    decay=FACTORS,
    strength=st.sampled_from([0.0, 0.3, 1.0, 2.0]),
    untested=FACTORS,
    rounding=st.just(1e-13),
)
AVERAGES = (1.0, 0.5)
"""Factors on the two averages that these tests keep."""


class Reference:
    """Both candidates, the sums of the test and the averages of every infoset.

    ``settled`` becomes False when rounding decides: a weight vector or a test is neither zero nor clear of it.
    """

    def __init__(self, root: oracle.Node, *, alternating: bool) -> None:
        self.root, self.alternating, self.settled = root, alternating, True
        self.actions = oracle.action_sets(root)
        self.players = next(len(node.returns) for node in oracle.nodes(root) if not node.children)
        self.policy = oracle.uniform(root)
        self.without, self.full = ({key: self.share(np.zeros(len(ids))) for key, ids in self.actions.items()} for _ in range(2))
        self.regrets = {key: np.zeros(len(ids)) for key, ids in self.actions.items()}
        self.averages = [{key: np.zeros(len(ids)) for key, ids in self.actions.items()} for _ in AVERAGES]
        self.sums = dict.fromkeys(self.actions, (0.0, 0.0))
        self.strengths: list[float] = []

    def share(self, weights: oracle.Floats) -> oracle.Floats:
        self.settled = self.settled and (weights.sum() == 0.0 or weights.sum() > 1e-6)
        return weights / weights.sum() if weights.sum() > 0.0 else np.full(len(weights), 1.0 / len(weights))

    def step(self, row: ValueTest) -> None:
        frozen = dict(self.policy)
        for player in range(self.players):
            seen = self.policy if self.alternating else frozen
            values = oracle.counterfactual_values(self.root, seen, player)
            for key, played in oracle.realisation(self.root, seen, player).items():
                for average, kept in zip(self.averages, AVERAGES, strict=True):
                    average[key] = kept * average[key] + played
                new = values[key] - values[key] @ list(seen[key].values())
                weights = self.improve(key, values[key], new, row)
                self.policy[key] = dict(zip(self.actions[key], self.share(weights), strict=True))

    def improve(self, key: oracle.Key, values: oracle.Floats, new: oracle.Floats, row: ValueTest) -> oracle.Floats:
        terms = values * (self.full[key] - self.without[key])
        gained = terms.sum() if abs(terms.sum()) > 1e-13 * np.abs(values).sum() else 0.0
        balance, size = self.sums[key]
        balance, size = balance * row.decay + gained, size * row.decay + abs(gained)
        self.settled = self.settled and (size == 0.0 or size > 1e-6)
        self.sums[key] = balance, size
        strength = float(np.clip(0.5 + row.strength * balance / size, 0.0, 1.0)) if size > 0.0 else row.untested
        self.strengths.append(strength)
        self.regrets[key] = np.maximum(self.regrets[key] * row.discount + new, 0.0)
        kept = self.regrets[key] * row.next_discount
        self.without[key], self.full[key] = self.share(self.regrets[key]), self.share(np.maximum(kept + new, 0.0))
        return np.maximum(kept + strength * new, 0.0)


class Kernel:
    """The arrays of the kernel."""

    def __init__(self, game: CompiledGame, *, alternating: bool) -> None:
        self.game, self.alternating = game, alternating
        tree = self.game.tree
        self.policy = uniform_probabilities(self.game)
        self.regrets, self.differences, self.strategy, self.values = (np.zeros_like(self.policy) for _ in range(4))
        self.tests, self.averages = np.zeros((2, len(self.game.infostates))), np.zeros((len(AVERAGES), len(self.policy)))
        self.scratch = np.full((7, tree.blocks[:, 2].max(initial=0)), np.nan)
        for player in range(self.game.players):
            reach(tree, player, self.policy, self.strategy)
        self.state = new_state(
            self.policy, regrets=self.regrets, strategy=self.strategy, averages=self.averages, previous=self.differences,
            changes=self.tests,
        )  # fmt: skip

    def run(self, rows: list[ValueTest]) -> None:
        iterate_tested(
            self.game.tree, self.game.payoff, np.array([(*row.row(), *AVERAGES) for row in rows]), self.alternating,
            self.state, self.values, self.scratch,
        )  # fmt: skip


def check(rules: RandomGame, rows: list[ValueTest], *, alternating: bool) -> Reference:
    """Compare after every row for as long as rounding does not decide."""
    reference, kernel = (
        Reference(oracle.grow(rules), alternating=alternating),
        Kernel(compile_rules(rules), alternating=alternating),
    )
    for row in rows:
        reference.step(row)
        if not reference.settled:
            break
        kernel.run([row])
        game = kernel.game
        close_tables(table_of(game, kernel.regrets), reference.regrets, 1e-9)
        for found, average in zip(kernel.averages, reference.averages, strict=True):
            close_tables(table_of(game, found), average, 1e-9)
        gaps = {key: reference.full[key] - reference.without[key] for key in reference.full}
        close_tables(table_of(game, kernel.differences), gaps, 1e-8)
        policies = {key: np.array(list(at.values())) for key, at in reference.policy.items()}
        close_tables(table_of(game, kernel.policy), policies, 1e-8)
        sums = {key: kernel.tests[:, game.lookup[key]] for key in reference.sums}
        close_tables(sums, {key: np.array(pair) for key, pair in reference.sums.items()}, 1e-8)
        expected = np.empty_like(kernel.strategy)
        for player in range(game.players):
            reach(game.tree, player, kernel.policy, expected)
        np.testing.assert_array_equal(kernel.strategy, expected)
    return reference


@STEADY
@given(games((2, 3)), st.lists(ROWS, min_size=2, max_size=5), st.booleans())
def test_random_games(rules: RandomGame, rows: list[ValueTest], alternating: bool) -> None:
    check(rules, rows, alternating=alternating)


@pytest.mark.quick_cases(
    "next_discount-True-3", "decay-True-2", "decay-True-3", "decay-False-2", "untested-False-2", "untested-False-3"
)
@pytest.mark.parametrize("rules", [RandomGame(7, depth=6), RandomGame(44, players=3, depth=6)], ids=["2", "3"])
@pytest.mark.parametrize("alternating", [True, False])
@pytest.mark.parametrize("field", ValueTest._fields[:-1])
def test_each_field_alone(field: str, alternating: bool, rules: RandomGame) -> None:
    row = ValueTest(0.9, 0.8, 0.7, 1.0, 0.9, 1e-13)._replace(**{field: 0.4})
    reference = check(rules, [row] * 8, alternating=alternating)
    assert reference.settled
    assert any(0.05 < strength < 0.95 for strength in reference.strengths), "strengths between the ends are tested too"


def test_several_rows_are_several_iterations() -> None:
    rows = [ValueTest(0.5, 0.6, 0.7, 1.0, 0.0, 0.0), ValueTest(0.6, 0.7, 0.8, 0.5, 0.5, 0.0)]
    together, apart = (Kernel(compile_rules(RandomGame(36, depth=6)), alternating=True) for _ in range(2))
    together.run(rows)
    for row in rows:
        apart.run([row])
    assert np.array_equal(together.policy, apart.policy)
    assert np.array_equal(together.tests, apart.tests)
    assert (together.policy > 0.0).any()


@pytest.mark.parametrize(("rounding", "counts"), [(0.0, True), (1e-13, False), (0.2, False)])
def test_ties_but_for_rounding_count_as_none(rounding: float, counts: bool) -> None:
    """Two actions of equal value, of which one candidate takes 0.3 and the other 0.1 + 0.2."""
    game = compile_game("matrix(rows=[[2,2],[2,2],[-1,4]])")
    kernel = Kernel(game, alternating=True)
    (infoset,) = range(game.tree.infoset_offsets[1])
    kernel.differences[game.sequences_at(infoset)] = (0.3, -(0.1 + 0.2), 0.0)
    kernel.run([ValueTest(0.9, 0.8, 0.7, 1.0, 1.0, rounding)])
    assert (kernel.tests[1, infoset] > 0.0) == counts
    assert kernel.tests[1, infoset] < 1e-15


@pytest.mark.parametrize("rounding", [0.0, 1e-13])
def test_differences_within_rounding_are_none(rounding: float) -> None:
    """After one iteration both candidates are the positive part of the first regrets, but for rounding."""
    kernel = Kernel(compile_rules(RandomGame(7, depth=6)), alternating=True)
    kernel.run([ValueTest(0.0, 0.7, 0.0, 1.0, 1.0, rounding)])
    assert kernel.differences.any() == (rounding == 0.0)
    assert np.abs(kernel.differences).max() < 1e-15
