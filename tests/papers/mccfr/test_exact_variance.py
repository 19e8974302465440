"""Variances of walks: by listing every walk of small games, and by walks of the engine."""

from collections import defaultdict
from itertools import combinations, product

import numpy as np
import pytest

import treeplex as tp
from papers.mccfr.exact_variance import FIELDS, REGRET, VALUE, VISITS, WITHIN, walk_variances
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL
from treeplex.engine.sampling.sampled_tables import AVERAGE, POLICY
from treeplex.engine.sampling.sampled_tables import REGRET as REGRET_COLUMN
from treeplex.engine.sampling.schemes import ALL, EACH, LEARNED, ONE, ORACLE, Traversal
from treeplex.engine.sampling.streams import start
from treeplex.engine.sampling.walks import scratch, walk
from treeplex.solvers.sampling.solver import SAMPLINGS, MonteCarloCfr

CASES = [
    ("kuhn_poker", "os-mccfr", {}),
    ("kuhn_poker", "es-mccfr", {}),
    ("kuhn_poker", "es-mccfr", {"baseline": "learned"}),
    ("kuhn_poker", "vr-mccfr", {"exploration": 0.3}),
    ("kuhn_poker", "vr-mccfr", {"key": "infoset"}),
    ("kuhn_poker", "as-mccfr", {"beta": 1.0, "tau": 1.0, "epsilon": 0.2}),
    ("rock_paper_scissors", "rs-mccfr", {"k": 2.0}),
    ("rock_paper_scissors", "rs-mccfr", {"k": 2.0, "baseline": "learned"}),
]


def after(spec: str, scheme: str, parameters: dict[str, object], iterations: int = 40) -> MonteCarloCfr:
    run = MonteCarloCfr(tp.compile(spec), SAMPLINGS[scheme], SAMPLINGS[scheme].options(parameters), seed=5)
    run.run(iterations)
    return run


def walks(run: MonteCarloCfr, player: int):
    """Every walk: its probability, the root's sampled value, and by slot what it adds to values and regrets."""
    histories, rules, rows = run.histories, run.rules, run.tables.rows

    def sets(actor, key, probabilities):
        """Sets of actions that a walk may follow, with the probability of each, and that of each action."""
        count = len(probabilities)
        rule = ONE if actor == CHANCE else rules.own if actor == player else rules.others
        if rule == ALL:
            return [(tuple(range(count)), 1.0)], np.ones(count)
        if rule == ONE:
            follow = np.array(probabilities)
            if actor == player:
                follow = rules.exploration / count + (1.0 - rules.exploration) * follow
            return [((a,), follow[a]) for a in range(count)], follow
        if rule == EACH:
            sums = rows[key : key + count, AVERAGE]
            follow = np.clip((rules.bonus + rules.scale * sums) / (rules.bonus + sums.sum()), rules.least, 1.0)
            found = []
            for flags in product((False, True), repeat=count):
                chance = np.prod([p if flag else 1.0 - p for flag, p in zip(flags, follow, strict=True)])
                found.append((tuple(np.flatnonzero(flags)), chance))
            return found, follow
        chosen = list(combinations(range(count), min(rules.size, count)))
        return [(each, 1.0 / len(chosen)) for each in chosen], np.full(count, len(chosen[0]) / count)

    def from_here(node, weight):
        actor, child, children, key = (int(histories.nodes[node, column]) for column in (ACTOR, CHILD, CHILDREN, KEY))
        if actor == TERMINAL:
            return [(1.0, histories.payoffs[key, player], {})]
        table = histories.chance if actor == CHANCE else rows[:, POLICY]
        probabilities = table[key : key + children]
        edges = run.layout.edges[child : child + children] if rules.baseline == LEARNED else [-1] * children
        baselines = [run.tables.baselines[player, edge] if edge >= 0 else 0.0 for edge in edges]
        found = []
        options, follow = sets(actor, key, probabilities)
        for actions, chance in options:
            if chance == 0.0:
                continue
            below = [from_here(child + a, weight * (1.0 if actor == player else probabilities[a]) / follow[a]) for a in actions]
            for outcome in product(*below):
                values, added = list(baselines), {}
                for a, (_, value, more) in zip(actions, outcome, strict=True):
                    values[a] += (value - baselines[a]) / follow[a]
                    added.update(more)
                here = float(np.dot(probabilities, values))
                if actor == player:
                    added.update({key + a: (weight * values[a], weight * (values[a] - here)) for a in range(children)})
                found.append((chance * float(np.prod([each[0] for each in outcome])), here, added))
        return found

    return from_here(0, 1.0)


@pytest.mark.slow_cases("kuhn_poker-os-mccfr-parameters0", "kuhn_poker-es-mccfr-parameters1")
@pytest.mark.parametrize(("spec", "scheme", "parameters"), CASES)
def test_variances_are_those_of_all_walks(spec, scheme, parameters):
    run = after(spec, scheme, parameters)
    together = 0.0
    for player in range(run.game.players):
        found = walk_variances(run.histories, run.layout, run.rules, run.tables, player)
        sums, visits, total = defaultdict(lambda: np.zeros(4)), defaultdict(float), 0.0
        for chance, _, added in walks(run, player):
            total += chance
            for slot, (value, regret) in added.items():
                sums[slot] += chance * np.array([value, value**2, regret, regret**2])
                visits[slot] += chance
        assert total == pytest.approx(1.0)
        expected = np.zeros((len(run.slots), FIELDS))
        for slot, (value, square, regret, regret_square) in sums.items():
            expected[slot, [VALUE, REGRET, VISITS]] = square - value**2, regret_square - regret**2, visits[slot]
        columns = [VALUE, REGRET, VISITS]
        np.testing.assert_allclose(found[:, columns], expected[:, columns], rtol=1e-9, atol=1e-12)
        assert (found[:, WITHIN] <= found[:, VALUE] + 1e-9).all()
        together += expected[:, REGRET].sum()
    assert together > 0.01


def test_exact_baselines_leave_only_the_variance_of_coming_by():
    run = after("kuhn_poker", "os-mccfr", {})
    for player in range(2):
        plain, exact = (
            walk_variances(run.histories, run.layout, run.rules._replace(baseline=kind), run.tables, player)
            for kind in (run.rules.baseline, ORACLE)
        )
        assert plain[:, WITHIN].sum() > 0.1
        np.testing.assert_allclose(exact[:, WITHIN], 0.0, atol=1e-12)
        assert 0.1 < exact[:, REGRET].sum() < plain[:, REGRET].sum()
        np.testing.assert_array_equal(exact[:, VISITS], plain[:, VISITS])


def test_walks_of_the_engine_have_this_variance():
    run, count = after("kuhn_poker", "vr-mccfr", {}), 20_000
    expected = walk_variances(run.histories, run.layout, run.rules, run.tables, 0)[:, REGRET]
    before = {name: array.copy() for name, array in run.tables._asdict().items()}
    room = scratch(run.histories, run.layout, run.rules, run.game.size.depth)
    sums = np.zeros((2, len(run.slots)))
    for number in range(count):
        stream = np.uint64(start(np.uint64(9), np.uint64(number), np.uint64(0)))
        weights = np.array([1.0, 1.0, 0.0, 0.0])
        walk(run.histories, run.layout, run.rules, run.tables, room, Traversal(0, weights), stream)
        added = run.tables.rows[:, REGRET_COLUMN] - before["rows"][:, REGRET_COLUMN]
        sums += added, added**2
        for name, array in before.items():
            getattr(run.tables, name)[...] = array
    found = sums[1] / count - (sums[0] / count) ** 2
    assert found.sum() == pytest.approx(expected.sum(), rel=0.05)
