"""External sampling on whole hold'em in buckets: a slow walk beside the kernel, and push or fold, judged exactly."""

from functools import cache, partial
from itertools import combinations

import numpy as np
import pytest

import treeplex as tp
from treeplex.engine.betting.pots import payoff
from treeplex.engine.betting.sampling import LOWEST, SampledTables, walk
from treeplex.engine.sampling.streams import advanced, start, unit
from treeplex.errors import SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.games.betting.nodes import number_nodes
from treeplex.holdem.betting.tree_size import betting_size
from treeplex.holdem.blueprint.agent import HoldemBlueprintAgent
from treeplex.holdem.blueprint.policy import HoldemBlueprint, bucket_rows_of, shares_of
from treeplex.holdem.blueprint.solver import BlueprintSolver, check_room, predicted_bytes
from treeplex.holdem.cards.class_equities import count_margins
from treeplex.holdem.whole.nodes import betting_nodes, table_size, visit_table
from treeplex.search.agents.agent import agent_policy

TEN_CARDS = "holdem(ranks=5,suits=2,stack=12,preflop=[a],sizes=[100%;a],raises=[2;2;1;1])"
THREE = "holdem(players=3,stack=[4;3;5],sizes=[a],ranks=3,suits=2,hole=1,deal=[0;1])"
PUSH = "holdem(ranks=5,suits=2,stack=8,preflop=[a],limps=false,sizes=[a])"


@cache
def ten_cards(spec, counts=(4, 3, 3, 2), method="percentile", recall=False):
    game = tp.load(spec)
    return game, bucket_rows_of(game, counts, method, recall)


def slow_walk(nodes, regrets, rows, deal, prunes, below, stream):
    """The walk by recursion: changes of regrets and averages by place, and the stream."""
    strengths, traverser = deal
    gains, shares, streams = {}, {}, [stream]

    def value(node):
        if node < 0:
            return payoff(nodes.ends, -1 - node, strengths, traverser)
        player, count, first = nodes.player[node], nodes.actions[node], nodes.first[node]
        place = nodes.rows[node] + rows[player, nodes.street[node]] * count
        positive = np.maximum(regrets[place : place + count], 0).astype(float)
        policy = positive / positive.sum() if positive.sum() else np.full(count, 1 / count)
        children = nodes.child[first : first + count]
        if player != traverser:
            streams[0] = np.uint64(advanced(np.uint64(streams[0])))
            left = unit(np.uint64(streams[0]))
            for action in range(count):
                shares[place + action] = policy[action]
            drawn = int(np.argmax(np.append(left - np.cumsum(policy)[:-1] < 0, True)))
            return value(children[drawn])
        skipped = [
            prunes and nodes.street[node] < rows.shape[1] - 1 and child >= 0 and regrets[place + action] < below
            for action, child in enumerate(children)
        ]
        worth = [0.0] * count
        for action in reversed(range(count)):
            if not skipped[action]:
                worth[action] = value(children[action])
        total = float(policy @ worth)
        for action in range(count):
            if not skipped[action]:
                gains[place + action] = worth[action] - total
        return total

    value(0)
    return gains, shares, streams[0]


@pytest.mark.quick_cases("holdem(players=3,stack=[4;3;5],sizes=[a],ranks=3,suits=2,hole=1,deal=[0;1])")
@pytest.mark.parametrize("spec", [TEN_CARDS, THREE])
def test_a_walk_learns_what_a_slow_walk_says(spec):
    game = tp.load(spec)
    rows = bucket_rows_of(game, (), "", True) if spec == THREE else ten_cards(spec)[1]
    nodes = betting_nodes(game.rules, rows.counts)
    random = np.random.default_rng(0)
    size, decisions, slots = table_size(nodes, rows.counts), len(nodes.player), len(nodes.child)
    seen = set()
    for trial in range(60):
        tables = SampledTables(random.integers(-900, 900, size).astype(np.int32), random.random(size).astype(np.float32))
        before = [array.copy() for array in tables]
        buckets = np.stack([random.integers(rows.counts) for _ in range(game.num_players)])
        strengths, traverser = random.integers(3, size=game.num_players), trial % game.num_players
        prunes, stream = trial % 4 == 0, start(np.uint64(3), np.uint64(trial), np.uint64(0))
        gains, shares, after = slow_walk(nodes, before[0], buckets, (strengths, traverser), prunes, -500.0, stream)
        scratch = np.zeros(slots), np.zeros(decisions), *np.zeros((2, decisions), np.int64)
        deal = buckets, strengths
        found, met = walk(nodes, tables, deal, traverser, (0.01, -500.0, prunes), np.uint64(stream), scratch)
        assert found == after
        assert met > 0
        wanted = before[0].astype(float)
        for place, gain in gains.items():
            wanted[place] = max(wanted[place] + gain / 0.01, -500.0 * 31 / 30)
        assert np.abs(tables.regrets - wanted).max() <= 0.5 + 1e-6
        average = before[1].copy()
        for place, share in shares.items():
            average[place] += share
        assert np.allclose(tables.average, average)
        seen |= gains.keys()
    assert len(seen) > 40


@pytest.mark.slow
def test_push_or_fold_comes_close_to_its_equilibrium():
    game, rows = ten_cards(PUSH, counts=(45, 1, 1, 1), method="kmeans")
    solver = BlueprintSolver(game.rules, rows, deals=64, discount_every=200, seed=1)
    solver.run(4000)
    hands = game.rules.format.hands
    deck = np.array(game.rules.format.deck)
    boards = np.array(list(combinations(deck, 5)), np.uint8)
    margins = np.zeros((45, 45), np.int64)
    count_margins(hands, np.arange(45), boards, np.ones(len(boards), np.int64), margins)
    free = (hands[:, None, :, None] != hands[None, :, None, :]).all(axis=(2, 3))
    edge = 8.0 * (margins - margins.T) / 6 * free  # six boards for each pair of hands
    average = solver.tables.average.astype(float)
    first = rows.at(())
    push = average[2 * first + 1] / (average[2 * first] + average[2 * first + 1])  # fold, all-in
    second = solver.nodes.rows[1] + 2 * first
    call = average[second + 1] / (average[second] + average[second + 1])
    pairs = free.sum()

    def pushed(call):  # by hand of the small blind, who has one chip in: pushing over folding
        return (free * (1 - call) * 2.0 + edge * call).sum(axis=1) + free.sum(axis=1)

    value = ((pushed(call) * push).sum() - pairs) / pairs
    best_push = (np.maximum(pushed(call), 0).sum() - pairs) / pairs
    called = (edge.T * -push).sum(axis=1) + (free * push).sum(axis=1) * 2.0  # the big blind's: calling over folding
    best_call = (-(pushed(np.zeros(45)) * push).sum() + pairs - 0.0) / pairs + np.maximum(called, 0).sum() / pairs
    gain = (best_push - value) + (best_call + value)
    assert -1e-9 <= gain / 2 < 0.02  # chips; a big blind is two
    assert 0.3 < push.mean() < 1.0


def test_runs_go_on_bit_for_bit_and_other_states_are_refused():
    game, rows = ten_cards(TEN_CARDS)
    one = BlueprintSolver(game.rules, rows, deals=4, discount_every=7, prune=0.5, prune_below=-1.0)
    one.run(40)
    two, three = (BlueprintSolver(game.rules, rows, deals=4, discount_every=7, prune=0.5, prune_below=-1.0) for _ in range(2))
    two.run(17)
    three.restore({name: array.copy() for name, array in two.state().items()})
    three.run(23)
    assert all(np.array_equal(array, three.state()[name]) for name, array in one.state().items())


def test_the_ends_pay_what_the_rules_pay():
    """Side pots, uncalled bets, rake, odd chips and antes, on random hands of four players."""
    random, checked = np.random.default_rng(0), 0
    for spec in (
        "holdem(players=4,ranks=5,suits=2,hole=1,deal=[0;1],stack=[9;4;6;7],blinds=[1;3],ante=1,rake=0.05,sizes=[a])",
        "holdem(players=4,ranks=5,suits=2,hole=1,deal=[0;1],stack=[5;4;3;7],sizes=[a],ante=[0;2],rules=acpc)",
    ):
        rules = tp.load(spec).rules
        nodes, tables = number_nodes(rules.betting.to_act(rules.betting.root), partial(visit_table, rules), 4, (1, 1))
        for node in random.integers(len(tables), size=200):
            for slot, after in enumerate(visit_table(rules, tables[node]).after, nodes.first[node]):
                if nodes.child[slot] < 0:
                    strengths = random.integers(3, size=4)
                    paid = rules.paid_out(after, strengths.tolist(), dealt=after.street > 0)
                    found = [payoff(nodes.ends, -1 - nodes.child[slot], strengths, player) for player in range(4)]
                    assert found == pytest.approx(paid)
                    checked += after.folded.count(False) > 1
    assert checked > 100


def test_predicted_bytes_decide_what_is_refused():
    rules = tp.load(THREE).rules
    rows = bucket_rows_of(tp.load(THREE), (), "", True)
    needed, solver = predicted_bytes(betting_size(rules.betting), rows.counts), BlueprintSolver(rules, rows)
    assert needed > solver.tables.regrets.nbytes + solver.tables.average.nbytes
    check_room(rules, rows.counts, needed)
    with pytest.raises(SpecError, match=r"for which a blueprint with .* give fewer sizes"):
        check_room(rules, rows.counts, needed - 1)


@pytest.mark.slow
def test_three_players_come_close_to_an_equilibrium():
    """Judged exactly, by histories: what all can gain falls to a few hundredths of a chip."""
    game = tp.load(THREE)
    rows = bucket_rows_of(game, (), "", True)
    solver, compiled = BlueprintSolver(game.rules, rows, deals=16, discount_every=50, seed=1), compile_game(game)
    gained = []
    for boards in (10, 2000):
        solver.run(boards)
        shares = shares_of(solver.tables.average, solver.nodes, rows.counts)
        agent = HoldemBlueprintAgent(game.public, HoldemBlueprint(game, rows, solver.nodes, shares))
        gained.append(tp.nash_conv(compiled, agent_policy(agent, compiled)))
    assert gained[1] < 0.1 * gained[0]
    assert gained[1] < 0.05


def test_regrets_of_any_bound_fit_into_their_numbers():
    game, rows = ten_cards(TEN_CARDS)
    walks = BlueprintSolver(game.rules, rows, prune=0.5, prune_below=-1e9).walks
    assert LOWEST * walks.prune_below >= np.iinfo(np.int32).min
