"""Charts before the flop of solved spots: those that ship, and one read off the solution itself."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import treeplex as tp
from tests.poker_games import SPOTS
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, hand_to_string
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import read_spot_file
from treeplex.holdem.study.preflop_charts import (
    all_ins_in_words,
    chart_distance,
    check_all_ins,
    how_made,
    how_solved,
    read_solved,
    shipped_charts,
    solution_chart,
)
from treeplex.run.cli.main import app


@pytest.fixture(scope="module")
def solution() -> HoldemSolution:
    spot = read_spot_file("examples/spots/preflop.yaml").spot()
    return solve_spot(replace(spot, runouts=(0, 2, 1, 1)), iterations=4, target=0.0, threads=1, every=4)


def test_a_chart_is_the_mean_over_a_class(solution: HoldemSolution) -> None:
    chart, view = solution_chart(solution, "c,r3"), solution.at("c,r3")
    assert (chart.player, chart.title) == (1, "small blind, 20 bb, after c,r3")
    assert chart.kinds == ("fold", "call", "raise", "allin")
    hands = view.hands_of(1)
    for name in ("AKs", "72o", "55"):
        number = CLASSES.index(name)
        own = np.flatnonzero(HAND_CLASSES[hands] == number)
        np.testing.assert_allclose(chart.shares[:, number], view.strategy[:, own[0]], rtol=1e-6)  # suits are alike
        assert chart.reach[number] == pytest.approx(view.weight_of(1)[own[0]])
    assert sum(chart.often.values()) == pytest.approx(1)
    assert (solution_chart(solution).reach == 1).all()
    made, sizes = how_solved(solution).split("\n")
    assert made.startswith("solved on 2 flops, 2 turns, 2 rivers; dcfr, 4 iterations, ")
    assert sizes == "flops: bets 50%, raises all-in; turns: bets 75%, raises all-in; rivers: bets 75%, raises none"
    deep = read_solved("100bb")
    assert deep is not None
    assert "flops: bets 50%, raises 3x by the big blind and all-in by the small blind; turns" in how_solved(deep)


def test_evs_are_relative_to_a_fold_also_with_antes_and_some_hands_of_a_class() -> None:
    some = {"runouts": {"flop": 1, "turn": 1, "river": 1}, "flop_bets": "none", "turn_bets": "none", "river_bets": "none"}
    spot = tp.holdem.spot("", "AA,KK,22", "AA,AhKh", pot=1, stack=5, blinds="0.5,1", bets="a", raises="a", **some)
    solution = tp.solve(spot, iterations=20, threads=1)
    chart, view = solution_chart(solution), solution.at("")
    assert chart.ev is not None
    aces, suited, queens = (chart.classes.index(name) for name in ("AA", "AKs", "QQ"))
    np.testing.assert_allclose(chart.ev[0, [aces, suited]], 0.0, atol=1e-12)
    hand = [hand_to_string(number) for number in view.hands_of(1)].index("AhKh")
    assert chart.ev[2, suited] == pytest.approx(view.action_ev[2, hand] + 0.5 + 0.5)
    assert np.isnan(chart.ev[:, queens]).all()


def test_lines_and_spots_without_a_chart(solution: HoldemSolution) -> None:
    with pytest.raises(SpecError, match="no player acts preflop there"):
        solution_chart(solution, "c,x")
    river = solve_spot(SPOTS["three streets"], iterations=1, threads=1)
    with pytest.raises(SpecError, match="charts need a spot with blinds"):
        solution_chart(river)


def test_calls_of_all_ins_are_judged_over_all_boards(solution: HoldemSolution) -> None:
    checks = {check.line: check for check in check_all_ins(solution)}
    assert set(checks) == {"a", "r2,a", "r2,r6,a", "c,a", "c,r3,a", "c,r3,r6,a"}
    assert all(check.loss >= -1e-12 for check in checks.values())
    tables, first, answer = class_equities(), solution_chart(solution), solution_chart(solution, "a")
    jam, call, loss = first.shares[first.actions.index("allin 20")], answer.shares[1], 0.0
    for hand in range(169):  # calling 20 big blinds wins or loses 20, a fold loses 1
        won = sum(tables.pairs[hand, other] * jam[other] * (40 * tables.equity[hand, other] - 20 + 1) for other in range(169))
        loss += max(won, 0) - call[hand] * won
    assert checks["a"].loss == pytest.approx(loss / tables.pairs.sum())
    total = 1000 * sum(check.loss for check in checks.values())
    assert f"lose {total:.2f} mbb/hand" in all_ins_in_words(solution)
    assert all_ins_in_words(solution) in how_made(solution)


def test_calls_of_all_ins_are_judged_per_hand_of_the_ranges() -> None:
    """The big blind has 22 against aces and queens; a call wins or loses 5, a fold loses 1."""
    some = {"runouts": {"flop": 1, "turn": 1, "river": 1}, "flop_bets": "none", "turn_bets": "none", "river_bets": "none"}
    spot = tp.holdem.spot("", "22", "AA,QQ", pot=0, stack=5, blinds="0.5,1", bets="a", raises="a", **some)
    solution = tp.solve(spot, iterations=1, threads=1)
    check = next(check for check in check_all_ins(solution) if check.line == "a")
    tables, deuces, other = class_equities(), CLASSES.index("22"), [CLASSES.index(name) for name in ("AA", "QQ")]
    jam, call = solution_chart(solution).shares[-1, other], solution_chart(solution, "a").shares[1, deuces]
    won = float((jam * (10 * tables.equity[deuces, other] - 5 + 1)).mean())
    assert check.loss == pytest.approx(max(won, 0) - call * won)
    assert check.loss > 0.1


def test_distances(solution: HoldemSolution) -> None:
    first, answer = solution_chart(solution), solution_chart(solution, "r2")
    fold = replace(first, shares=np.eye(4)[:, [0] * 169])
    call = replace(first, shares=np.eye(4)[:, [1] * 169])
    assert (chart_distance(first, first), chart_distance(fold, call)) == (0, 1)
    with pytest.raises(SpecError, match="cannot compare"):
        chart_distance(first, answer)


@pytest.mark.slow_cases("20bb", "200bb")
@pytest.mark.parametrize("name", shipped_charts())
def test_shipped_charts_play_strong_hands(name: str) -> None:
    solution = read_solved(name)
    assert solution is not None
    assert solution.spot.stack == float(name.removesuffix("bb"))
    assert solution.exploitability < 0.02
    assert "CPU seconds; exploitability" in how_made(solution)
    chart = solution_chart(solution)
    folds = dict(zip(CLASSES, chart.shares[0], strict=True))
    assert max(folds[hand] for hand in ("AA", "KK", "QQ", "AKs", "AKo", "77", "A5s")) < 0.02
    assert folds["72o"] + folds["32o"] > 0.5
    assert read_solved("runs/deep") is None


def test_the_command_shows_a_file(solution: HoldemSolution, tmp_path: Path) -> None:
    file = solution.save(tmp_path / "quick", resumable=False, streets=1)
    run = CliRunner().invoke(app, ["holdem", "preflop", str(file), "--line", "r2", "--csv", str(tmp_path / "a.csv")])
    assert run.exit_code == 0, run.output
    assert "big blind, 20 bb, after r2: fold " in run.output
    assert "solved on 2 flops, 2 turns, 2 rivers; dcfr, 4 iterations" in run.output
    assert "all-in 20" in run.output
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert (rows[0], len(rows)) == ("hand,fold,call,raise 6,allin 20", 170)
    found = json.loads(CliRunner().invoke(app, ["holdem", "preflop", str(file), "--json"]).output)
    assert sum(found["often"].values()) == pytest.approx(1)
    assert found["hands"]["AA"]["fold"] == pytest.approx(solution_chart(solution).shares[0, CLASSES.index("AA")], abs=1e-3)
