"""Situations solved side by side on tensors have the values of situations solved one by one."""

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch")

from treeplex.errors import AlgorithmError, SpecError  # noqa: E402
from treeplex.holdem.search.leaves.hand_values import HandBoard  # noqa: E402
from treeplex.learn.hand_values.settings import HandValueSettings  # noqa: E402
from treeplex.learn.hand_values.situations import (  # noqa: E402
    HOLDEM,
    POT,
    random_hand_board,
    random_ranges,
    situation,
    solve_situation,
    spot_of,
)
from treeplex.learn.hand_values.source import HandSource  # noqa: E402
from treeplex.learn.torch.spots.batch import solve_batch  # noqa: E402

torch.set_num_threads(1)

STACK = 2.0


def compare(street: str, count: int, iterations: int, hands: int) -> NDArray[np.float64]:
    """Mean difference in pots, over hands weighted by range, between both ways to solve ``count`` situations."""
    settings = HandValueSettings(street=street, iterations=iterations, hands=hands)
    generator, drawn = np.random.default_rng(5), []
    for _ in range(count):
        board = random_hand_board(settings, generator)
        drawn.append((board, random_ranges(board, settings, generator)[1]))
    boards, reach = [board for board, _ in drawn], np.stack([ranges for _, ranges in drawn])
    spot = spot_of(boards[0].cards, STACK, settings, (reach[0, 0], reach[0, 1]))
    values = solve_batch(spot, boards, reach, iterations, torch.device("cpu")) / POT
    differences = []
    for board, ranges, found in zip(boards, reach, values, strict=True):
        one, side = solve_situation(board, STACK, ranges, settings), situation(board, STACK, ranges, found)
        assert not found[:, np.setdiff1d(np.arange(1326), board.held)].any()
        differences.append((one.weights * np.abs(one.worth - side.worth)).sum() / 2)
        assert (one.weights * np.abs(one.worth)).sum() / 2 > 0.1
    return np.array(differences)


def test_rivers_solved_side_by_side_have_the_same_values() -> None:
    assert (compare("river", 2, 30, hands=60) < 0.01).all()


@pytest.mark.slow
def test_turns_solved_side_by_side_have_the_same_values() -> None:
    assert (compare("turn", 2, 40, hands=60) < 0.01).all()


def test_flops_are_not_solved_side_by_side() -> None:
    settings = HandValueSettings(street="flop")
    board = HandBoard.of(HOLDEM, (0, 5, 10), every=200)
    reach = np.ones((1, 2, 1326)) / 1326
    with pytest.raises(AlgorithmError, match="turns or rivers"):
        solve_batch(spot_of(board.cards, 1.0, settings, (reach[0, 0], reach[0, 1])), [board], reach, 1, torch.device("cpu"))


@pytest.mark.parametrize("algorithm", ["fp", "vt-cfr+", "apcfr+"])
def test_batches_need_a_rule_of_regrets(algorithm: str) -> None:
    board = HandBoard.of(HOLDEM, (0, 5, 10, 15, 20))
    spot = spot_of(board.cards, 1.0, HandValueSettings(street="river"), (np.ones(1326), np.ones(1326)))
    with pytest.raises(AlgorithmError, match="does not run on a GPU"):
        solve_batch(spot, [board], np.ones((1, 2, 1326)), 1, torch.device("cpu"), algorithm)


def test_training_rows_of_a_batch_are_those_of_its_situations() -> None:
    settings = HandValueSettings(street="river", device="torch-cpu", together=2, iterations=4, sampled=8, hands=30, width=8)
    source = HandSource(settings)
    assert source.side == 2
    inputs, targets = source.rows(0, 2, np.random.default_rng(1))
    assert inputs.shape[0] == targets.shape[0] == 2 * source.together
    assert np.isfinite(inputs).all()
    assert np.unique(inputs[:, 0]).size == 2  # each with its own stack
    again = HandSource(settings).rows(0, 2, np.random.default_rng(1))
    assert np.array_equal(again[0], inputs)
    assert np.array_equal(again[1], targets)


@pytest.mark.parametrize("changed", [{"street": "flop"}, {"labels": "network"}])
def test_a_gpu_solves_turns_and_rivers_to_the_end(changed: dict[str, str]) -> None:
    with pytest.raises(SpecError, match="device=cpu"):
        HandSource(HandValueSettings(device="torch-cpu", **changed))
