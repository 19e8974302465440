"""A value network for rivers of hold'em, learnt from turns that were searched with it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.learn.torch.devices import NAMES  # noqa: E402
from treeplex.base.workers.executor import make_executor  # noqa: E402
from treeplex.errors import FileError, SpecError  # noqa: E402
from treeplex.holdem.betting.bet_plan import BetPlan  # noqa: E402
from treeplex.holdem.betting.tree import Decision, StreetEnd  # noqa: E402
from treeplex.holdem.cards.format import HOLDEM, small  # noqa: E402
from treeplex.holdem.rules.public import HoldemGame  # noqa: E402
from treeplex.holdem.search.leaves.binned_rivers import BinnedRivers, RiverBins  # noqa: E402
from treeplex.holdem.search.leaves.endgames import HoldemEndgames  # noqa: E402
from treeplex.holdem.search.subgames.subgame import cut_spot  # noqa: E402
from treeplex.holdem.spots.known import all_hands, turn_endgame_holdem  # noqa: E402
from treeplex.holdem.spots.spot import Spot  # noqa: E402
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, parallel_trainer  # noqa: E402
from treeplex.learn.rebel.settings import PAPER_TURNS, HoldemRebelSettings, HoldemSelfPlaySettings, RebelSettings  # noqa: E402
from treeplex.learn.rebel.trainer import RebelTrainer, save_rivers  # noqa: E402
from treeplex.learn.rebel.turns.nets import read_turn_leaf, save_turn_leaf  # noqa: E402
from treeplex.learn.rebel.turns.policies import columns_of, examples_of, most_columns  # noqa: E402
from treeplex.learn.rebel.turns.river_net import RiverNet, balanced  # noqa: E402
from treeplex.learn.rebel.turns.river_targets import River  # noqa: E402
from treeplex.learn.rebel.turns.self_play import (  # noqa: E402
    HoldemSelfPlay,
    drawn_game,
    flat_range,
    played_and_believed,
    random_range,
    river_spot,
)
from treeplex.search.methods import METHODS  # noqa: E402
from treeplex.search.subgame_search import SubgameSearch  # noqa: E402
from treeplex.search.warm_start.begin import begin_search  # noqa: E402

torch.set_num_threads(1)

SPOT = replace(turn_endgame_holdem(), bets=BetPlan.same("100%", "", min_bet=100.0))
"""One bet a street, of the pot."""
TINY = HoldemRebelSettings(
    iterations=3, rivers=8, river_iterations=16, games=4, bins=8, width=16, layers=1, burn_in=8, batch=16, reuse=8.0
)


def nothing(rows: np.ndarray) -> np.ndarray:
    return np.zeros((len(rows), rows.shape[1] - 1), np.float32)


def same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> bool:
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.slow
def test_training_comes_closer_to_exact_values_of_rivers_it_has_not_seen() -> None:
    settings = HoldemRebelSettings(
        iterations=4, rivers=16, river_iterations=32, games=16, bins=16, width=32, layers=2, burn_in=32, batch=32
    )
    trainer = RebelTrainer(SPOT, settings)
    unseen = HoldemSelfPlay(SPOT, replace(settings, river_iterations=100), trainer.leaf, np.random.default_rng(9))
    rivers = [river for _ in range(2) for river in unseen.rivers()]
    inputs, targets, weights = (np.stack(part) for part in zip(*(river.row() for river in rivers), strict=True))

    def error() -> float:
        return float(np.sqrt((weights * (trainer.leaf.function(inputs) - targets) ** 2).mean()))

    before = error()
    while not trainer.finished:
        found = trainer.round()
    assert (found.done, found.rows) == (16, 256)
    assert found.steps == trainer.steps > 400
    assert error() < 0.4 * before


@pytest.mark.quick_cases("flat")
@pytest.mark.parametrize("source", ["self-play", "random", "flat"])
def test_trainings_repeat_and_go_on_from_a_state_bit_for_bit(source: str) -> None:
    settings = replace(TINY, source=source, method="lcfr-avg-modified")
    first, second, third = (RebelTrainer(SPOT, settings) for _ in range(3))
    while not first.finished:
        first.round()
    second.round()
    second.round()
    third.restore(second.state())
    while not third.finished:
        third.round()
    assert same(first.state(), third.state())
    assert not same(second.state(), third.state())
    with pytest.raises(FileError, match="does not fit this training run"):
        RebelTrainer(SPOT, replace(settings, width=8)).restore(first.state())


def test_cfr_avg_plays_an_iterations_policy_and_believes_the_average() -> None:
    """As the agent does, and section 5.2 says; the average has taken in the policy that is played."""
    leaf = BinnedRivers(nothing, 8)
    for method in ("lcfr", "lcfr-avg", "flop"):
        turn = cut_spot(SPOT)
        search, ahead = (SubgameSearch(turn, METHODS[method], leaf, horizon=8) for _ in range(2))
        search.run(3), ahead.run(3)
        before = ahead.strategy.copy()
        ahead.run(1)
        played, believed = played_and_believed(search)
        if method == "flop":
            assert played is believed is search.average
            continue
        assert np.array_equal(played, before)
        assert believed == pytest.approx(before if method == "lcfr" else ahead.average)
    assert played_and_believed(SubgameSearch(turn, METHODS["lcfr-avg"], leaf))[1].any()


@pytest.mark.slow_cases("average")
@pytest.mark.parametrize("draw", ["uniform", "average"])
def test_iterations_are_drawn_as_told(draw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def watched(search: SubgameSearch) -> tuple[np.ndarray, np.ndarray]:
        seen.append(search.iteration)
        return played_and_believed(search)

    monkeypatch.setattr("treeplex.learn.rebel.turns.self_play.played_and_believed", watched)
    settings = replace(TINY, draw=draw, iterations=3, rivers=150, river_iterations=1)
    play = HoldemSelfPlay(SPOT, settings, BinnedRivers(nothing, 8), np.random.default_rng(0))
    for _ in play._searched(SPOT):
        pass
    expected = [0, 50, 50, 50] if draw == "uniform" else [25, 50, 75, 0]
    assert np.bincount(seen, minlength=4) == pytest.approx(expected, abs=18)
    assert PAPER_TURNS.draw == "average"


def test_values_of_both_players_sum_to_zero() -> None:
    generator = np.random.default_rng(0)
    rows, outputs = generator.random((5, 17)), generator.standard_normal((5, 16))
    rows[:, 1:] *= 8 / rows[:, 1:].reshape(5, 2, 8).sum(axis=2).repeat(8, axis=1)
    found = balanced(rows, outputs)
    np.testing.assert_allclose((rows[:, 1:] * found).sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.ptp(found - outputs, axis=1), 0.0, atol=1e-12)


def test_networks_are_saved_and_read(tmp_path: Path) -> None:
    trainer = RebelTrainer(SPOT, TINY)
    trainer.round()
    save_rivers(trainer, tmp_path / "net.safetensors", seconds=1.5)
    found, rows = read_turn_leaf(tmp_path / "net.safetensors").function, np.random.default_rng(0).random((3, 17), np.float32)
    own = trainer.leaf.function(rows)
    assert np.abs(own).max() > 0
    np.testing.assert_array_equal(found(rows), own)
    other = RiverNet(8, width=16, layers=1, seed=0).leaf()
    save_turn_leaf(other, tmp_path / "wrong.safetensors", settings={"bins": 9, "width": 16, "layers": 1}, card={})
    with pytest.raises(FileError, match=r"wrong.*not a network for hold'em rivers \(it is for rivers of hold'em, 8 bins"):
        read_turn_leaf(tmp_path / "wrong.safetensors")
    save_turn_leaf(other, tmp_path / "wrong.safetensors", settings={"bins": 8, "width": 8, "layers": 1}, card={})
    with pytest.raises(FileError, match="not a network for hold'em rivers"):
        read_turn_leaf(tmp_path / "wrong.safetensors")


def test_a_solved_river_is_worth_what_its_bets_add() -> None:
    """With nothing behind there is nothing to add; and values of both players sum to zero, card removal and all."""
    spot = Spot((3, 20, 33, 47, 48), 2_000.0, 4_000.0, all_hands(HOLDEM), BetPlan.same("100%,a", "a"))
    generator = np.random.default_rng(0)
    ranges = generator.random(1326) ** 3, generator.random(1326) ** 3
    river = River.solved(spot, ranges, 20, 16, storage="float64")
    order = river.bins.order[0]
    total = 0.0
    for player in (0, 1):
        mass, _ = river.bins.showdown(0, river.ranges[1 - player])
        total += float((river.ranges[player][order] * mass) @ river.worth[player])
    assert abs(total) < 1e-9 < 0.05 < np.abs(river.worth).mean()
    checked = River.solved(replace(spot, bets=BetPlan.same("", "")), ranges, 1, 16, storage="float64")
    np.testing.assert_allclose(checked.worth, 0.0, atol=1e-9)


def test_games_are_drawn_within_their_bounds() -> None:
    generator, settings = np.random.default_rng(0), HoldemSelfPlaySettings()
    spots = [drawn_game(turn_endgame_holdem(), settings, generator) for _ in range(50)]
    stacks = [spot.stack + 1_000.0 for spot in spots]
    assert 5_000.0 <= min(stacks) < 10_000.0 < 45_000.0 < max(stacks) <= 50_000.0
    assert len({spot.board for spot in spots}) == 50
    sizes = np.array([[size.value for size in spot.bets.streets[2][1].bets + spot.bets.streets[3][0].raises] for spot in spots])  # type: ignore[union-attr]  # fmt: skip
    assert (np.abs(sizes - [0.5, 1.0, 0.0, 0.75, 0.0]) <= 0.1).all()
    assert (np.ptp(sizes, axis=0) > 0.1).tolist() == [True, True, False, True, False]
    fixed = drawn_game(
        turn_endgame_holdem(), HoldemSelfPlaySettings(stacks=(20_000.0,) * 2, perturbed=0.0, boards=False), generator
    )
    assert fixed.identity == turn_endgame_holdem().identity


def test_random_ranges_have_every_hand_of_the_board() -> None:
    board, generator = RiverBins.of(HOLDEM, ((3, 20, 33, 47, 48),), 2), np.random.default_rng(0)
    spread = []
    for draw in (random_range, flat_range):
        drawn = np.stack([draw(board, generator) for _ in range(20)])
        np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
        assert np.array_equal(np.flatnonzero((drawn > 0).all(axis=0)), np.sort(board.order[0]))
        spread.append(drawn[:, board.order[0][:540]].sum(axis=1).std())
    assert spread[0] > 0.15 > 0.03 > spread[1]  # halves of a range: uniform, and nearly always alike


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": "dice"}, "source must be one of self-play, random, flat"),
        ({"method": "dice"}, "method must be one of"),
        ({"rivers": 0}, "rivers must be an integer of at least 1, not 0"),
        ({"exploration": 1.5}, "exploration must be a number from 0 to 1"),
        ({"perturbed": -0.1}, "perturbed must be a number of at least 0"),
        ({"stacks": (9.0, 1.0)}, "stacks must be the smallest and the largest"),
        ({"bins": 1}, "bins must be an integer from 2 to 1,024"),
        ({"games": 1.5}, "games must be an integer of at least 1"),
        ({"rate": 0.0}, "rate must be a number above 0"),
        ({"rows": 7}, r"burn_in is .*, above rows \(7\)"),
        ({"bins": 40_000}, "bins must be an integer from 2 to 1,024"),
    ],
)
def test_settings_are_checked(change: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        replace(TINY, **change)


def test_ranges_that_exclude_each_other_give_no_river() -> None:
    """Both players hold the same two cards; nobody could have come there."""
    play = HoldemSelfPlay(SPOT, TINY, BinnedRivers(nothing, 8), np.random.default_rng(0))
    game, alone = HoldemGame.of(SPOT), np.zeros(1326)
    end = next(number for number, node in enumerate(game.tree.nodes) if isinstance(node, StreetEnd))
    alone[game.free(SPOT.board).argmax()] = 1.0
    assert play._river(game, end, 51, (alone, alone)) is None
    found = play._river(game, end, 51, (alone, np.ones(1326)))
    assert found is not None
    assert river_spot(found).pot == game.pot(found.state) == 2_000.0
    assert river_spot(found).board == (*SPOT.board, 51)


def test_self_play_needs_a_turn_with_chips_behind() -> None:
    leaf, generator = BinnedRivers(nothing, 8), np.random.default_rng(0)
    with pytest.raises(SpecError, match="3 streets of betting, not 2"):
        HoldemSelfPlay(replace(SPOT, board=SPOT.board[:3]), TINY, leaf, generator)
    with pytest.raises(SpecError, match="for a hold'em spot give HoldemRebelSettings"):
        RebelTrainer(SPOT, RebelSettings())
    with pytest.raises(SpecError, match=r"stacks must be more than 1000 chips, half of the pot, not 1000"):
        HoldemSelfPlay(SPOT, replace(TINY, stacks=(1_000.0, 2_000.0)), leaf, generator)


HANDS = replace(TINY, hands=True, shown=False, policy_net=True, warm=2, iterations=4, rivers=4, width=8, games=3)
"""Single hands, as in the paper."""


@pytest.mark.slow
def test_single_hands_are_valued_as_exact_solutions_value_them() -> None:
    """Exact values of every river in place of the network's: the leaf says what solved endgames say, showdown added or not."""
    turn = cut_spot(replace(SPOT, stack=3_000.0, bets=SPOT.bets.override("turn", bets="", raises="")))  # type: ignore[union-attr]
    leaves, generator = turn.leaves, np.random.default_rng(0)
    free = ~np.isin(HOLDEM.hands, SPOT.board).any(axis=1)
    first, second = (free * generator.random((len(leaves), 1326)) ** 4 for _ in "01")
    expected = HoldemEndgames(turn, iterations=12, storage="float64")(leaves, (first, second), (first, second))
    for shown in (True, False):

        def solved(rows: np.ndarray, shown: bool = shown) -> np.ndarray:
            found, cards = [], [card for card in HOLDEM.deck if card not in SPOT.board]
            for k, row in enumerate(rows):
                end, card = divmod(k, len(cards))
                state = leaves.states[end]
                spot = replace(
                    SPOT,
                    board=(*SPOT.board, cards[card]),
                    pot=turn.game.pot(state),
                    stack=min(turn.game.stacks(state)),
                    ranges=all_hands(HOLDEM),
                )
                river = River.solved(spot, (first[end], second[end]), 12, 0, shown=shown, storage="float64")
                assert row == pytest.approx(river.row()[0], abs=1e-5)
                found.append(river.row()[1])
            return np.stack(found)

        ends = BinnedRivers(solved, 0, shown=shown)(leaves, (first, second), (first, second))
        for player in (0, 1):
            np.testing.assert_allclose(ends[player][:, free], expected[player][:, free], atol=2.0)


def test_values_of_single_hands_sum_to_zero_and_rows_say_the_board() -> None:
    net = RiverNet(1326, width=4, layers=1, seed=0, board=69)
    board, generator = RiverBins.of(HOLDEM, ((3, 20, 33, 47, 48),), 0), np.random.default_rng(0)
    ranges = generator.random((1, 1326)) ** 4, generator.random((1, 1326)) ** 4
    rows = board.rows(ranges, np.array([100.0]), np.array([200.0]))
    assert rows.shape == (1, net.inputs)
    assert np.flatnonzero(rows[0, 1 + 2652 :][:52]).tolist() == [3, 20, 33, 47, 48]
    apart = (HOLDEM.hands[:, None, :, None] != HOLDEM.hands[None, :, None, :]).all(axis=(2, 3))
    there = ~np.isin(HOLDEM.hands, board.boards[0]).any(axis=1)
    joint = apart * np.outer(ranges[0][0] * there, ranges[1][0] * there)
    for player, likely in ((0, joint.sum(axis=1)), (1, joint.sum(axis=0))):
        np.testing.assert_allclose(rows[0, 1 + player * 1326 :][:1326], 1326 * likely / joint.sum(), rtol=1e-5, atol=1e-6)
    outputs = generator.standard_normal((1, 2652)).astype(np.float32)
    found = balanced(rows, outputs)
    worth = [joint.sum(axis=1 - player) @ found[0, player * 1326 :][:1326] for player in (0, 1)]
    assert abs(sum(worth)) / joint.sum() < 1e-5 < abs(worth[0]) / joint.sum()


@pytest.mark.slow
def test_a_training_on_single_hands_with_both_networks_repeats_on_workers_and_from_a_state(tmp_path: Path) -> None:
    trainers = [parallel_trainer(SPOT, HANDS, make_executor("inline"), SelfPlayer(SPOT, HANDS), 2)[0] for _ in range(2)]
    first, second = trainers
    while not first.finished:
        found = first.round()
    second.round()
    again = parallel_trainer(SPOT, HANDS, make_executor("inline"), SelfPlayer(SPOT, HANDS), 2)[0]
    again.restore(second.state())
    while not again.finished:
        again.round()
    kept = [{name: array for name, array in each.state().items() if "seconds" not in name} for each in (first, again)]
    assert same(*kept)
    assert np.isfinite([found.loss, found.policy_loss]).all()
    save_rivers(first, tmp_path / "net.safetensors")
    leaf = read_turn_leaf(tmp_path / "net.safetensors")
    assert leaf.guess is not None
    assert leaf.warm == 2
    turn = cut_spot(SPOT)
    ours, theirs = (begin_search(turn, METHODS["lcfr"], each, None, 4) for each in (first.leaf, leaf))
    assert ours.iteration == 2
    ours.run(2), theirs.run(2)
    np.testing.assert_array_equal(ours.average, theirs.average)


def test_a_size_keeps_its_column_and_policies_are_learned_as_they_were_played() -> None:
    spot = turn_endgame_holdem()
    nodes = [node for node in cut_spot(spot).game.tree.nodes if isinstance(node, Decision)]
    assert columns_of(nodes[0].actions, 6) == [1, 3, 4, 2]
    facing = next(node for node in nodes if node.actions[0].kind == "fold")
    assert columns_of(facing.actions, 6) == [0, 1, 3, 2]
    assert most_columns(spot) == 6
    search = SubgameSearch(cut_spot(SPOT), METHODS["lcfr"], BinnedRivers(nothing, 8), horizon=4)
    search.run(4)
    rows = examples_of(search, 4)
    table = search.policy_at(0, search.average_policy())
    free = ~np.isin(HOLDEM.hands, SPOT.board).any(axis=1)
    np.testing.assert_allclose(rows.targets[0][free][:, [1, 3]] / 255, table.T[free], atol=0.002)
    assert not rows.targets[0][~free].any()
    assert rows.legal[0].tolist() == [False, True, False, True]


@pytest.mark.parametrize("device", NAMES)
def test_a_training_runs_on_tensors_and_repeats(device: str) -> None:
    """By the code for a graphics card; numbers are those of the kernels up to rounding in single precision."""
    deck = small(ranks=6, suits=4, hole=2, deal=(0, 3, 1, 1))
    spot = Spot(deck.deck[:4], 2_000.0, 19_000.0, all_hands(deck), BetPlan.same("50%,a", "a"), format=deck)
    settings = replace(HANDS, device=device, method="lcfr-avg-modified", games=2)
    first, second, other = (RebelTrainer(spot, each) for each in (settings, settings, replace(settings, device="cpu")))
    for trainer in (first, second, other):
        while not trainer.finished:
            found = trainer.round()
    assert device == "cuda" or same(first.state(), second.state())
    assert np.isfinite(found.loss)
    for name in ("inputs", "targets"):
        np.testing.assert_allclose(first.state()[name][:4], other.state()[name][:4], atol=0.05)
