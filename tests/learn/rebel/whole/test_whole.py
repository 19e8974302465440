"""ReBeL on whole hold'em: self-play, the network's values, resuming, and what a training comes to."""

import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.forms.sources.load import load
from treeplex.holdem.engine.showdowns.rows_of_hands import equalise
from treeplex.holdem.street_search.agent import WholeSearchAgent
from treeplex.holdem.street_search.exact import compiled_whole, judge_whole, searched_strategy
from treeplex.holdem.street_search.street import StreetPlaces
from treeplex.holdem.street_search.suits import Suits
from treeplex.holdem.whole.public import PublicHand
from treeplex.learn.rebel.settings import WholeRebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.learn.rebel.whole.drawn_games import closed_table
from treeplex.learn.rebel.whole.self_play import StreetBelief, drawn_weight
from treeplex.search.agents.agent import UniformAgent, play_game
from treeplex.search.settings import PlaythroughSettings

TEN = "holdem(ranks=5,suits=2,stack=8,sizes=[100%;a])"
SMALL = {"iterations": 4, "episodes": 6, "boards": 2, "burn_in": 6, "batch": 8, "width": 8, "reuse": 16.0, "solves": 60}


@pytest.fixture(scope="module")
def game():
    return load(TEN).public


def test_a_dealt_board_counts_as_one_drawn_uniformly(game):
    random = np.random.default_rng(0)
    suits = Suits(game.rules.format)
    ranges = random.random((2, len(game.hands)))
    equalise(np.stack([suits.orbits(())] * 2), ranges)
    state = StreetBelief(game, closed_table(game, (2, 2), 0), (), (ranges[0], ranges[1]))
    pairs, boards = {}, suits.deals(())
    for board, count in boards.items():
        held = tuple(own * game.free(PublicHand(state.table, board)) for own in state.ranges)
        pairs[board] = count * float(held[0] @ game.opposing(PublicHand(state.table, board), held, 0))
    dealt = {board: mass / sum(pairs.values()) for board, mass in pairs.items()}
    drawn = {board: count / sum(boards.values()) for board, count in boards.items()}
    for board in boards:
        assert drawn_weight(state, board) == pytest.approx(drawn[board] / dealt[board])


def test_values_sum_to_zero_and_are_alike_for_hands_that_suits_do_not_tell_apart(game):
    leaf = RebelTrainer(game, WholeRebelSettings(**SMALL)).leaf
    places, random = places_of(game, leaf.cards), np.random.default_rng(0)
    believed = tuple(random.random((2, len(game.hands))) * places.free for _ in (0, 1))
    values = leaf(places, believed, believed)
    met = [own * places.opposing(believed, k) for k, own in enumerate(believed)]
    total = sum((own * worth).sum(axis=1) for own, worth in zip(met, values, strict=True))
    assert np.abs(total / met[0].sum(axis=1)).max() < 1e-6  # showdowns are summed in single precision
    orbits = np.stack([leaf.cards.suits.orbits(state.board) for state in places.states])
    for own in believed:
        equalise(orbits, own)
    values, swapped = leaf(places, believed, believed), leaf.cards.suits.maps[1]
    assert np.allclose(values[0][0], values[0][0][swapped])
    assert np.ptp(values[0][0]) > 0


def places_of(game, cards):
    boards = [(), cards.suits.canonical(tuple(game.rules.format.deck[:3]))[0]]
    tables = closed_table(game, (2, 2), 0), closed_table(game, (4, 4), 1)
    return StreetPlaces(game, [PublicHand(table, board) for table, board in zip(tables, boards, strict=True)])


@pytest.mark.slow_cases("6")
@pytest.mark.parametrize("bins", [0, 6])
def test_a_network_of_zeros_says_what_showdowns_pay(game, bins):
    leaf = RebelTrainer(game, WholeRebelSettings(**SMALL, bins=bins)).leaf
    for parameter in leaf.net.parameters():
        parameter.data.zero_()
    leaf.forward.refresh()
    places, random = places_of(game, leaf.cards), np.random.default_rng(0)
    believed = tuple(random.random((2, len(game.hands))) * places.free for _ in (0, 1))
    for player in (0, 1):
        values = leaf(places, believed, believed, player)[player]
        for place, state in enumerate(places.states):
            shares = leaf.cards.showdowns.shares(state.board)
            apart = leaf.cards.showdowns.apart * places.free[place] * places.free[place][:, None]
            other = believed[1 - player][place]
            expected = game.rules.pot(state.table) * ((shares @ other) / np.maximum(apart @ other, 1e-12) - 0.5)
            held = places.free[place] > 0
            assert np.allclose(values[place][held], expected[held], atol=1e-5)


@pytest.mark.parametrize("size", [0, 3, 4])
def test_showdowns_before_cards_are_means_of_those_after_them(game, size):
    leaf = RebelTrainer(game, WholeRebelSettings(**SMALL)).leaf
    board, random = leaf.cards.suits.canonical(tuple(game.rules.format.deck[:size]))[0], np.random.default_rng(0)
    table = closed_table(game, (2, 2), max(0, size - 2))
    before, orbits = StreetPlaces(game, [PublicHand(table, board)]), leaf.cards.suits.orbits(board)[None]
    ranges = tuple(random.random((1, len(game.hands))) * before.free for _ in (0, 1))
    for own in ranges:
        equalise(orbits, own)
    deals = leaf.cards.suits.deals(board)
    after = StreetPlaces(game, [PublicHand(table, each) for each in deals])
    copies = tuple(np.repeat(own, len(deals), axis=0) for own in ranges)
    shown, weights = leaf.showdown(after, copies), np.array([*deals.values()], float)[:, None]
    for player, expected in enumerate(leaf.showdown(before, ranges)):
        met = weights * after.opposing(copies, player)
        sums = np.stack([(met * shown[player]).sum(axis=0), met.sum(axis=0)])
        equalise(np.repeat(orbits, 2, axis=0), sums)
        held = sums[1] > 0
        assert np.allclose((sums[0] / np.maximum(sums[1], 1e-12))[held], expected[0][held], atol=1e-5)
        assert np.ptp(expected[0][held]) > 0.1


def test_bins_keep_ranges_and_values_in_order_of_strength(game):
    leaf = RebelTrainer(game, WholeRebelSettings(**SMALL, bins=6)).leaf
    places = places_of(game, leaf.cards)
    prepared = leaf.encoding.prepared(places)
    rows = prepared.write((places.free, places.free))[:, -6:]
    assert (np.diff(rows, axis=1) > 0).all()
    assert np.allclose(rows[:, -1], 2.0)
    equity = np.stack([leaf.cards.showdowns.shares(state.board).sum(axis=1) for state in places.states])
    targets, counts = prepared.rows_of_values((equity, -equity), (places.free, places.free))
    assert (np.diff(targets[:, :6], axis=1) > 0).all()
    assert np.allclose(targets[:, :6], -targets[:, 6:])
    assert np.allclose(counts.sum(axis=1), 12.0)
    found = prepared.read(targets, places.widths)[0]
    for place, held in enumerate(places.free > 0):
        assert np.corrcoef(found[place][held], equity[place][held])[0, 1] > 0.85


def test_policies_of_bins_are_means_of_their_hands_and_tell_decisions_apart(game):
    leaf = RebelTrainer(game, WholeRebelSettings(**SMALL, bins=6, policy_net=True, warm=1)).leaf
    places, random = places_of(game, leaf.cards), np.random.default_rng(0)
    prepared, held = leaf.encoding.prepared(places), places.free > 0
    same = np.tile([0.2, 0.3, 0.5], (2, len(game.hands), 1))
    assert np.allclose(prepared.rows_of_policies(same, places.free), same[:, :6])
    assert np.allclose(prepared.policies(same[:, :6])[held], same[held])
    assert np.allclose(prepared.policies(same[:, :6])[~held], 1 / 3)
    assert not prepared.rows_of_policies(same, np.zeros_like(places.free)).any()
    equity = np.stack([leaf.cards.showdowns.shares(state.board).sum(axis=1) for state in places.states])
    bold = equity / equity.max(axis=1, keepdims=True)
    rows = prepared.rows_of_policies(np.stack([1 - bold, bold], axis=2), random.random(bold.shape) * places.free)
    assert np.allclose(rows.sum(axis=2), 1)
    assert (np.diff(rows[:, :, 1], axis=1) > 0).all()

    table, decisions = closed_table(game, (2, 2), 0), leaf.guess.encoding.encoding
    assert decisions.features == leaf.encoding.features + 3
    board = places.states[1].board
    street = game.rules.dealt(table, len(board))
    after = [street, *(game.rules.betting.after(street, action) for action in game.rules.betting.actions(street))]
    seen = {tuple(decisions.features_of(game, PublicHand(each, board))) for each in after if each.player >= 0}
    assert len(seen) == sum(each.player >= 0 for each in after) > 2


@pytest.mark.slow
def test_more_rivers_are_values_of_more_ends_of_turns():
    game, counts = load(TEN.replace("stack=8", "stack=20")).public, []
    for rivers in (1, 6):
        trainer = RebelTrainer(game, WholeRebelSettings(**SMALL | {"bins": 4, "rivers": rivers, "episodes": 24}))
        rows = [trainer.play.advance() for _ in range(8)]
        streets = np.concatenate([each.inputs for each in rows])[:, 2:5]
        assert (streets.sum(axis=1) == 1).all()
        assert trainer.play.solved == len(streets)
        counts.append(streets.sum(axis=0))
        assert all(np.isfinite(part).all() for each in rows for part in each.values.values())
    assert counts[1][2] > 3 * counts[0][2] > 0
    assert (counts[1][:2] < 2 * counts[0][:2]).all()


@pytest.mark.slow
def test_a_training_resumes_bit_for_bit(game):
    settings = WholeRebelSettings(**SMALL, stacks=(4, 12), perturbed=0.2, policy_net=True, warm=1)
    whole, first = RebelTrainer(game, settings), RebelTrainer(game, settings)
    for _ in range(6):
        whole.round()
    for _ in range(4):
        first.round()
    rest = RebelTrainer(game, settings)
    rest.restore(first.state())
    for _ in range(2):
        rest.round()
    assert whole.steps == rest.steps > 0
    one, other = whole.state(), rest.state()
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert len({tuple(row) for row in one["stacks"].tolist()}) > 1


@pytest.mark.slow_cases("changes9")
@pytest.mark.parametrize(
    "changes",
    [
        {"source": "random"},
        {"method": "dcfr-avg-modified", "passed_on": "average"},
        {"method": "fp"},
        {"boards": 0},
        {"rivers": 3},
        {"bins": 4},
        {"shown": False},
        {"policy_net": True, "warm": 2},
        {"policy_net": True, "warm": 2, "method": "fp"},
        {"policy_net": True, "warm": 2, "bins": 4},
    ],
)
def test_every_way_to_play_gives_rows(game, changes):
    trainer = RebelTrainer(game, WholeRebelSettings(**{**SMALL, **changes}))
    for _ in range(3):
        trainer.round()
    rows = trainer.values.rows.ordered()
    assert len(rows[0]) > 0
    assert all(np.isfinite(part).all() for part in rows)
    assert rows[2].max() > 0
    assert np.abs(rows[1]).max() > 0
    if trainer.policies is not None:
        _, targets, legal = trainer.policies.rows.ordered()
        told = targets.any(axis=2)
        assert np.abs(targets[told].sum(axis=1) - 255.0).max() <= 2
        assert not (targets * ~legal[:, None]).any()


def test_stacks_must_cover_the_big_blind(game):
    with pytest.raises(SpecError, match="more than the big blind"):
        RebelTrainer(game, WholeRebelSettings(**SMALL, stacks=(2, 8)))
    with pytest.raises(SpecError, match="the smallest and the largest"):
        WholeRebelSettings(stacks=(9, 8))
    with pytest.raises(SpecError, match="at least 2, or 0 for single hands"):
        WholeRebelSettings(bins=1)


@pytest.mark.slow_cases("[100%],add_allin=5")
@pytest.mark.parametrize("sizes", ["[100%],add_allin=5", "[none]", "[none],blinds=[2;3]"])
def test_policy_networks_know_raises_beside_those_of_the_lists(sizes):
    game = load(f"holdem(ranks=5,suits=2,stack=4,sizes={sizes})").public
    trainer = RebelTrainer(game, WholeRebelSettings(**SMALL, policy_net=True, warm=1, bins=4))
    trainer.round()
    assert len(trainer.policies.rows.ordered()[0]) > 0


@pytest.mark.parametrize("changes", [{}, {"policy_net": True, "warm": 1}, {"policy_net": True, "warm": 1, "bins": 4}])
@pytest.mark.parametrize("drawn", [True, False])
def test_an_agent_plays_whole_hands_and_hears_bets_that_it_does_not_consider(drawn, changes):
    table = load("holdem(ranks=5,suits=2,stack=8)").public
    own = load(TEN.replace("stack", "raises=1,stack")).public
    leaf = RebelTrainer(own, WholeRebelSettings(**SMALL, **changes)).leaf
    player = WholeSearchAgent(table, own, leaf, PlaythroughSettings(iterations=3), np.random.default_rng(0), drawn=drawn)
    other = UniformAgent(table, np.random.default_rng(1))
    random, added, paid = np.random.default_rng(2), 0, []
    for hand in range(8):
        paid.append(play_game([player, other] if hand % 2 else [other, player], random))
        added += player.own is not own
    assert added > 0
    assert all(sum(each) == 0 for each in paid)
    player.begin()
    assert np.allclose(player.policy().sum(axis=0), 1)


@pytest.mark.slow
def test_self_play_comes_closer_to_an_equilibrium():
    game = load("holdem(ranks=3,suits=4,stack=8,sizes=[100%;a])").public
    settings = {"burn_in": 192, "batch": 256, "width": 128, "boards": 0, "reuse": 512.0, "solves": 512}
    trainer, compiled = RebelTrainer(game, WholeRebelSettings(**settings)), compiled_whole(game)
    search = PlaythroughSettings(method="dcfr", iterations=64, playthroughs=1, batch=512)

    def judged():
        found = searched_strategy(game, trainer.leaf, search, np.random.default_rng(0), compiled, drawn=False)
        return judge_whole(compiled, found).exploitability

    before = judged()
    while not trainer.finished:
        trainer.round()
    after = judged()
    assert after < 0.2, after
    assert after < before, before
