"""Solving again with other ranges or bet sizes from a solution's regrets; and values of hands at the root."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import HAND_CLASSES
from treeplex.holdem.engine.form import STORE
from treeplex.holdem.solve.carried_regrets import START, carried_over
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.run.cli.main import app

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


@pytest.mark.slow
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


def other_sizes(bets, raises):
    """The spot with other bet sizes."""
    oop, ip = SPOT.ranges
    return tp.holdem.spot(BOARD, oop, ip, **{**FIELDS, "bets": bets, "raises": raises})


def table_of(game, array, street, player):
    """A stored array at the first board of a street: [actions, hands]."""
    row, count = game.form.boards[game.first_boards[street]], len(game.boards[street][0].hands[player])
    actions = game.forests[street].actions[player]
    return array[int(row[STORE + player]) :][: actions * count].reshape(actions, count)


def test_actions_take_the_regrets_of_the_nearest_size(solved):
    spot = other_sizes("50%,75%,a", "3x")
    game, arrays = carried_over(solved, spot)
    old, new = (
        table_of(each, array, 0, 0) for each, array in ((solved.game, solved.state["regrets"]), (game, arrays["regrets"]))
    )
    first = game.betting.nodes[0]
    assert [str(action) for action in first.actions] == ["check", "bet 50", "bet 75", "allin 200"]
    assert [str(action) for action in solved.game.betting.nodes[0].actions] == ["check", "bet 60"]
    np.testing.assert_array_equal(new[:4], old[[0, 1, 1, 1]])
    assert old[1].any()
    assert not arrays["average"].any()


def test_the_same_sizes_in_a_new_tree_take_everything_over(solved):
    """Sizes of a street that is over change nothing, but the plan is another one."""
    spot = replace(SPOT, bets=SPOT.bets.override("flop", bets="33%"))
    game, arrays = carried_over(solved, spot)
    assert game is not solved.game
    np.testing.assert_array_equal(arrays["regrets"], solved.state["regrets"])


def test_coarser_sizes_give_a_better_start_than_none(solved):
    spot = other_sizes("33%,75%,150%", "60%,3x")
    for count in (5, 10, 20):
        cold = solve_spot(spot, iterations=count, target=0.0, threads=1)
        warm = solve_spot(spot, iterations=START + count, target=0.0, threads=1, start=solved)
        assert warm.exploitability < 0.75 * cold.exploitability
    assert warm.ev == pytest.approx(cold.ev, abs=3)


def test_other_sizes_and_other_hands_at_once():
    old = solve_spot(SPOT, "apcfr+", iterations=20, threads=1)  # keeps sums by infoset as well
    spot = tp.holdem.spot(BOARD, "AA,QJs,KJs", "KK,A9s,KQ", **{**FIELDS, "bets": "50%,a"})
    game, arrays = carried_over(old, spot)
    assert arrays["changes"].shape == (2, game.infosets)
    assert solve_spot(spot, iterations=START + 60, target=0.0, threads=1, start=old).exploitability < 1


@pytest.mark.slow
def test_short_numbers_are_not_moved():
    short = solve_spot(SPOT, iterations=2, threads=1, storage="int16")
    with pytest.raises(SpecError, match="storage int16 carries over only if hands and bet sizes stay the same"):
        solve_spot(other_sizes("50%", "a"), start=short, threads=1)
    assert solve_spot(changed(0.9), iterations=START + 1, start=short, threads=1).iterations == START + 1


def test_what_cannot_be_started_from(solved, tmp_path):
    with pytest.raises(SpecError, match="more than ranges and bet sizes"):
        solve_spot(replace(SPOT, pot=110), start=solved, threads=1)
    with pytest.raises(SpecError, match="begins at iteration 20; set iterations above 20"):
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
    with pytest.raises(SpecError, match="have different suit symmetries"):
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
    result = CliRunner().invoke(app, [*words, "--out", str(new)])
    assert result.exit_code == 0, result.output
    made = tp.holdem.load_solution(new)
    np.testing.assert_allclose(made.spot.ranges[0], solved.spot.ranges[0])
    assert made.spot.ranges[1].min() == 0
    sized = [*words, "--turn-bets", "33%,75%", "--raises", "a", "--out", str(new), "--force"]
    result = CliRunner().invoke(app, sized)
    assert result.exit_code == 0, result.output
    made = tp.holdem.load_solution(new)
    assert [[str(size) for size in own.bets] for own in made.spot.bets.streets[2]] == [["33%", "75%"]] * 2
    assert [[str(size) for size in own.bets] for own in made.spot.bets.streets[3]] == [["60%"]] * 2
    assert [[str(size) for size in own.raises] for own in made.spot.bets.streets[3]] == [["a"]] * 2
    assert (made.spot.pot, made.spot.chip) == (solved.spot.pot, solved.spot.chip)
    wrong = CliRunner().invoke(app, [*words, "--pot", "50"])
    assert "--pot cannot be combined with --from" in wrong.stderr
    both = CliRunner().invoke(app, [*words, "--resume", str(old)])
    assert "cannot be combined" in both.stderr
