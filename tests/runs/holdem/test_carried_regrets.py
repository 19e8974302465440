"""Solving again with other ranges from a solution's regrets; and values of hands at the root."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.engine.holdem.form import STORE
from treeplex.errors import SpecError
from treeplex.games.poker.cards.cards import HAND_CLASSES
from treeplex.play.cli.holdem.main import holdem
from treeplex.runs.holdem.carried_regrets import START, carried_over
from treeplex.runs.holdem.solve import solve_spot

BOARD, FIELDS = "Td 9d 6h Qc", {"pot": 100, "stack": 200, "bets": "60%", "raises": "3x"}
SPOT = tp.holdem.spot(BOARD, "AA,TT,AQ,QJs,8s7s,JTs", "KK,QTs,JTs,KQ,A9s,98s", **FIELDS)


@pytest.fixture(scope="module")
def solved():
    return solve_spot(SPOT, iterations=150, threads=1)


def changed(factor):
    draw = np.random.default_rng(1)
    weights = [draw.uniform(factor, 1, 169)[HAND_CLASSES] for _ in (0, 1)]
    return replace(SPOT, ranges=(SPOT.ranges[0] * weights[0], SPOT.ranges[1] * weights[1]))


def iterations(spot, **options):
    return solve_spot(spot, target=0.5, threads=1, every=5, **options)


def test_other_weights_take_fewer_iterations(solved):
    spot = changed(0.7)
    cold, warm = iterations(spot), tp.solve(spot, target=0.5, threads=1, every=5, start=solved)
    assert warm.exploitability <= 0.5
    assert warm.iterations - START < cold.iterations / 2
    assert warm.ev == pytest.approx(cold.ev, abs=1)
    assert warm.spot is spot
    game, _ = carried_over(solved, spot)
    assert game.boards is solved.game.boards  # nothing was compiled


def test_other_hands(solved, tmp_path):
    spot = tp.holdem.spot(
        "Td 9d 6h Qc", "AA,TT,AQ,QJs,JTs,KJs", "KK,QTs,JTs,KQ,A9s", pot=100, stack=200, bets="60%", raises="3x"
    )
    cold, warm = iterations(spot), iterations(spot, start=solved, out=tmp_path / "warm.spot")
    assert warm.exploitability <= 0.5
    assert warm.iterations - START < cold.iterations
    again = tp.holdem.load_solution(tmp_path / "warm.spot")
    assert again.exploitability == warm.exploitability
    assert solve_spot(resume=again, iterations=warm.iterations + 5, threads=1).iterations == warm.iterations + 5


def test_numbers_stay_with_their_hands(solved):
    spot = tp.holdem.spot(BOARD, "AA,QJs,KJs", "KK,A9s,KQ", **FIELDS)
    game, arrays = carried_over(solved, spot)
    started = solve_spot(spot, iterations=1, threads=1)
    assert arrays["regrets"].shape == started.state["regrets"].shape
    old, new = solved.game, game
    for street in (0, 1):
        for place in (0, len(new.boards[street]) - 1):
            numbers = []
            for each, array in ((old, solved.state["regrets"]), (new, arrays["regrets"])):
                row, board = each.form.boards[each.first_boards[street] + place], each.boards[street][place]
                hands = [each.spot.format.names([hand])[0] for hand in board.hands[1]]
                count, first = len(hands), int(row[STORE + 1])
                actions = each.forests[street].actions[1]
                table = array[first : first + actions * count].reshape(actions, count)
                numbers.append(dict(zip(hands, table.T.tolist(), strict=True)))
            for hand, column in numbers[1].items():
                assert column == numbers[0].get(hand, [0.0] * len(column))
    assert not arrays["average"].any()


def test_what_cannot_be_started_from(solved, tmp_path):
    with pytest.raises(SpecError, match="more than the ranges"):
        solve_spot(replace(SPOT, pot=110), start=solved, threads=1)
    with pytest.raises(SpecError, match="count as done"):
        solve_spot(SPOT, iterations=10, start=solved, threads=1)
    with pytest.raises(SpecError, match="leave the algorithm out"):
        solve_spot(SPOT, "cfr+", start=solved, threads=1)
    small = tp.holdem.load_solution(solved.save(tmp_path / "small.spot", resumable=False))
    with pytest.raises(SpecError, match="resumable"):
        solve_spot(SPOT, start=small, threads=1)


def test_suits_that_are_alike_no_more():
    spot = tp.holdem.spot("Td Tc 6h 2h", "AA", "KK", pot=10, stack=10, bets="a", raises="none")
    solved = solve_spot(spot, iterations=2, threads=1)
    other = replace(spot, ranges=(tp.holdem.parse_range("AsAd,AsAh"), spot.ranges[1]))
    with pytest.raises(SpecError, match="tell other suits apart"):
        solve_spot(other, start=solved, threads=1)


def test_values_of_hands_at_the_root(solved):
    values = solved.root_values()
    for player in (0, 1):
        own = solved.spot.ranges[player]
        assert np.isnan(values[player][own == 0]).all()
        assert np.nansum(values[player] * own) / solved.game.compatible == pytest.approx(solved.ev[player], abs=1e-6)
        view = solved.at("")
        met = view.compatible_of(player) / view.weight_of(player)
        np.testing.assert_allclose(values[player][view.hands_of(player)], view.ev_of(player) * met, rtol=1e-9, atol=1e-9)
    best = solved.root_values(best=True)
    for player in (0, 1):
        total = np.nansum(best[player] * solved.spot.ranges[player]) / solved.game.compatible
        assert total == pytest.approx(solved.best[player], abs=1e-5)


def test_command(solved, tmp_path):
    old, new = tmp_path / "old.spot", tmp_path / "new.spot"
    solved.save(old)
    words = ["solve", "--from", str(old), "--ip", "KK,QTs,JTs:0.5,KQ,A9s:0.25,98s", "--target", "1%", "--threads", "1"]
    result = CliRunner().invoke(holdem, [*words, "--out", str(new)])
    assert result.exit_code == 0, result.output
    made = tp.holdem.load_solution(new)
    np.testing.assert_allclose(made.spot.ranges[0], solved.spot.ranges[0])
    assert made.spot.ranges[1].min() == 0
    wrong = CliRunner().invoke(holdem, [*words, "--pot", "50"])
    assert "--pot does not go with --from" in wrong.stderr
    both = CliRunner().invoke(holdem, [*words, "--resume", str(old)])
    assert "exclude each other" in both.stderr
