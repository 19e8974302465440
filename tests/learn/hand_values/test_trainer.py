"""Networks for single hands: labels beside another solution of the same rivers, learning, resuming, files, searches."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.errors import FileError, SpecError  # noqa: E402
from treeplex.holdem.betting.bet_plan import BetPlan  # noqa: E402
from treeplex.holdem.cards.cards import parse_cards  # noqa: E402
from treeplex.holdem.cards.format import HOLDEM, format_named  # noqa: E402
from treeplex.holdem.engine.showdowns.hand_features import INPUTS  # noqa: E402
from treeplex.holdem.search.leaves.hand_values import HandBoard  # noqa: E402
from treeplex.holdem.solve.solve_spot import solve_spot  # noqa: E402
from treeplex.holdem.spots.known import all_hands, holdem  # noqa: E402
from treeplex.learn.common.situations import SituationTrainer  # noqa: E402
from treeplex.learn.first_street.search import hand_network, search_spot  # noqa: E402
from treeplex.learn.hand_values.inference import hand_function  # noqa: E402
from treeplex.learn.hand_values.net import read_hand_net  # noqa: E402
from treeplex.learn.hand_values.settings import HandValueSettings  # noqa: E402
from treeplex.learn.hand_values.situations import POT, draw, random_range, solve_situation, spot_of  # noqa: E402
from treeplex.learn.hand_values.source import HandSource, leaves_of  # noqa: E402
from treeplex.learn.rebel.turns.river_targets import River  # noqa: E402

torch.set_num_threads(1)

RIVER = HandValueSettings(street="river", iterations=40, situations=24, width=16, layers=1, burn_in=128, batch=256, reuse=20.0)
BOARD = parse_cards("AsKd7c4h2s")


def test_labels_are_those_of_another_solution() -> None:
    board, generator = HandBoard.of(HOLDEM, BOARD), np.random.default_rng(0)
    reach = np.stack([random_range(board, generator) for _ in range(2)])
    found = solve_situation(board, 2.0, reach, RIVER)
    other = River.solved(spot_of(BOARD, 2.0, RIVER, all_hands(HOLDEM)), (reach[0], reach[1]), RIVER.iterations, 16)
    order = np.argsort(other.bins.order[0])
    for player in (0, 1):
        over = found.worth[player] - (found.equity[player] - 0.5)
        np.testing.assert_allclose(over, np.nan_to_num(other.worth[player][order]), atol=2e-4)
    assert float((found.weights * found.worth).sum()) == pytest.approx(0, abs=1e-4)


def test_single_hands_of_a_situation_always_meet() -> None:
    trainer = SituationTrainer(HandSource(replace(RIVER, hands=1, iterations=2, situations=40, burn_in=10_000)))
    for _ in range(40):  # one time in twelve, hands drawn at random share a card
        trainer.round()
    assert len(trainer.fitting.rows) + len(trainer.held) == 40 * 2 * RIVER.sampled


def test_labels_by_the_next_network_come_close_to_solves() -> None:
    settings = HandValueSettings(street="turn", hands=60, iterations=24, most_stack=4.0)
    leaves = leaves_of(replace(settings, labels="network"))
    solves, networks = ([draw(settings, np.random.default_rng(seed), each) for seed in (3, 4)] for each in (None, leaves))
    near, far = [], []
    for one, other in zip(solves, networks, strict=True):
        np.testing.assert_array_equal(one.reach, other.reach)
        assert (one.reach > 0).sum(axis=1).max() <= 90
        near.append(float((one.weights * np.abs(one.worth - other.worth)).sum() / 2))
        far.append(float((one.weights * np.abs(one.worth - (one.equity - 0.5))).sum() / 2))
    assert np.mean(near) < 0.5 * np.mean(far)
    with pytest.raises(SpecError, match="the river is the last"):
        HandSource(replace(RIVER, labels="network"))


def test_ranges_sum_to_one_and_have_every_hand() -> None:
    board, generator = HandBoard.of(HOLDEM, BOARD), np.random.default_rng(1)
    for _ in range(20):
        drawn = random_range(board, generator)
        assert drawn.sum() == pytest.approx(1)
        assert set(np.flatnonzero(drawn)) == set(board.held)


@pytest.mark.slow
def test_a_network_learns_and_is_read_again(tmp_path: Path) -> None:
    trainer = SituationTrainer(source := HandSource(RIVER))
    for _ in range(RIVER.situations):
        trainer.round()
    fresh, generator = HandSource(RIVER).net, np.random.default_rng(9)
    tests = [draw(RIVER, generator) for _ in range(12)]

    def error(net: object) -> float:
        return float(np.mean([(each.weights * np.abs(net.worth(each) - each.worth)).sum() / 2 for each in tests]))  # type: ignore[attr-defined]

    assert error(source.net) < 0.85 * error(fresh)
    source.net.save(tmp_path / "net.safetensors", settings=RIVER.to_json(), card={})
    again = read_hand_net(tmp_path / "net.safetensors")
    np.testing.assert_array_equal(again.worth(tests[0]), source.net.worth(tests[0]))
    assert float((tests[0].weights * again.worth(tests[0])).sum()) == pytest.approx(0, abs=1e-6)
    (tmp_path / "net.safetensors").write_bytes(b"no network")
    with pytest.raises(FileError, match="train hand-values"):
        read_hand_net(tmp_path / "net.safetensors")


def test_a_training_resumes_bit_for_bit() -> None:
    short = replace(RIVER, situations=6, burn_in=16, held_out=0.4)
    one, other = (SituationTrainer(HandSource(short)) for _ in range(2))
    for _ in range(3):
        one.round()
    other.restore(one.state())
    for each in (one, other):
        for _ in range(3):
            each.round()
    assert one.done == other.done == 6
    for name, array in one.state().items():
        np.testing.assert_array_equal(array, other.state()[name], err_msg=name)
    with pytest.raises(FileError, match="does not fit this training run"):
        other.restore({})


def test_a_turn_is_searched_with_it(tmp_path: Path) -> None:
    net = HandSource(RIVER).net
    net.save(tmp_path / "net.safetensors", settings=RIVER.to_json(), card={"situations": 3})
    bets = BetPlan.same("100%,a", "a")
    turn = holdem("AsKd7c4h", "QQ+,AKs", "JJ+,AQs", pot=100, stack=200, bets=bets)
    found = search_spot(turn, tmp_path / "net.safetensors", iterations=4, judge=False, threads=1)
    assert sum(found.actions.values()) == pytest.approx(1)
    assert found.unlike == []
    network = hand_network(tmp_path / "net.safetensors", turn)
    assert network is not None
    assert network[1].every == 0  # each player's update has values for the other's current policy
    assert search_spot(
        replace(turn, bets=BetPlan.same("50%", "a")), tmp_path / "net.safetensors", iterations=1, judge=False
    ).unlike
    with pytest.raises(SpecError, match="at the start of the river; give a spot that begins on the preceding street"):
        search_spot(replace(turn, board=turn.board[:3]), tmp_path / "net.safetensors", iterations=1)


def test_a_small_deck(tmp_path: Path) -> None:
    """Situations have the deck's cards and values; a network file is refused for other decks."""
    royal = replace(RIVER, format="royal", situations=2, iterations=60, hands=0)
    source, deck = HandSource(royal), format_named("royal")
    found = draw(royal, np.random.default_rng(3))
    assert found.board.format == deck
    assert set(found.board.cards) <= set(deck.deck)
    assert found.reach.shape == (2, 190)
    spot = spot_of(found.board.cards, found.stack, royal, (found.reach[0], found.reach[1]))
    solution = solve_spot(spot, "dcfr", iterations=200, threads=1)
    value = float((found.weights[0] * found.worth[0]).sum())
    assert value == pytest.approx(solution.ev[0] / POT, abs=0.005)

    file = tmp_path / "net.safetensors"
    source.net.save(file, settings=royal.to_json(), card={})
    rows = np.zeros((1, INPUTS), np.float32)
    np.testing.assert_allclose(hand_function(file, deck)(rows), source.net.forward(rows), rtol=1e-5)
    with pytest.raises(SpecError, match="values hands of royal, not of holdem"):
        hand_function(file)
    with pytest.raises(SpecError, match="values hands of royal, not of holdem; search with --exact"):
        search_spot(holdem("AsKdTc4h", "QQ+,AKs", "JJ+,AQs", pot=100, stack=200, bets=spot.bets), file, iterations=1)
    turn = replace(spot, board=found.board.cards[:4], ranges=all_hands(deck))
    assert sum(search_spot(turn, file, iterations=2, judge=False, threads=1).actions.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": "rhode_island"}, "format=rhode_island has no two hole cards"),
        ({"format": "royal", "street": "turn", "labels": "network"}, "format=royal needs labels=solves"),
        ({"format": "royal", "street": "turn", "ranges": "play"}, "format=royal needs labels=solves"),
    ],
)
def test_what_small_decks_lack(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        HandSource(replace(RIVER, **changed))
