"""Situations drawn for a device: rounds, self-play, batches of the same betting tree, worker processes, resuming."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from treeplex.errors import AlgorithmError, SpecError  # noqa: E402
from treeplex.holdem.cards.format import HOLDEM  # noqa: E402
from treeplex.learn.common.situations import SituationTrainer  # noqa: E402
from treeplex.learn.hand_values.drawing import TURNS, Drawing, Grouped, batches_of, drawn_part, parts_of  # noqa: E402
from treeplex.learn.hand_values.kind import SELF_PLAY  # noqa: E402
from treeplex.learn.hand_values.settings import HandValueSettings  # noqa: E402
from treeplex.learn.hand_values.situations import (  # noqa: E402
    POT,
    Drawn,
    drawn_at_random,
    drawn_in_play,
    iterations_at,
    situation,
    solve_situation,
    spot_of,
)
from treeplex.learn.hand_values.source import HandSource  # noqa: E402
from treeplex.learn.resolver.self_play import PlayedTurn, played_turns  # noqa: E402
from treeplex.learn.torch.spots.batch import betting_shape, solve_batch  # noqa: E402

torch.set_num_threads(1)

TURN = HandValueSettings(
    ranges="mixed",
    device="torch-cpu",
    iterations=2,
    together=4,
    situations=8,
    sampled=8,
    width=8,
    layers=1,
    burn_in=16,
    batch=16,
)
RIVER = replace(TURN, street="river", ranges="random", iterations=4, together=3, situations=9)


@pytest.fixture(scope="module")
def turns() -> list[PlayedTurn]:
    """Turns of self-play with few iterations of their flop."""
    return played_turns(4, np.random.default_rng(1), iterations=2)


@pytest.fixture
def quick_play(turns: list[PlayedTurn], monkeypatch: pytest.MonkeyPatch) -> None:
    """Self-play that reaches some of these turns, as drawn by the generator."""

    def some(count: int, generator: np.random.Generator) -> list[PlayedTurn]:
        return [turns[k] for k in generator.choice(len(turns), min(count, len(turns)), replace=False)]

    monkeypatch.setattr("treeplex.learn.resolver.self_play.played_turns", some)


def test_a_round_has_as_many_situations_as_asked_for_and_half_from_play() -> None:
    for ranges, share in (("random", 0), ("play", 41), ("mixed", 20)):
        parts = parts_of(replace(TURN, ranges=ranges), 7, 41)
        assert sum(part.size for part in parts) == 41
        assert sum(part.size for part in parts if part.play) == share
        assert max(part.size for part in parts) <= TURNS
        assert len({part.seed for part in parts}) == len(parts)
    assert not {part.seed for part in parts_of(TURN, 7, 41)} & {part.seed for part in parts_of(TURN, 48, 41)}


@pytest.mark.usefixtures("quick_play")
def test_turns_of_play_keep_their_board_stack_and_ranges(turns: list[PlayedTurn]) -> None:
    known = {turn.board: turn for turn in turns}
    drawn = [each.drawn for part in parts_of(TURN, 0, 24) if part.play for each in drawn_part(TURN, part)]
    assert len(drawn) == 12  # more than one flop has
    for board, stack, reach in drawn:
        turn = known[board.cards]
        blocked = np.isin(HOLDEM.hands, board.cards).any(axis=1)
        assert stack == turn.stack
        np.testing.assert_array_equal(reach, turn.reach)
        np.testing.assert_allclose(reach.sum(axis=1), 1.0)
        assert not reach[:, blocked].any()


def test_batches_have_one_betting_tree_and_number_of_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, generator = replace(TURN, least_stack=0.1, most_stack=50.0, iterations=40, hands=20), np.random.default_rng(4)
    situations = []
    for _ in range(30):
        drawn = drawn_at_random(settings, generator)
        spot = spot_of(drawn.board.cards, drawn.stack, settings, (drawn.reach[0], drawn.reach[1]))
        situations.append(Grouped(drawn, betting_shape(spot), iterations_at(drawn.stack, settings)))
    batches = batches_of(situations)
    assert sorted(each.stack for batch in batches for each in batch) == sorted(each.drawn.stack for each in situations)
    limits = np.array([1.0, 1.5, 4.0])  # a bet of the pot is all-in; fewer iterations; two bets of the pot are all-in
    for batch in batches:
        assert len({int(np.searchsorted(limits, each.stack)) for each in batch}) == 1
    assert len(batches) == len(limits) + 1
    monkeypatch.setattr("treeplex.learn.hand_values.drawing.MOST_BOARDS", 3 * 48)
    assert max(map(len, batches_of(situations))) == 3
    assert sum(map(len, batches_of(situations))) == 30


def apart(settings: HandValueSettings, batch: list[Drawn], iterations: int) -> list[float]:
    """Mean differences in pots, over hands weighted by range, from situations solved one by one by the compiled kernels."""
    spots = [spot_of(board.cards, stack, settings, (reach[0], reach[1])) for board, stack, reach in batch]
    reach, boards = np.stack([each.reach for each in batch]), [each.board for each in batch]
    values, differences = solve_batch(spots, boards, reach, iterations, torch.device("cpu")) / POT, []
    for drawn, found in zip(batch, values, strict=True):
        one, side = solve_situation(*drawn, settings), situation(*drawn, found)
        assert (one.weights * np.abs(one.worth)).sum() / 2 > 0.05
        differences.append(float((one.weights * np.abs(one.worth - side.worth)).sum() / 2))
    return differences


@pytest.mark.parametrize("changed", [{"hands": 60}, {"street": "turn", "format": "royal"}])
def test_situations_of_a_batch_have_their_own_stacks(changed: dict[str, Any]) -> None:
    settings, generator = replace(RIVER, iterations=20, least_stack=4.5, **changed), np.random.default_rng(3)
    batch = [drawn_at_random(settings, generator) for _ in range(3)]
    assert len({each.stack for each in batch}) == 3
    assert max(apart(settings, batch, iterations_at(batch[0].stack, settings))) < 0.01
    wrong = [batch[0], batch[1]._replace(stack=0.5)]
    with pytest.raises(AlgorithmError, match="same betting tree"):
        apart(settings, wrong, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_play")
def test_turns_of_play_in_a_batch_have_the_values_of_turns_solved_one_by_one() -> None:
    settings = replace(TURN, ranges="play", iterations=6)
    for batch in batches_of([each for part in parts_of(settings, 0, 3) for each in drawn_part(settings, part)]):
        assert max(apart(settings, batch, iterations_at(batch[0].stack, settings))) < 0.002


def check_resume(settings: HandValueSettings) -> None:
    """A run that is resumed after its first round ends with the same numbers."""
    one, other = (SituationTrainer(HandSource(settings)) for _ in range(2))
    one.round()
    other.restore(one.state())
    for each in (one, other):
        while each.done < each.total:
            each.round()
        assert len(each.fitting.rows) + len(each.held) == 2 * settings.sampled * settings.situations
    assert one.steps > 0
    for name, array in one.state().items():
        np.testing.assert_array_equal(array, other.state()[name], err_msg=name)


def test_a_run_on_a_device_resumes_bit_for_bit() -> None:
    check_resume(RIVER)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_play")
def test_a_run_with_play_resumes_bit_for_bit() -> None:
    check_resume(TURN)


def same(one: list[Grouped], other: list[Grouped]) -> bool:
    """Whether two rounds have the same situations."""
    pairs = [(left.drawn, right.drawn) for left, right in zip(one, other, strict=True)]
    return all(left.stack == right.stack and np.array_equal(left.reach, right.reach) for left, right in pairs)


def test_processes_draw_the_next_round_ahead() -> None:
    here, there = Drawing(RIVER), Drawing(replace(RIVER, workers=2))
    try:
        for first, following in ((0, 8), (8, 8), (16, 0)):
            assert same(there.round(first, 8, following), here.round(first, 8, following))
            ahead = there._ahead
            assert (ahead is None) == (following == 0)
            assert ahead is None or ahead[0] == (first + 8, 8)
        there.round(24, 8, 8)
        assert same(there.round(0, 2, 6), here.round(0, 2, 0))  # not what was drawn ahead
    finally:
        there.close()  # although a round is being drawn
    assert there._executor is not None
    assert not there._executor.crew._workers  # type: ignore[attr-defined]


@pytest.mark.slow
def test_processes_play_as_this_process_does() -> None:
    settings = replace(TURN, workers=2)
    there = Drawing(settings)
    try:
        found = there.round(0, 4, 0)
    finally:
        there.close()
    assert same(found, Drawing(TURN).round(0, 4, 0))
    played = drawn_in_play(TURN, 2, np.random.default_rng((TURN.seed, 0, 0)))
    assert [each.drawn.board.cards for each in found[:2]] == [each.board.cards for each in played]


@pytest.mark.usefixtures("quick_play")
def test_the_cpu_draws_half_from_play(turns: list[PlayedTurn]) -> None:
    source = HandSource(replace(TURN, device="cpu", hands=20))
    assert source.drawing is None
    assert source.side == 2 * TURNS
    found = source.situations(4, np.random.default_rng(0))
    assert [each.board.cards in {turn.board for turn in turns} for each in found] == [True, True, False, False]


@pytest.mark.parametrize("changed", [{"street": "river"}, {"labels": "network"}])
@pytest.mark.parametrize("ranges", ["play", "mixed"])
def test_only_whole_turns_are_played(ranges: str, changed: dict[str, str]) -> None:
    with pytest.raises(SpecError, match=f"ranges={ranges} has turns solved to the end"):
        HandSource(replace(TURN, device="cpu", ranges=ranges, **changed))


def test_the_preset_trains_on_turns() -> None:
    assert HandSource(replace(SELF_PLAY, device="torch-cpu")).side == SELF_PLAY.together
